package session

import (
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/reducer"
)

// Driver has the methods by which an engine runs a [Session], such as package loop. No other code needs it.
// Make it with [DriverOf]. It is as safe for concurrent use as the session.
type Driver struct{ s *Session }

// DriverOf returns the driver of a session.
func DriverOf(s *Session) Driver { return Driver{s} }

// Seed returns [Config].Seed. It goes before any other seed.
func (d Driver) Seed() string { return d.s.seed }

// Journal returns [Config].Journal, or nil.
func (d Driver) Journal() Journal {
	if j := d.s.journal.Load(); j != nil {
		return *j
	}
	return nil
}

// Record sets the journal of the runs that begin from now on, and gives the session its id as [Driver.Adopt]
// does.
func (d Driver) Record(j Journal) error {
	if err := d.Adopt(j.Session()); err != nil {
		return err
	}
	d.s.journal.Store(&j)
	return nil
}

// Adopt gives the session its id if it has none, when a run begins. The same id again is fine; another id
// is an error, and so is an invalid one: it says what is allowed.
func (d Driver) Adopt(id string) error {
	if id == "" {
		return badConfig("id", "must not be empty")
	}
	if err := checkID(id); err != nil {
		return err
	}
	if err := d.s.lock(); err != nil {
		return err
	}
	defer d.s.changing.Unlock()
	next := d.s.State()
	switch next.id {
	case id:
		return nil
	case "":
		next.id = id
		d.s.store(next)
		return nil
	}
	return errAdopted
}

// Acquire takes the session for one run. Until [Driver.Release], Dispatch is refused and Replace is allowed.
// It returns [ErrBusy] if a run holds the session. It waits only for a Dispatch in progress.
func (d Driver) Acquire() error {
	if err := d.s.lock(); err != nil {
		return err
	}
	defer d.s.changing.Unlock()
	if d.s.held {
		return ErrBusy
	}
	d.s.held = true
	return nil
}

// Release gives the session back. Only the run that acquired the session may call it. It does nothing if no
// run holds the session.
func (d Driver) Release() {
	d.s.changing.Lock()
	defer d.s.changing.Unlock()
	d.s.held, d.s.dispatch = false, nil
	d.s.toRun.Store(nil)
}

// Through passes events that are dispatched while a run holds the session to that run, one at a time, until
// [Driver.Release]. Only the run that acquired the session may call it.
func (d Driver) Through(dispatch func(Event) error) {
	d.s.changing.Lock()
	defer d.s.changing.Unlock()
	d.s.dispatch = dispatch
}

// Hears reports whether a reducer is bound to events with the name.
func (d Driver) Hears(event string) bool {
	return slices.ContainsFunc(d.s.reducers, func(r Reducer) bool { return r.event == event })
}

// Expects reports whether a reducer is bound to events with the name, or [Config].Events has it.
func (d Driver) Expects(event string) bool {
	return d.Hears(event) || slices.Contains(d.s.events, event)
}

// Reduce runs the reducers of an event on a state. It returns their operations without those that change
// nothing, or the first failure. It changes nothing and does not report the failure.
func (d Driver) Reduce(state State, event Event) ([]reducer.Op, *fault.ReducerError) {
	_, ops, failure := reduce(state, d.s.reducers, event)
	return ops, failure
}

// Report calls the function set with [Session.OnReducerError].
func (d Driver) Report(e fault.ReducerError) { d.s.report(e) }

// Replace replaces the session's state after a step, by one made from the state before. The error is
// [ErrNotHeld] if no run holds the session, and else one error, joined, for another id and for each slice
// that is unknown or has a value that does not fit; the session is then unchanged.
// Only values added since the last call are checked.
func (d Driver) Replace(state State) error {
	now := d.s.now()
	now.State = state
	return d.Conclude(now)
}

// Inherit gives a session its contents in the journal, when a run begins: the state if its own has no records
// and no values, and the conversation if it has none. Errors are those of [Driver.Replace].
func (d Driver) Inherit(from Contents) error {
	now := d.s.now()
	if now.State.empty() && !from.State.empty() {
		now.State = from.State
	}
	if len(now.Conversation) == 0 {
		now.Conversation, now.Kept = from.Conversation, from.Kept
	}
	return d.Conclude(now)
}

// Contents returns what the session has now. It is read-only.
func (d Driver) Contents() Contents { return d.s.now() }

// Conclude is Replace for the end of a run: it also sets the conversation and what is kept of it, at the same
// moment. It keeps the slices.
func (d Driver) Conclude(with Contents) error {
	if err := d.s.lock(); err != nil {
		return err
	}
	defer d.s.changing.Unlock()
	switch {
	case !d.s.held:
		return ErrNotHeld
	case with.State.id != d.s.ID():
		return errAdopted
	}
	if err := d.s.fit(with.State); err != nil {
		return err
	}
	with.State, with.Conversation = d.s.filled(with.State), slices.Clip(with.Conversation)
	d.s.set(with)
	return nil
}
