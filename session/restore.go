package session

import (
	"cmp"
	"errors"
	"slices"
)

// Restore returns a session with the contents of a snapshot, including its conversation. Every slice of the
// snapshot must be declared with the same kind, and every value must fit its type. Declared slices that the
// snapshot does not have are empty. The config's id must be empty or that of the snapshot. The error joins
// one for another id, and one for each slice that is not declared or has a value that does not fit, of which
// it names the first. [ParseContents] says what other snapshots it refuses.
func Restore(cfg Config, snapshot []byte) (*Session, error) {
	held, err := ParseContents(snapshot)
	if err != nil {
		return nil, err
	}
	s, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	id := cmp.Or(held.State.id, s.ID())
	var other error
	if s.ID() != "" && s.ID() != id {
		other = badConfig("id", "must be empty or the id of the state")
	}
	held.State.id = id
	if err := errors.Join(other, s.fit(held.State)); err != nil {
		return nil, err
	}
	held.State = s.filled(held.State)
	s.set(held)
	return s, nil
}

// fit reports all slices and values of a state that do not fit the declarations. It does not check values
// again that the session already holds.
func (s *Session) fit(state State) error {
	var faults []error
	before := s.State()
	for _, slot := range state.slots {
		d, declared := s.declared[slot.name]
		if !declared {
			faults = append(faults, badSlice(slot.name, errUnknown))
			continue
		}
		if d.kind != slot.kind {
			faults = append(faults, badSlice(slot.name, errKind))
			continue
		}
		var checked int
		if at, ok := before.find(slot.name); ok {
			checked = known(slot.held, before.slots[at].held)
		}
		if i, err := d.verify(slot.held, checked); err != nil {
			faults = append(faults, badValue(slot.name, i, err))
		}
	}
	return errors.Join(faults...)
}

// filled returns a fitting state with all declared slices.
func (s *Session) filled(state State) State {
	own := s.State().slots
	if len(state.slots) == len(own) {
		return state
	}
	slots := make([]slot, len(own))
	for i, o := range own {
		o.held = values{}
		if at, ok := state.find(o.name); ok {
			o.held = state.slots[at].held
		}
		slots[i] = o
	}
	state.slots = slots
	return state
}

// RestoreSlices replaces the state slices of the session by those of a snapshot. The logs stay, so what
// happened since the snapshot remains on record. A state slice that the snapshot does not have becomes empty.
// The snapshot must be of this session or have no id. The error is [ErrBusy] while a run holds the session,
// else as of [Restore]. After an error nothing has changed.
func (s *Session) RestoreSlices(snapshot []byte) error {
	held, err := ParseState(snapshot)
	if err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	defer s.changing.Unlock()
	switch {
	case s.held:
		return ErrBusy
	case s.unfinished():
		return errUnfinished
	}
	next := s.State()
	if held.id != "" && held.id != next.id {
		return badConfig("id", "must be the id of this session")
	}
	if err := s.fit(held); err != nil {
		return err
	}
	next.slots = slices.Clone(next.slots)
	for n, in := range s.filled(held).slots {
		if in.kind == KindState {
			next.slots[n] = in
		}
	}
	s.store(next)
	return nil
}
