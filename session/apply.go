package session

import (
	"encoding/json"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/seq"
)

// Apply returns s with all operations applied in their order, or s itself and an [*OpError] for the first that does not fit:
// all or nothing. Values are brought into canonical form and copied; their Go types are not looked at.
func (s State) Apply(ops []reducer.Op) (State, error) {
	next := s
	for i, op := range ops {
		op, cause := canonical(op)
		if cause == nil {
			next, cause = next.apply(op, newEntries(op.Values))
		}
		if cause != nil {
			return s, &OpError{Index: i, Slice: op.Slice, Kind: op.Kind, Cause: cause}
		}
	}
	return next, nil
}

// canonical returns the operation with values of its own in canonical form.
func canonical(op reducer.Op) (reducer.Op, error) {
	values := make([]json.RawMessage, len(op.Values))
	for i, v := range op.Values {
		raw, err := canon.JSON(v)
		if err != nil {
			return op, err
		}
		values[i] = raw
	}
	op.Values = values
	return op, nil
}

// apply applies one operation, the values of which the slice will hold as these entries.
func (s State) apply(op reducer.Op, values []Entry) (State, error) {
	if err := op.Validate(); err != nil {
		return s, err
	}
	if reserved(op.Slice) {
		return s, ErrBuiltin
	}
	at, ok := s.find(op.Slice)
	if !ok {
		return s, ErrUnknownSlice
	}
	held, err := s.slots[at].changed(op.Kind, values)
	if err != nil || !op.Changes() {
		return s, err
	}
	s.slots = holding(s.slots, at, held)
	return s, nil
}

// changed is what a slice holds after a change of this kind.
func (s *slot) changed(kind reducer.OpKind, values []Entry) (entries, error) {
	switch {
	case kind.Keeps():
		return s.held.Append(values...), nil
	case s.kind == KindLog:
		return s.held, ErrLogSlice
	}
	return seq.Of(values...), nil
}

// holding are slots of which the one at a place holds something else.
func holding(slots []slot, at int, held entries) []slot {
	slots = append(make([]slot, 0, len(slots)), slots...)
	slots[at].held = held
	return slots
}
