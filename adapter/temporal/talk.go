package temporal

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// The names of the queries and updates of a run, for clients in other languages. [Handle] has a method for
// each.
const (
	QueryStatus        = "retake_status"
	QueryFeedback      = "retake_feedback"
	QueryAttempts      = "retake_attempts"
	QueryReducerErrors = "retake_reducer_errors"

	UpdateAdjust   = "retake_adjust"
	UpdatePlan     = "retake_plan"
	UpdateDispatch = "retake_dispatch"
	UpdateCancel   = "retake_cancel"
	UpdateAnswer   = "retake_answer"
	UpdateSay      = "retake_say"
)

// answerQueries registers the queries of the run.
func (f *flow) answerQueries() error {
	return errors.Join(
		answers(f, QueryStatus, f.status),
		answers(f, QueryFeedback, func() []feedback.RetryFeedback { return f.st.Session.Feedback() }),
		answers(f, QueryAttempts, func() []session.Attempt { return f.st.Attempts() }),
		answers(f, QueryReducerErrors, func() []fault.ReducerError { return f.st.Session.ReducerErrors() }),
	)
}

// answers registers a query.
func answers[T any](f *flow, query string, value func() T) error {
	return workflow.SetQueryHandler(f.ctx, query, func() (wire[T], error) { return over(value()), nil })
}

// status returns the current status of the run.
func (f *flow) status() Status {
	s := Status{
		Session: f.in.Session, Phase: f.st.Phase, Run: f.st.Run, Turn: f.st.Turn, Outcome: f.st.Outcome,
		Usage:  f.st.Usage,
		Waited: f.st.Waited, MaybePaid: f.paid,
	}
	if f.st.Config == nil {
		return s
	}
	own := f.st.Attempts()
	if s.Attempts = len(own); s.Attempts > 0 {
		s.Last = &own[s.Attempts-1]
	}
	switch asked := f.asked; f.st.Phase {
	case machine.Waiting:
		s.Wait = asked.Wait
	case machine.Planning:
		s.Planning = &asked
	case machine.Asking:
		s.Asking = f.st.Asks()
	case machine.Calling:
		if asked.Model != nil {
			s.At = asked.Model.At
		}
	case machine.Running:
		for _, r := range f.running {
			if r.out != nil || r.err != nil {
				continue
			}
			if s.Running = append(s.Running, r.run); r.child != "" {
				s.Agents = append(s.Agents, r.child)
			}
		}
	}
	return s
}

// command is a requested update.
type command struct {
	do   func() error
	done bool
	err  error
}

// serve executes the updates in the inbox.
func (f *flow) serve() {
	for len(f.inbox) > 0 {
		c := f.inbox[0]
		f.inbox = f.inbox[1:]
		c.err, c.done = c.do(), true
	}
}

// enqueue adds an update to the inbox, and waits until it is executed between two events.
func (f *flow) enqueue(ctx workflow.Context, do func() error) error {
	c := &command{do: do}
	f.inbox = append(f.inbox, c)
	if err := workflow.Await(ctx,
		func() bool { return c.done || f.over || f.st.Phase == machine.Stopped }); err != nil {
		return err
	}
	if !c.done {
		return errEnded
	}
	return c.err
}

// update is a request that clients make of a run.
type update[I any] struct {
	name string
	// fault says what is wrong with a request, before it is taken.
	fault func(I) error
	// do does it, between two events.
	do func(I) error
	// ended is the error for a run that ended meanwhile; nil for errEnded.
	ended func(I) error
	// early reports that a request may be about what is not in the state yet; nil for never. A worker that has
	// no cached run is given an update before what has happened since the last task of the run, perhaps in a
	// task that another worker began, answered a query in, and died in.
	early func(I) bool
}

func (u update[I]) register(f *flow) error {
	early := func(in I) bool { return u.early != nil && u.early(in) }
	do := func(ctx workflow.Context, in wire[I]) error {
		if early(in.v) { // in the task after this one it is in the state
			if err := workflow.Sleep(ctx, 1); err != nil {
				return err
			}
		}
		err := f.enqueue(ctx, func() error { return u.do(in.v) })
		if u.ended != nil && errors.Is(err, errEnded) {
			err = u.ended(in.v)
		}
		return refusalOf(err)
	}
	check := func(_ workflow.Context, in wire[I]) error {
		if early(in.v) {
			return nil
		}
		return u.fault(in.v)
	}
	return workflow.SetUpdateHandlerWithOptions(f.ctx, u.name, do,
		workflow.UpdateHandlerOptions{Validator: check})
}

// takeUpdates registers the updates of the run.
func (f *flow) takeUpdates() error {
	running := func() error {
		if f.st.Phase == machine.Stopped {
			return errEnded
		}
		return nil
	}
	adjust := update[policy.Layer]{
		name:  UpdateAdjust,
		fault: func(l policy.Layer) error { return errors.Join(running(), f.st.AdjustFault(l)) },
		do: func(l policy.Layer) error {
			return f.step(machine.Event{Kind: machine.Adjusted, Adjust: &l})
		},
	}
	plan := update[machine.Plan]{
		name:  UpdatePlan,
		fault: func(p machine.Plan) error { return errors.Join(running(), f.takesPlan(p)) },
		do: func(p machine.Plan) error {
			if err := f.takesPlan(p); err != nil {
				return err
			}
			return f.planned(p, nil)
		},
		early: func(machine.Plan) bool {
			return !f.begun.Planner && f.st.Phase != machine.Planning && f.st.Phase != machine.Stopped
		},
	}
	cancel := update[string]{
		name: UpdateCancel, fault: func(string) error { return running() }, do: f.stop,
	}
	dispatch := func(
		ctx workflow.Context, in wire[[]session.Event],
	) (out wire[machine.Reduced], err error) {
		err = f.enqueue(ctx, func() (err error) { out.v, err = f.dispatch(in.v); return err })
		return out, err
	}
	return errors.Join(f.takePeople(), adjust.register(f), plan.register(f), cancel.register(f),
		workflow.SetUpdateHandlerWithOptions(f.ctx, UpdateDispatch, dispatch, workflow.UpdateHandlerOptions{
			Validator: func(workflow.Context, wire[[]session.Event]) error { return running() },
		}))
}

// takesPlan checks a person's plan.
func (f *flow) takesPlan(p machine.Plan) error {
	switch {
	case f.st.Phase != machine.Planning:
		return fmt.Errorf("the run does not wait for a plan: it is %s", f.st.Phase)
	case f.begun.Planner:
		return errors.New("the planner of the worker decides, not a person")
	}
	return p.Fault(f.st, f.begun.Models)
}

// dispatch runs the reducers on events from outside, as one transaction.
func (f *flow) dispatch(events []session.Event) (machine.Reduced, error) {
	reduced, err := f.reduce(events)
	if err != nil {
		return machine.Reduced{}, err
	}
	return *reduced, f.step(machine.Event{Kind: machine.Dispatched, Reduced: reduced})
}

// AllActions means the whole run, in [Handle.CancelAction].
const AllActions = ""

// stop cancels the running calls of one tool, or the run.
func (f *flow) stop(action string) error {
	if action == AllActions {
		return f.cancel("the run was cancelled")
	}
	found := false
	for _, r := range f.running {
		if r.run.Tool == action && r.out == nil && r.err == nil {
			r.stop()
			found = true
		}
	}
	if !found {
		return fmt.Errorf("no call of %q is running", action)
	}
	return nil
}
