package temporal

import (
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// full reports whether the run should continue in a new history. It does so only between two turns, when no
// call is running.
func (f *flow) full() bool {
	if (f.asked.Kind != machine.CallModel && f.asked.Kind != machine.TryAction) ||
		f.trail.Events == f.entered {
		return false
	}
	info := workflow.GetInfo(f.ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > f.begun.MaxEvents
}

// settle executes all updates before the run continues in a new history, so that none is lost.
func (f *flow) settle() error {
	for f.full() && !workflow.AllHandlersFinished(f.ctx) {
		f.serve()
		err := workflow.Await(f.ctx,
			func() bool { return len(f.inbox) > 0 || workflow.AllHandlersFinished(f.ctx) })
		if err != nil {
			return f.cancel(endOfContext)
		}
	}
	return nil
}

// next is the input of the new history. Session and decisions are the same as without the change.
func (f *flow) next() (order, error) {
	state, err := f.st.Snapshot()
	if err != nil {
		return order{}, err
	}
	next := f.in
	next.Messages, next.Known, next.After = nil, nil, nil
	next.Carried = &carried{
		State: state, Asked: f.asked, Begun: f.begun, Adjusted: f.adjusted, Kept: f.kept,
		KeptLen: f.keptLen, Trail: f.trail, MaybePaid: f.paid, Noted: f.noted,
		Since: f.teller.Since, Cost: f.cost, Doubtful: f.doubtful,
	}
	next.Carried.Begun.Session = nil
	return next, f.measure("the state for a new history", next)
}

// takeOver continues a run from another history.
func (f *flow) takeOver(c carried) (err error) {
	if f.st, err = machine.Restore(c.State); err != nil {
		return err
	}
	f.begun, f.asked, f.settings, f.adjusted = c.Begun, c.Asked, engine.Settings(f.st.Policy), c.Adjusted
	f.teller.Since, f.cost, f.doubtful = c.Since, c.Cost, c.Doubtful
	f.kept, f.keptLen, f.trail, f.paid, f.noted = c.Kept, c.KeptLen, c.Trail, c.MaybePaid, c.Noted
	f.entered, f.checked = f.trail.Events, f.trail.Events
	if len(f.Observers) > 0 {
		f.teller.GoesOn(&f.st)
	}
	return nil
}
