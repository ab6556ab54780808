package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// measured has the output of benchmarks: for each name ("Delay/floor") and unit the values of all rounds.
type measured struct {
	values map[string]map[string][]float64
	// about has the lines "key: value": the machine, and our own heading.
	about map[string]string
}

// parse reads the output of go test -bench.
func parse(in io.Reader) (measured, error) {
	m := measured{values: map[string]map[string][]float64{}, about: map[string]string{}}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := lines.Text()
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.Contains(key, " ") {
			m.about[key] = value
		}
		if !strings.HasPrefix(line, "Benchmark") {
			continue
		}
		if err := m.add(strings.Fields(line)); err != nil {
			return m, fmt.Errorf("%q: %w", line, err)
		}
	}
	return m, lines.Err()
}

// add takes the fields of a line: the name, the number of runs, and pairs of a value and its unit.
func (m measured) add(fields []string) error {
	if len(fields) < 4 || len(fields)%2 != 0 {
		return fmt.Errorf("it is no line of a benchmark: it has %d fields", len(fields))
	}
	name := strings.TrimPrefix(fields[0], "Benchmark")
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i]
	}
	if m.values[name] == nil {
		m.values[name] = map[string][]float64{}
	}
	for i := 2; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return err
		}
		m.values[name][fields[i+1]] = append(m.values[name][fields[i+1]], v)
	}
	return nil
}

// median returns the median of all rounds; false if the benchmark did not run or lacks the unit.
func (m measured) median(name, unit string) (float64, bool) {
	all := slices.Sorted(slices.Values(m.values[name][unit]))
	n := len(all)
	if n == 0 {
		return 0, false
	}
	return (all[(n-1)/2] + all[n/2]) / 2, true
}

// rounds returns the number of runs of the benchmark that ran least often.
func (m measured) rounds() int {
	least := 0
	for _, units := range m.values {
		if n := len(units["ns/op"]); least == 0 || n < least {
			least = n
		}
	}
	return least
}
