package session

import (
	"encoding/json"

	"github.com/retake-go/retake/internal/flat"
	"github.com/retake-go/retake/reducer"
)

// wanted is what a change makes of a slice, which has been made sure to read back. Values of a flat type are written when
// somebody asks for them, unless it is not certain that they can be.
func (s Slice[T]) wanted(in *slot, c *reducer.Change[T], told bool) (wish, error) {
	op := reducer.Op{Slice: s.name, Kind: c.Kind}
	if err := c.Validate(); err != nil {
		return wish{}, err
	}
	if told || !s.written(c.Values) {
		var err error
		if op, err = reducer.Encode(s.name, *c); err != nil {
			return wish{}, err
		}
	}
	if !c.Changes() {
		return wish{}, nil
	}
	var one [1]Entry
	held, err := in.changed(c.Kind, s.entries(one[:0], in.held, c, op.Values))
	if err != nil {
		return wish{}, &OpError{Slice: s.name, Kind: c.Kind, Cause: err}
	}
	if i, err := s.verify(held); err != nil {
		return wish{}, &ValueError{Slice: s.name, Index: i, Cause: err}
	}
	return wish{op: op, held: held}, nil
}

// written reports whether values can certainly be written, whenever that is.
func (s Slice[T]) written(values []T) bool {
	if s.form.written == nil {
		return len(values) == 0
	}
	for n := range values {
		if !flat.Writes(s.form.written, &values[n]) {
			return false
		}
	}
	return true
}

// entries adds to all those of the values of a change; raw is how they are written, nil for not yet. Where their type is flat, they are
// known to read back as they are.
func (s Slice[T]) entries(all []Entry, held entries, c *reducer.Change[T], raw []json.RawMessage) []Entry {
	if s.form.written == nil {
		return append(all, newEntries(raw)...)
	}
	before, ok := held.Last()
	sound := !ok || !c.Kind.Keeps() || before.soundFor(s.form)
	for n := range c.Values {
		var canonical []byte
		if raw != nil {
			canonical = raw[n]
		}
		var of *form
		if sound && n == len(c.Values)-1 {
			of = s.form
		}
		all = append(all, knownEntry(canonical, &c.Values[n], of))
	}
	return all
}
