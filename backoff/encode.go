package backoff

import (
	"encoding/json"
	"strconv"
	"time"
)

// The forms of a strategy and its jitter in JSON and YAML, in the order their members are written. Durations are Go
// duration strings; what is not set is left out.
type (
	strategyForm struct {
		Kind   Kind     `json:"kind"             yaml:"kind"`
		Delay  string   `json:"delay,omitempty"  yaml:"delay,omitempty"`
		Base   string   `json:"base,omitempty"   yaml:"base,omitempty"`
		Step   string   `json:"step,omitempty"   yaml:"step,omitempty"`
		Factor Decimal  `json:"factor,omitempty" yaml:"factor,omitempty"`
		Delays []string `json:"delays,omitempty" yaml:"delays,omitempty"`
		Cap    string   `json:"cap,omitempty"    yaml:"cap,omitempty"`
		Jitter any      `json:"jitter,omitempty" yaml:"jitter,omitempty"` // a jitterForm, or the word none
	}
	jitterForm struct {
		Kind     JitterKind `json:"kind"                yaml:"kind"`
		Fraction Decimal    `json:"fraction,omitempty"  yaml:"fraction,omitempty"`
		AfterCap bool       `json:"after_cap,omitempty" yaml:"after_cap,omitempty"`
	}
)

// form refuses a strategy that could not be read back.
func (s *BackoffStrategy) form() (strategyForm, error) {
	if err := s.Validate(); err != nil {
		return strategyForm{}, err
	}
	f := strategyForm{
		Kind: s.Kind, Delay: durationForm(s.Delay), Base: durationForm(s.Base), Step: durationForm(s.Step),
		Factor: s.Factor, Cap: durationForm(s.Cap),
	}
	if s.Kind == KindConstant {
		f.Delay = s.Delay.String() // said also where it is 0
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
	return f, nil
}

func durationForm(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// MarshalJSON writes the strategy as UnmarshalJSON reads it, its members always in the same order. It returns the faults
// of a strategy that Validate refuses.
func (s BackoffStrategy) MarshalJSON() ([]byte, error) {
	f, err := s.form()
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// MarshalYAML gives YAML libraries the same form as MarshalJSON writes. It returns the faults of a strategy that Validate
// refuses.
func (s BackoffStrategy) MarshalYAML() (any, error) {
	f, err := s.form()
	if err != nil {
		return nil, err
	}
	return f, nil
}

// MarshalYAML gives YAML libraries the number: an integer where it is whole; else a float where that says exactly the same
// in writing, which it does up to 15 digits; else a string. It refuses a negative one.
func (d Decimal) MarshalYAML() (any, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if d%One == 0 {
		return int64(d / One), nil
	}
	if f, err := strconv.ParseFloat(string(text), 64); err == nil && floatText(f) == string(text) {
		return f, nil
	}
	return string(text), nil
}

// floatText is the shortest text that stands for f: what was written, up to 15 digits.
func floatText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
