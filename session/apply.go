package session

import (
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/seq"
	"github.com/retake-go/retake/reducer"
)

// Apply returns s with all operations applied in order. If one does not fit, Apply returns s unchanged and an
// [*OpError]. Values are copied in canonical form; their Go types are not checked.
func (s State) Apply(ops []reducer.Op) (State, error) {
	next := s
	for i, op := range ops {
		op, cause := canonical(op)
		if cause == nil {
			next, cause = next.apply(op)
		}
		if cause != nil {
			return s, &OpError{Index: i, Slice: op.Slice, Kind: op.Kind, Cause: cause}
		}
	}
	return next, nil
}

// canonical returns the operation with copied values in canonical form.
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

// apply applies one operation with canonical values.
func (s State) apply(op reducer.Op) (State, error) {
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
	held, err := s.slots[at].changed(op)
	if err != nil || !op.Changes() {
		return s, err
	}
	s.slots = slices.Clone(s.slots)
	s.slots[at].held = held
	return s, nil
}

// changed returns the values of a slice after an operation.
func (s *slot) changed(op reducer.Op) (values, error) {
	switch {
	case op.Kind.Keeps():
		return s.held.Append(op.Values...), nil
	case s.kind == KindLog:
		return s.held, ErrLogSlice
	}
	return seq.Of(op.Values...), nil
}
