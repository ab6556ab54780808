package engine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// Reduce runs the reducers of s for events, as one transaction; each event sees the changes of those before
// it. If a reducer fails, the callback of s is called at once. The session itself does not change.
func Reduce(s *session.Session, st session.State, events []session.Event) *machine.Reduced {
	r := reduced(s, st, events)
	if r.Error != nil {
		session.DriverOf(s).Report(*r.Error)
	}
	return r
}

// reduced is Reduce without the callback.
func reduced(s *session.Session, st session.State, events []session.Event) *machine.Reduced {
	var all []reducer.Op
	for _, ev := range events {
		ops, failed := session.DriverOf(s).Reduce(st, ev)
		if failed == nil {
			next, err := st.Apply(ops)
			if err == nil {
				st, all = next, append(all, ops...)
				continue
			}
			failed = &fault.ReducerError{Reducer: ev.Name, Payload: string(ev.Payload),
				Message: fault.Scrub(err.Error()),
				Cause:   err}
		}
		return &machine.Reduced{Error: failed}
	}
	return &machine.Reduced{Ops: all}
}

// Hears returns the notices that reducers of s are bound to; see [machine.Event].Hears.
func Hears(s *session.Session) (names []string) {
	for _, name := range session.Notices() {
		if session.DriverOf(s).Hears(name) {
			names = append(names, name)
		}
	}
	return names
}

// Heard runs the reducers of s for notices, each as its own transaction, and returns the contents of a
// [machine.ReducersRan] event.
func Heard(s *session.Session, st session.State, notices []machine.Notice) []machine.Reduced {
	return heard(st, notices, func(st session.State, events []session.Event) *machine.Reduced {
		return Reduce(s, st, events)
	})
}

// heard is Heard with the function that runs the reducers.
func heard(st session.State, notices []machine.Notice,
	reduce func(session.State, []session.Event) *machine.Reduced,
) (all []machine.Reduced) {
	for _, n := range notices {
		reduced := reduce(st, []session.Event{n.Event})
		if next, err := st.Apply(reduced.Ops); reduced.Error == nil && err == nil {
			st = next
		}
		all = append(all, *reduced)
	}
	return all
}
