package backoff

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/internal/fields"
)

// The limits of a strategy.
const (
	maxFactor = 1_000_000 * One
	maxDelays = 1_000
)

// FieldError is one fault of one field, of a strategy or of a policy. It is comparable.
type FieldError struct {
	// Path names the field as files do: "factor", "delays[2]", "tools.book_flight.backoff.factor". It is
	// empty for the whole value.
	Path string
	// Problem says what is wrong and what would be right.
	Problem string
}

// Error returns "path: problem", or the problem if the path is empty.
func (e *FieldError) Error() string { return fields.Error(*e).String() }

// kindFields are the fields of its own that a kind of backoff takes, and those that a file must have.
type kindFields struct{ takes, needs []string }

// has reports whether the kind takes a field; all kinds take some.
func (k kindFields) has(name string) bool {
	return slices.Contains(k.takes, name) || slices.Contains([]string{"kind", "cap", "jitter"}, name)
}

var kinds = map[Kind]kindFields{
	KindConstant:    {[]string{"delay"}, []string{"delay"}},
	KindLinear:      {[]string{"base", "step"}, nil},
	KindExponential: {[]string{"base", "factor"}, []string{"base", "factor"}},
	KindList:        {[]string{"delays"}, []string{"delays"}},
}

// Validate reports every fault of the strategy, each as a [*FieldError], joined. It returns nil if there is
// none. It refuses fields of another kind, negative durations, a linear strategy that never waits, an
// exponential one without a base, factors outside 1 to 1,000,000, an empty list, and jitter settings that do
// not fit together.
func (s BackoffStrategy) Validate() error {
	f := fields.Collect()
	s.check(f)
	return fields.Err[FieldError](f)
}

func (s *BackoffStrategy) check(f fields.Faults) {
	if s.Kind == "" {
		f.At("kind").Add("want constant, linear, exponential or list")
	}
	fields.Checks{}.Check(s, f)
	own, known := kinds[s.Kind]
	for n, field := range fields.Fields(s) {
		if known && !fields.IsZero(s, n) && !own.has(field.Name) {
			f.At(field.Name).Add("not a field of %s backoff, which takes %s", s.Kind, strings.Join(own.takes, " and "))
		}
	}
	s.checkValues(f)
}

// checkValues checks what the kinds of backoff and jitter ask of their fields.
func (s *BackoffStrategy) checkValues(f fields.Faults) {
	switch s.Kind {
	case KindLinear:
		if s.Base == 0 && s.Step == 0 {
			f.At("base").Add("want base or step above 0; for no delay use constant")
		}
	case KindExponential:
		if s.Base == 0 {
			f.At("base").Add("want a duration above 0, got 0s")
		}
		if s.Factor < One || s.Factor > maxFactor {
			f.At("factor").Add("want 1 to %s, got %s", maxFactor, s.Factor)
		}
	case KindList:
		if len(s.Delays) == 0 || len(s.Delays) > maxDelays {
			f.At("delays").Add("want 1 to %d durations, got %d", maxDelays, len(s.Delays))
		}
	}
	if s.Jitter != (Jitter{}) {
		s.Jitter.check(f.At("jitter"))
	}
	if s.Jitter.Kind == Proportional && s.Jitter.AfterCap && s.Cap == 0 {
		f.At("jitter").At("after_cap").Add("only with a cap: set cap, or leave it out")
	}
}

func (j Jitter) check(f fields.Faults) {
	switch j.Kind {
	case Proportional:
		if j.Fraction <= 0 || j.Fraction > One {
			f.At("fraction").Add("want above 0, at most 1, got %s", j.Fraction)
		}
	case "":
		f.At("kind").Add("want proportional, full, equal or none")
	case Full, Equal, NoJitter:
		if j.Fraction != 0 {
			f.At("fraction").Add("only for proportional jitter, not for %s", j.Kind)
		}
		if j.AfterCap {
			f.At("after_cap").Add("only for proportional jitter, not for %s", j.Kind)
		}
	}
}
