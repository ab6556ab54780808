package backoff

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/fields"
)

var _ = fields.Register[BackoffStrategy](fields.Types{
	"kind":     fields.Word(KindConstant, KindLinear, KindExponential, KindList),
	"duration": fields.Duration,
	"factor":   fields.Exact(ParseDecimal, "1.5"),
	"delays":   fields.ListOf(fields.Duration),
	"cap":      fields.Type[time.Duration]{Read: readCap, Write: fields.Duration.Write},
	"jitter":   fields.Type[Jitter]{Read: readJitter, Write: writeJitter},
}, fields.Table{
	Then: readStrategy,
	Omit: func(v any, name string) bool {
		return name != "delay" || v.(*BackoffStrategy).Kind != KindConstant // which may be 0
	},
})

var _ = fields.Register[Jitter](fields.Types{
	"kind":     fields.Word(Proportional, Full, Equal, NoJitter),
	"fraction": fields.Exact(ParseDecimal, "0.2"),
	"toggle":   fields.Toggle,
}, fields.Table{Omit: func(any, string) bool { return true }})

func readCap(r *fields.Reader, path string, n fields.Node, into *time.Duration) bool {
	ok := fields.Duration.Read(r, path, n, into)
	if ok && *into == 0 {
		r.Fault(n.At, path, "0 is not a cap", "leave cap out for no cap, or write a duration above 0")
	}
	return ok && *into > 0
}

// readJitter reads a mapping, or the word none.
func readJitter(r *fields.Reader, path string, n fields.Node, into *Jitter) bool {
	if n.Kind == fields.Text && n.Text == string(NoJitter) {
		into.Kind = NoJitter
		return true
	}
	ok, fraction := fields.For[Jitter]().Read(r, path, n, into), fields.Join(path, "fraction")
	if into.Kind == "" && ok {
		r.Fault(n.At, path, "there is no kind",
			"add kind: proportional, full or equal; or write jitter: none")
	}
	if into.Kind == Proportional && !r.Wrote(fraction) {
		r.Fault(n.At, fraction, "proportional jitter needs this key", "add it: 0.2 is 20 percent up or down")
	}
	return ok && into.Kind != ""
}

// readStrategy checks that the keys fit the kind, and then the values.
func readStrategy(r *fields.Reader, path string, n fields.Node, taken []fields.Member, v any) bool {
	before, s := r.Found(), v.(*BackoffStrategy)
	if s.Kind == "" {
		if !r.Wrote(fields.Join(path, "kind")) {
			r.Fault(n.At, path, "there is no kind", "add kind: constant, linear, exponential or list")
		}
		return false
	}
	own := kinds[s.Kind]
	for _, need := range own.needs {
		if full := fields.Join(path, need); !r.Wrote(full) {
			r.Fault(n.At, full, fmt.Sprintf("%s backoff needs this key", s.Kind), "add it")
		}
	}
	for _, m := range taken {
		if !slices.Contains(own.takes, m.Key) && !slices.Contains([]string{"kind", "cap", "jitter"}, m.Key) {
			r.Fault(m.At, fields.Join(path, m.Key), fmt.Sprintf("%s backoff does not take this key", s.Kind),
				"leave it out")
		}
	}
	f := fields.Collect()
	s.checkValues(f)
	r.Take(path, f)
	return r.Found() == before
}

// MarshalJSON writes the strategy as UnmarshalJSON reads it, with its members in a fixed order. It returns
// the error of Validate for an invalid strategy.
func (s BackoffStrategy) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return fields.For[BackoffStrategy]().JSON(&s)
}

// writeJitter writes the word none, or a mapping.
func writeJitter(j Jitter) any {
	if j.Kind == NoJitter {
		return NoJitter
	}
	data, err := fields.For[Jitter]().JSON(&j)
	if err != nil {
		return err
	}
	return json.RawMessage(data)
}

// UnmarshalJSON reads a strategy such as
//
//	{"kind":"exponential","base":"500ms","factor":2,"cap":"30s","jitter":{"kind":"proportional","fraction":0.2}}
//
// Durations are Go duration strings; decimals are numbers or strings. A constant strategy needs a delay.
// Unknown and duplicate members, members of another kind, null, and values that Validate refuses are errors.
// The error joins all faults, each a [*FieldError], and leaves s unchanged.
func (s *BackoffStrategy) UnmarshalJSON(data []byte) error {
	var read BackoffStrategy
	if err := fields.Err[FieldError](fields.ReadJSON(data, &read)); err != nil {
		return err
	}
	*s = read
	return nil
}
