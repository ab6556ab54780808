package engine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
)

// Reduce runs the reducers of s on events, as one transaction in which each sees what the one before it did to
// st. Where one fails, the callback of s is told at once, and failed is its error as it was returned. The
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
