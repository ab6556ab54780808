package engine

import "github.com/retake-go/retake/loop/machine"

// Step is [machine.Step] for an engine that knows which calls run. If the event ends the run, its Begun is
// set to what begun returns: the calls of the reply, by index, that began and have no outcome after the
// event. The reply is that of the state before, and st is no longer that.
func Step(st *machine.State, ev *machine.Event, begun func() []int) ([]machine.Effect, error) {
	before := *st
	effects, err := machine.Step(st, ev)
	if err != nil || st.Outcome == nil || before.Outcome != nil && before.Phase == machine.Reducing {
		return effects, err
	}
	if ev.Begun = begun(); len(ev.Begun) == 0 {
		return effects, nil
	}
	*st = before
	return machine.Step(st, ev)
}
