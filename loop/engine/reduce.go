package engine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// Reduce runs the reducers of s on events, as one transaction in which each sees what the one before it did
// to st. Where one fails, the callback of s is told at once, and failed is its error as it was returned. The
// session itself is not changed.
func Reduce(s *session.Session, st session.State, events []session.Event) (_ *machine.Reduced, failed *fault.ReducerError) {
	var all []reducer.Op
	for _, ev := range events {
		ops, failed := s.ReduceIn(st, ev)
		if failed == nil {
			next, err := st.Apply(ops)
			if err == nil {
				st, all = next, append(all, ops...)
				continue
			}
			failed = &fault.ReducerError{Reducer: ev.Name, Payload: string(ev.Payload), Message: err.Error(), Cause: err}
		}
		s.ReportReducerError(*failed)
		return &machine.Reduced{Error: failed}, failed
	}
	return &machine.Reduced{Ops: all}, nil
}

// Hears are the notices that reducers of s are bound to: see [machine.Event].Hears.
func Hears(s *session.Session) (names []string) {
	for _, name := range session.Notices() {
		if s.Hears(name) {
			names = append(names, name)
		}
	}
	return names
}

// Heard runs the reducers of s on notices, each as a transaction of its own on what the one before it did to
// st: what a [machine.ReducersRan] event says. failed is the last error of a reducer; nil for none.
func Heard(s *session.Session, st session.State, notices []machine.Notice) (all []machine.Reduced, failed *fault.ReducerError) {
	for _, n := range notices {
		reduced, refused := Reduce(s, st, []session.Event{n.Event})
		if refused != nil {
			failed = refused
		} else if next, err := st.Apply(reduced.Ops); err == nil {
			st = next
		}
		all = append(all, *reduced)
	}
	return all, failed
}
