package backoff

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/fields"
)

var _ = fields.Register[BackoffStrategy](fields.Table{
	Rows: []fields.Row{
		{Name: "kind", Type: fields.Word(KindConstant, KindLinear, KindExponential, KindList)},
		{Name: "delay", Type: fields.Duration},
		{Name: "base", Type: fields.Duration},
		{Name: "step", Type: fields.Duration},
		{Name: "factor", Type: fields.Exact(ParseDecimal, "1.5")},
		{Name: "delays", Type: fields.ListOf(fields.Duration)},
		{Name: "cap", Type: fields.Type[time.Duration]{Read: readCap}},
		{Name: "jitter", Type: fields.Type[Jitter]{Read: readJitter}},
	},
	Then: readStrategy,
})

var _ = fields.Register[Jitter](fields.Table{Rows: []fields.Row{
	{Name: "kind", Type: fields.Word(Proportional, Full, Equal, NoJitter)},
	{Name: "fraction", Type: fields.Exact(ParseDecimal, "0.2")},
	{Name: "after_cap", Type: fields.Toggle},
}})

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

// form is the JSON of a strategy, in the order of its members. Unset members are left out.
type form struct {
	Kind   Kind     `json:"kind"`
	Delay  string   `json:"delay,omitempty"`
	Base   string   `json:"base,omitempty"`
	Step   string   `json:"step,omitempty"`
	Factor Decimal  `json:"factor,omitempty"`
	Delays []string `json:"delays,omitempty"`
	Cap    string   `json:"cap,omitempty"`
	Jitter any      `json:"jitter,omitempty"` // a jitterForm, or the word none
}

type jitterForm struct {
	Kind     JitterKind `json:"kind"`
	Fraction Decimal    `json:"fraction,omitempty"`
	AfterCap bool       `json:"after_cap,omitempty"`
}

// MarshalJSON writes the strategy as UnmarshalJSON reads it, with its members in a fixed order. It returns
// the error of Validate for an invalid strategy.
func (s BackoffStrategy) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	text := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	f := form{Kind: s.Kind, Delay: text(s.Delay), Base: text(s.Base), Step: text(s.Step), Factor: s.Factor,
		Cap: text(s.Cap)}
	if s.Kind == KindConstant {
		f.Delay = s.Delay.String() // written even if it is 0
	}
	for _, d := range s.Delays {
		f.Delays = append(f.Delays, d.String())
	}
	switch s.Jitter.Kind {
	case "":
	case NoJitter:
		f.Jitter = NoJitter
	default:
		f.Jitter = jitterForm(s.Jitter)
	}
	return json.Marshal(f)
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
