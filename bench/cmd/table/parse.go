package main

import (
	"io"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
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
	lines := benchfmt.NewReader(in, "results")
	for lines.Scan() {
		switch rec := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return m, rec
		case *benchfmt.Result:
			m.add(rec)
		}
	}
	return m, lines.Err()
}

func (m measured) add(r *benchfmt.Result) {
	for _, c := range r.Config {
		m.about[c.Key] = string(c.Value)
	}
	base, parts := r.Name.Parts()
	name := string(base)
	for _, part := range parts {
		if part[0] == '/' { // and not the number of processors
			name += string(part)
		}
	}
	if m.values[name] == nil {
		m.values[name] = map[string][]float64{}
	}
	for _, v := range r.Values {
		if v.OrigUnit != "" { // as it was printed: ns, not seconds
			v.Unit, v.Value = v.OrigUnit, v.OrigValue
		}
		m.values[name][v.Unit] = append(m.values[name][v.Unit], v.Value)
	}
}

// median returns the median of all rounds; false if the benchmark did not run or lacks the unit.
func (m measured) median(name, unit string) (float64, bool) {
	all := m.values[name][unit]
	if len(all) == 0 {
		return 0, false
	}
	sample := benchmath.NewSample(append([]float64{}, all...), &benchmath.DefaultThresholds)
	return benchmath.AssumeNothing.Summary(sample, 0.95).Center, true
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
