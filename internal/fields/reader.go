package fields

import (
	"fmt"
	"math"
	"strings"
)

// Reader is one reading of one file, or of one JSON value. The zero value is ready.
type Reader struct {
	// File names what is read, for who notes where a value was written; it is empty for a JSON value.
	File string
	// Faults are what was found to be wrong, at most 100; More counts those beyond.
	Faults []*Fault
	More   int
	places map[string]Place
}

// maxFaults bounds how many faults are told of one value.
const maxFaults = 100

// Fault notes one fault.
func (r *Reader) Fault(at Place, path, message, hint string) {
	if len(r.Faults) >= maxFaults {
		r.More++
		return
	}
	r.Faults = append(r.Faults, &Fault{Shown(path), at, message, hint})
}

// Found is how many faults were found so far.
func (r *Reader) Found() int { return len(r.Faults) + r.More }

// Take notes what is wrong with values that could be read, unless a fault of theirs, or of what is around
// them, is known at that place already.
func (r *Reader) Take(path string, wrong Faults) {
	type fault struct {
		path string
		at   Place
	}
	known := map[fault]bool{}
	for _, f := range r.Faults {
		known[fault{f.Path, f.At}] = true
	}
	for _, e := range *wrong.all {
		full := within(path, e.Path)
		at := r.nearest(full)
		if known[fault{Shown(full), at}] || known[fault{Shown(around(full)), at}] {
			continue
		}
		message, hint, _ := strings.Cut(e.Problem, "; ")
		r.Fault(at, full, message, hint)
	}
}

// around is the path around the last step of a path.
func around(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// nearest is where the value of the path stands, or the closest one around it that was written.
func (r *Reader) nearest(path string) Place {
	for ; path != ""; path = around(path) {
		if at, ok := r.places[path]; ok {
			return at
		}
	}
	return Place{1, 1}
}

// Wrote reports whether there is a value of the path.
func (r *Reader) Wrote(path string) bool {
	_, ok := r.places[path]
	return ok
}

func (r *Reader) stands(path string, at Place) {
	if r.places == nil {
		r.places = map[string]Place{}
	}
	r.places[path] = at
}

// Mapping calls take with the path and the member for each member of a mapping that has a value. What is no
// mapping, a key that stands there twice and one without a value are faults.
func (r *Reader) Mapping(path string, n Node, take func(path string, m Member)) {
	if n.Kind != Mapping {
		r.Fault(n.At, path, "expected a mapping of keys to values, got "+string(n.Kind), "")
		return
	}
	first := map[string]int{}
	for _, m := range n.Members {
		full := Join(path, m.Key)
		if line, twice := first[m.Key]; twice {
			r.Fault(m.At, full, "this key appears twice",
				fmt.Sprintf("the first is at line %d; leave one out", line))
			continue
		}
		first[m.Key] = m.At.Line
		if r.stands(full, m.Value.At); m.Value.Kind == Null {
			r.Fault(m.Value.At, full, "there is no value", "write one, or leave the key out")
			continue
		}
		take(full, m)
	}
}

// Expected notes a value of the wrong kind.
func (r *Reader) Expected(path string, n Node, what string) {
	got := string(n.Kind)
	switch n.Kind {
	case Text, Number, Switch:
		got += " " + Quoted(n.Text)
	}
	r.Fault(n.At, path, fmt.Sprintf("expected %s, got %s", what, got), "")
}

// ReadJSON reads a JSON object into a struct that has a table, and returns what is wrong with it. If anything
// is, into is half read.
func ReadJSON[T any](data []byte, into *T) Faults {
	f := Collect()
	n, fault := ParseJSON(data, math.MaxInt)
	if fault != nil {
		f.Add("no valid JSON; %s", fault.Hint)
		return f
	}
	r := &Reader{}
	For[T]().Read(r, "", n, into)
	for _, found := range r.Faults {
		*f.all = append(*f.all, Error{found.Path, found.Problem()})
	}
	if r.More > 0 {
		f.Add("there is more that is wrong: mend this first")
	}
	return f
}
