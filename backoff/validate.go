package backoff

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The bounds of a strategy.
const (
	maxFactor = 1_000_000 * One
	maxDelays = 1_000
)

// FieldError is one fault of a strategy. Validate and the decoders return all of them, joined by errors.Join in the order
// they were found.
type FieldError struct {
	// Field is the path of the field as files spell it: "factor", "jitter.fraction", "delays[2]". Empty means the whole
	// strategy.
	Field string
	// Problem says what is wrong with it and what would be right.
	Problem string
}

// Error is the field and its problem on one line.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Problem
	}
	return e.Field + ": " + e.Problem
}

// faults collects what is wrong with a strategy.
type faults []*FieldError

//go:noinline // no fault is in a hurry, and there are many places that add one
func (f *faults) add(field, problem string, args ...any) {
	*f = append(*f, &FieldError{field, fmt.Sprintf(problem, args...)})
}

// cover reports whether the field, or the one it is part of, is already known to be wrong.
func (f faults) cover(field string) bool {
	return slices.ContainsFunc(f, func(e *FieldError) bool {
		return e.Field == field || strings.HasPrefix(field, e.Field+".")
	})
}

func (f faults) err() error {
	all := make([]error, len(f))
	for i, e := range f {
		all[i] = e
	}
	return errors.Join(all...)
}

// Validate returns nil for a strategy that can be used, else all its faults, each a *FieldError, joined. It refuses fields
// of another kind, negative durations, a linear strategy that never waits, an exponential one without a base, factors
// outside 1 to 1,000,000, an empty list, and jitter whose parts do not fit together.
func (s BackoffStrategy) Validate() error {
	if s.good() {
		return nil
	}
	return s.check(s.present()).err()
}

// good reports whether check surely finds nothing wrong: it is quick, and a test holds it to what check finds.
func (s *BackoffStrategy) good() bool {
	fixed, grown, listed := s.Delay == 0, s.Base == 0 && s.Step == 0 && s.Factor == 0, len(s.Delays) == 0
	switch s.Kind {
	case KindConstant:
		return s.Delay >= 0 && grown && listed && s.Cap >= 0 && s.Jitter.good(s.Cap)
	case KindLinear:
		return s.Base >= 0 && s.Step >= 0 && s.Base|s.Step > 0 && s.Factor == 0 && fixed && listed && s.Cap >= 0 && s.Jitter.good(s.Cap)
	case KindExponential:
		return s.Base > 0 && s.Step == 0 && s.Factor >= One && s.Factor <= maxFactor && fixed && listed && s.Cap >= 0 && s.Jitter.good(s.Cap)
	}
	return false
}

func (j *Jitter) good(limit time.Duration) bool {
	switch j.Kind {
	case "", NoJitter, Full, Equal:
		return j.Fraction == 0 && !j.AfterCap
	case Proportional:
		return j.Fraction > 0 && j.Fraction <= One && (!j.AfterCap || limit > 0)
	}
	return false
}

// present lists the fields that are set, as a file would spell them.
func (s *BackoffStrategy) present() []string {
	var set []string
	for _, field := range []struct {
		name string
		set  bool
	}{
		{"delay", s.Delay != 0},
		{"base", s.Base != 0},
		{"step", s.Step != 0},
		{"factor", s.Factor != 0},
		{"delays", len(s.Delays) != 0},
		{"cap", s.Cap != 0},
		{"jitter", s.Jitter != Jitter{}},
		{"jitter.fraction", s.Jitter.Fraction != 0},
		{"jitter.after_cap", s.Jitter.AfterCap},
	} {
		if field.set {
			set = append(set, field.name)
		}
	}
	return set
}

// fields are the fields of each kind's own; nil for an unknown kind.
func (k Kind) fields() []string {
	switch k {
	case KindConstant:
		return []string{"delay"}
	case KindLinear:
		return []string{"base", "step"}
	case KindExponential:
		return []string{"base", "factor"}
	case KindList:
		return []string{"delays"}
	}
	return nil
}

func (s *BackoffStrategy) check(present []string) faults {
	var f faults
	own := s.Kind.fields()
	if own == nil {
		f.add("kind", "want constant, linear, exponential or list, got %s", quoted(string(s.Kind)))
	}
	for _, field := range []string{"delay", "base", "step", "factor", "delays"} {
		if own != nil && slices.Contains(present, field) && !slices.Contains(own, field) {
			f.add(field, "not a field of %s backoff, which takes %s", s.Kind, strings.Join(own, " and "))
		}
	}
	s.checkKind(&f)
	if slices.Contains(present, "cap") && s.Cap <= 0 {
		f.add("cap", "want a duration above 0, got %s; for no cap leave it out", s.Cap)
	}
	if slices.Contains(present, "jitter") {
		s.checkJitter(present, &f)
	}
	return f
}

// checkKind checks the values of the kind's own fields.
func (s *BackoffStrategy) checkKind(f *faults) {
	switch s.Kind {
	case KindConstant:
		if s.Delay < 0 {
			f.add("delay", "want a duration of 0 or more, got %s", s.Delay)
		}
	case KindLinear:
		if s.Base < 0 {
			f.add("base", "want a duration of 0 or more, got %s", s.Base)
		}
		if s.Step < 0 {
			f.add("step", "want a duration of 0 or more, got %s", s.Step)
		}
		if s.Base == 0 && s.Step == 0 {
			f.add("base", "want base or step above 0; for no delay use constant")
		}
	case KindExponential:
		if s.Base <= 0 {
			f.add("base", "want a duration above 0, got %s", s.Base)
		}
		if s.Factor < One || s.Factor > maxFactor {
			f.add("factor", "want 1 to %s, got %s", maxFactor, s.Factor)
		}
	case KindList:
		s.checkDelays(f)
	}
}

func (s *BackoffStrategy) checkDelays(f *faults) {
	if len(s.Delays) == 0 || len(s.Delays) > maxDelays {
		f.add("delays", "want 1 to %d durations, got %d", maxDelays, len(s.Delays))
		return
	}
	for i, d := range s.Delays {
		if d < 0 {
			f.add(delayPath(i), "want a duration of 0 or more, got %s", d)
		}
	}
}

func delayPath(i int) string { return "delays[" + strconv.Itoa(i) + "]" }

func (s *BackoffStrategy) checkJitter(present []string, f *faults) {
	j := s.Jitter
	switch j.Kind {
	case Proportional:
		if j.Fraction <= 0 || j.Fraction > One {
			f.add("jitter.fraction", "want above 0, at most 1, got %s", j.Fraction)
		}
		if j.AfterCap && !slices.Contains(present, "cap") {
			f.add("jitter.after_cap", "only with a cap: set cap, or leave it out")
		}
	case Full, Equal, NoJitter:
		for _, field := range []string{"jitter.fraction", "jitter.after_cap"} {
			if slices.Contains(present, field) {
				f.add(field, "only for proportional jitter, not for %s", j.Kind)
			}
		}
	default:
		f.add("jitter.kind", "want proportional, full, equal or none, got %s", quoted(string(j.Kind)))
	}
}
