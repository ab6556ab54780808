package engine

import "github.com/retake-go/retake/loop/machine"

// Step is [machine.Step] for an engine that knows which calls run. If the event ends the run, its Begun is
// set to what begun returns: the calls of the reply, by index, that began and have no outcome after the
// event.
func Step(
	st machine.State, ev *machine.Event, begun func() []int,
) (next machine.State, effects []machine.Effect, err error) {
	next, effects, err = machine.Step(st, *ev)
	if err != nil || next.Outcome == nil || st.Outcome != nil && st.Phase == machine.Reducing {
		return next, effects, err
	}
	if ev.Begun = begun(); len(ev.Begun) == 0 {
		return next, effects, nil
	}
	return machine.Step(st, *ev)
}
