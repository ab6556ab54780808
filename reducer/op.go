package reducer

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
)

// Event is something that happened, as data, for the reducers of a session.
type Event struct {
	Name string `json:"name" redact:"keep"`
	// Payload is JSON; empty means null.
	Payload json.RawMessage `json:"payload,omitempty" redact:"text"`
}

// Op is a [Change] of a named slice without its Go type. It is what the core and journals use. The zero value
// is invalid. Treat Values as read-only.
type Op struct {
	// Slice is the name of the slice.
	Slice string `json:"slice" redact:"keep"`
	Kind  OpKind `json:"kind"`
	// Values are canonical JSON, one for each value.
	Values []json.RawMessage `json:"values,omitempty" redact:"value"`
}

// Encode returns a change of the named slice as an operation. It returns an error for an invalid change, and
// one that names the value if a value has no JSON form; its cause has the same text in every run.
func Encode[T any](slice string, c Change[T]) (Op, error) {
	op := Op{Slice: slice, Kind: c.Kind}
	if err := checkShape(c.Kind, len(c.Values)); err != nil {
		return Op{}, err
	}
	if len(c.Values) == 0 {
		return op, nil
	}
	op.Values = make([]json.RawMessage, len(c.Values))
	for i, v := range c.Values {
		raw, err := canon.Marshal(v)
		if err != nil {
			return Op{}, fmt.Errorf("slice %q, value %d of the change: %w", slice, i, err)
		}
		op.Values[i] = raw
	}
	return op, nil
}

// Validate returns an error if the kind is unknown or has another number of values, else nil. It
// does not check the values themselves.
func (o Op) Validate() error { return checkShape(o.Kind, len(o.Values)) }

// Changes reports whether the operation does anything.
func (o Op) Changes() bool { return o.Kind == OpReplace || o.Kind == OpClear || len(o.Values) > 0 }
