package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/retake-go/retake/backoff"
)

// kinds has the keys that each kind of backoff needs, and those it may have; kind, cap and jitter may stand in all.
var kinds = []struct {
	kind         backoff.Kind
	needs, takes []string
}{
	{backoff.KindConstant, []string{"delay"}, nil},
	{backoff.KindLinear, nil, []string{"base", "step"}},
	{backoff.KindExponential, []string{"base", "factor"}, nil},
	{backoff.KindList, []string{"delays"}, nil},
}

var strategyKeys = []key[backoff.BackoffStrategy]{
	{"kind", func(r *reader, path string, n node, s *backoff.BackoffStrategy) {
		s.Kind = known(r, path, n, backoff.KindConstant, backoff.KindLinear, backoff.KindExponential, backoff.KindList)
	}},
	{"delay", func(r *reader, path string, n node, s *backoff.BackoffStrategy) { s.Delay, _ = r.duration(path, n) }},
	{"base", func(r *reader, path string, n node, s *backoff.BackoffStrategy) { s.Base, _ = r.duration(path, n) }},
	{"step", func(r *reader, path string, n node, s *backoff.BackoffStrategy) { s.Step, _ = r.duration(path, n) }},
	{"factor", func(r *reader, path string, n node, s *backoff.BackoffStrategy) {
		s.Factor = r.decimal(path, n, "1.5")
	}},
	{"delays", func(r *reader, path string, n node, s *backoff.BackoffStrategy) {
		s.Delays, _ = list(r, path, n, r.duration)
	}},
	{"cap", func(r *reader, path string, n node, s *backoff.BackoffStrategy) {
		var ok bool
		if s.Cap, ok = r.duration(path, n); ok && s.Cap == 0 {
			r.fault(n.at, path, "0 is no cap", "leave cap out for none, or write a duration")
		}
	}},
	{"jitter", func(r *reader, path string, n node, s *backoff.BackoffStrategy) { r.jitter(path, n, &s.Jitter) }},
}

var jitterKeys = []key[backoff.Jitter]{
	{"kind", func(r *reader, path string, n node, j *backoff.Jitter) {
		j.Kind = known(r, path, n, backoff.Proportional, backoff.Full, backoff.Equal, backoff.NoJitter)
	}},
	{"fraction", func(r *reader, path string, n node, j *backoff.Jitter) { j.Fraction = r.decimal(path, n, "0.2") }},
	{"after_cap", func(r *reader, path string, n node, j *backoff.Jitter) { j.AfterCap, _ = r.boolean(path, n) }},
}

// jitter reads how delays are spread: a mapping that says so, or the word none.
func (r *reader) jitter(path string, n node, j *backoff.Jitter) {
	if n.kind == text && n.text == string(backoff.NoJitter) {
		j.Kind = backoff.NoJitter
		return
	}
	before := r.found()
	fill(r, path, n, jitterKeys, j)
	if j.Kind == "" && r.found() == before {
		r.fault(n.at, path, "there is no kind", "add kind: proportional, full or equal; or write jitter: none")
	}
	fraction := join(path, "fraction")
	if _, written := r.places[fraction]; j.Kind == backoff.Proportional && !written {
		r.fault(n.at, fraction, "proportional jitter needs this key", "add it: 0.2 is 20 percent up or down")
	}
}

// strategy reads a backoff.
func (r *reader) strategy(path string, n node) (backoff.BackoffStrategy, bool) {
	before, s := r.found(), backoff.BackoffStrategy{}
	taken := fill(r, path, n, strategyKeys, &s)
	if s.Kind == "" {
		if r.found() == before {
			r.fault(n.at, path, "there is no kind", "add kind: constant, linear, exponential or list")
		}
		return s, false
	}
	for _, k := range kinds {
		if k.kind == s.Kind {
			r.fits(path, n, taken, s.Kind, k.needs, k.takes)
		}
	}
	r.values(path, s)
	return s, r.found() == before
}

// values reports what the strategy itself refuses, but for the fields that are at fault already.
func (r *reader) values(path string, s backoff.BackoffStrategy) {
	known := map[string]bool{}
	for _, f := range r.faults {
		known[f.Path] = true
	}
	for _, err := range leaves(s.Validate()) {
		var wrong *backoff.FieldError
		if !errors.As(err, &wrong) {
			continue
		}
		if full := join(path, wrong.Field); !known[shownPath(full)] && !known[shownPath(join(path, parent(wrong.Field)))] {
			message, hint, _ := strings.Cut(wrong.Problem, "; ")
			r.fault(r.nearest(full), full, message, hint)
		}
	}
}

// parent is the path around the last step of a path.
func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// fits reports keys that the kind of backoff needs and lacks, and those that it has no use for.
func (r *reader) fits(path string, n node, taken []member, kind backoff.Kind, needs, takes []string) {
	written := map[string]bool{}
	for _, m := range n.members {
		written[m.key] = true
	}
	for _, need := range needs {
		if !written[need] {
			r.fault(n.at, join(path, need), fmt.Sprintf("%s backoff needs this key", kind), "add it")
		}
	}
	for _, m := range taken {
		if !within(m.key, needs, takes, []string{"kind", "cap", "jitter"}) {
			r.fault(m.at, join(path, m.key), fmt.Sprintf("%s backoff has no use for this key", kind), "leave it out")
		}
	}
}
