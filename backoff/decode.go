package backoff

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/object"
)

// The bounds of what is read.
const (
	maxBytes    = 64 << 10
	maxDuration = 64 // bytes of a duration as written
)

// UnmarshalJSON reads a strategy such as
//
//	{"kind":"exponential","base":"500ms","factor":2,"cap":"30s","jitter":{"kind":"proportional","fraction":0.2}}
//
// Durations are Go duration strings, decimals are numbers or strings, and a constant strategy must say its delay. It is
// strict: unknown and duplicate members, members of another kind, null, and whatever Validate refuses are refused, all
// faults joined, each a *FieldError; s is then left as it was. It reads at most 64 KiB.
func (s *BackoffStrategy) UnmarshalJSON(data []byte) error {
	members, problem := readObject(data)
	if problem != "" {
		return faults{{"", problem}}.err()
	}
	var d decoder
	for _, m := range members {
		d.field(m)
	}
	d.finish()
	if err := d.faults.err(); err != nil {
		return err
	}
	*s = d.s
	return nil
}

// decoder gathers a strategy, the fields it was given and the faults found.
type decoder struct {
	s       BackoffStrategy
	present []string
	faults  faults
}

func (d *decoder) field(m object.Member) {
	d.present = append(d.present, m.Name)
	switch m.Name {
	case "kind":
		d.s.Kind = Kind(d.text(m))
	case "delay":
		d.s.Delay = d.duration(m)
	case "base":
		d.s.Base = d.duration(m)
	case "step":
		d.s.Step = d.duration(m)
	case "factor":
		d.s.Factor = d.decimal(m)
	case "delays":
		d.s.Delays = d.durations(m)
	case "cap":
		d.s.Cap = d.duration(m)
	case "jitter":
		d.jitter(m)
	default:
		d.faults.add(safeName(m.Name), "unknown field; known are kind, delay, base, step, factor, delays, cap and jitter")
	}
}

func (d *decoder) jitter(m object.Member) {
	switch kind := object.Kind(m.Value); {
	case string(m.Value) == `"none"`:
		d.s.Jitter.Kind = NoJitter
		return
	case kind != "an object":
		d.faults.add(m.Name, `want a JSON object or "none", got %s`, kind)
		return
	}
	members, problem := readObject(m.Value)
	if problem != "" {
		d.faults.add(m.Name, "%s", problem)
		return
	}
	for _, part := range members {
		path := "jitter." + part.Name
		part.Name = path
		d.present = append(d.present, path)
		switch path {
		case "jitter.kind":
			d.s.Jitter.Kind = JitterKind(d.text(part))
		case "jitter.fraction":
			d.s.Jitter.Fraction = d.decimal(part)
		case "jitter.after_cap":
			d.s.Jitter.AfterCap = d.boolean(part)
		default:
			d.faults.add(safeName(path), "unknown field; known are kind, fraction and after_cap")
		}
	}
}

// finish adds what is wrong with the strategy as a whole; a field that could not be read is not blamed twice.
func (d *decoder) finish() {
	if d.s.Kind == KindConstant && !slices.Contains(d.present, "delay") {
		d.faults.add("delay", `missing; want a duration such as "2s", or "0s" for no delay`)
	}
	unread := slices.Clone(d.faults)
	for _, e := range d.s.check(d.present) {
		if !unread.cover(e.Field) {
			d.faults = append(d.faults, e)
		}
	}
}

func (d *decoder) text(m object.Member) string {
	var text string
	if object.Kind(m.Value) != "a string" || json.Unmarshal(m.Value, &text) != nil {
		d.faults.add(m.Name, "want a string, got %s", object.Kind(m.Value))
	}
	return text
}

func (d *decoder) boolean(m object.Member) bool {
	if object.Kind(m.Value) != "a boolean" {
		d.faults.add(m.Name, "want true or false, got %s", object.Kind(m.Value))
	}
	return string(m.Value) == "true"
}

func (d *decoder) decimal(m object.Member) Decimal {
	var v Decimal
	if kind := object.Kind(m.Value); kind != "a number" && kind != "a string" {
		d.faults.add(m.Name, "want %s, got %s", decimalShape, kind)
	} else if err := v.UnmarshalJSON(m.Value); err != nil {
		d.faults.add(m.Name, "%s", err.Error())
	}
	return v
}

func (d *decoder) duration(m object.Member) time.Duration {
	const shape = `a Go duration string such as "500ms" or "1m30s"`
	var text string
	if object.Kind(m.Value) != "a string" || json.Unmarshal(m.Value, &text) != nil {
		d.faults.add(m.Name, "want %s, got %s", shape, object.Kind(m.Value))
		return 0
	}
	v, err := time.ParseDuration(text)
	if err != nil || len(text) > maxDuration {
		d.faults.add(m.Name, "want %s, got %s", shape, quoted(text))
		return 0
	}
	return v
}

func (d *decoder) durations(m object.Member) []time.Duration {
	var values []json.RawMessage
	if object.Kind(m.Value) != "an array" || json.Unmarshal(m.Value, &values) != nil {
		d.faults.add(m.Name, "want an array of durations, got %s", object.Kind(m.Value))
		return nil
	}
	if len(values) > maxDelays {
		d.faults.add(m.Name, "want 1 to %d durations, got %d", maxDelays, len(values))
		return nil
	}
	delays := make([]time.Duration, len(values))
	for i, value := range values {
		delays[i] = d.duration(object.Member{Name: delayPath(i), Value: value})
	}
	return delays
}

// readObject reads one JSON object member by member, and says what is wrong where it is none.
func readObject(data []byte) (members []object.Member, problem string) {
	if len(data) > maxBytes {
		return nil, fmt.Sprintf("want at most %d bytes, got %d", maxBytes, len(data))
	}
	members, problem = object.Members(data)
	for _, m := range members {
		if m.Twice {
			return nil, "field " + quoted(m.Name) + " stands twice"
		}
	}
	return members, problem
}

// safeName is the name of an unknown field as it may stand in an error.
func safeName(name string) string {
	if quote := quoted(name); quote != `"`+name+`"` {
		return quote
	}
	return name
}
