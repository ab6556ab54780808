package backoff

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/fields"
)

// MarshalJSON writes the strategy as UnmarshalJSON reads it, with its members in a fixed order. It returns
// the error of Validate for an invalid strategy.
func (s BackoffStrategy) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return fields.JSON(&s, func(name string) bool { return name != "delay" || s.Kind != KindConstant })
}

// MarshalJSON writes the word none, or a mapping. The zero value is an empty one, which a strategy leaves out
// and UnmarshalJSON refuses.
func (j Jitter) MarshalJSON() ([]byte, error) {
	if j.Kind == NoJitter {
		return json.Marshal(NoJitter)
	}
	return fields.JSON(&j, func(string) bool { return true })
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
	f := fields.Collect()
	taken := fields.Reader{}.Read(data, &read, f)
	if own, known := kinds[read.Kind]; known {
		read.checkKeys(f, own, taken)
		f.Besides(func(f fields.Faults) {
			if slices.Contains(taken, "cap") && read.Cap == 0 {
				f.At("cap").Add("0 is not a cap; leave cap out for no cap, or write a duration above 0")
			}
			read.checkValues(f)
		})
	} else if f.Found() == 0 || taken != nil && !slices.Contains(taken, "kind") {
		f.Add("there is no kind; add kind: constant, linear, exponential or list")
	}
	if err := fields.Err[FieldError](f); err != nil {
		return err
	}
	*s = read
	return nil
}

// UnmarshalJSON reads the word none, or a mapping. It leaves j unchanged if it returns an error, which joins
// all faults, each a [*FieldError].
func (j *Jitter) UnmarshalJSON(data []byte) error {
	if string(data) == `"none"` {
		*j = Jitter{Kind: NoJitter}
		return nil
	}
	var read Jitter
	f := fields.Collect()
	if v := jsontext.Value(bytes.TrimSpace(data)); v.Kind() != '{' && v.Kind() != 0 {
		fields.Wrong(f, "none, or a mapping such as {kind: proportional, fraction: 0.2}", v)
		return fields.Err[FieldError](f)
	}
	taken := fields.Reader{}.Read(data, &read, f)
	if read.Kind == "" && f.Found() == 0 {
		f.Add("there is no kind; add kind: proportional, full or equal; or write jitter: none")
	}
	if read.Kind == Proportional && !slices.Contains(taken, "fraction") {
		f.At("fraction").Add("proportional jitter needs this key; add it: 0.2 is 20 percent up or down")
	}
	f.Besides(read.check)
	if err := fields.Err[FieldError](f); err != nil {
		return err
	}
	*j = read
	return nil
}

// checkKeys checks that the keys fit the kind.
func (s *BackoffStrategy) checkKeys(f fields.Faults, own kindFields, taken []string) {
	for _, need := range own.needs {
		if !slices.Contains(taken, need) {
			f.At(need).Add("%s backoff needs this key; add it", s.Kind)
		}
	}
	for _, name := range taken {
		if !own.has(name) {
			f.At(name).Add("%s backoff does not take this key; leave it out", s.Kind)
		}
	}
}
