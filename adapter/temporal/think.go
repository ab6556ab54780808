package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/session"
)

// errEnded is returned if the run ended while user code was running.
var errEnded = errors.New("the run has ended")

// adjust calls the user's code, which may change the policy before a decision. The same layer again is no
// event.
func (f *flow) adjust() error {
	if !f.begun.Adjust {
		return nil
	}
	said, err := f.callCode(thinkCall{Adjust: true})
	if err != nil || said.Layer == nil || reflect.DeepEqual(*said.Layer, f.adjusted) {
		return err
	}
	if err := f.st.AdjustFault(*said.Layer); err != nil {
		return fmt.Errorf("adjusting the policy: %w", err)
	}
	f.adjusted = *said.Layer
	return f.step(machine.Event{Kind: machine.Adjusted, Adjust: said.Layer})
}

// callCode calls user code, in a side effect or a local activity, so that its result is in the history.
func (f *flow) callCode(about thinkCall) (thinkResult, error) {
	if !f.begun.Slow {
		st := f.st.Session
		said, err := once[thinkResult](workflow.SideEffect(f.ctx,
			func(workflow.Context) any { return over(f.agent.callCode(st, about)) }))
		return said, errors.Join(err, said.Trouble.err())
	}
	var said wire[thinkResult]
	held, err := f.sessionJSON()
	if err != nil {
		return said.v, err
	}
	f.inUserCode, about.Session = true, held
	on, err := f.local("think", over(about), &said)
	f.inUserCode = false
	if !on && err == nil {
		err = errEnded
	}
	return said.v, errors.Join(err, said.v.Trouble.err())
}

// local runs user code in a local activity: its input is not in the history. It returns false if the run
// ended meanwhile.
func (f *flow) local(name string, in, out any) (bool, error) {
	stoppable, stop := workflow.WithCancel(f.ctx)
	defer stop()
	ctx := workflow.WithLocalActivityOptions(stoppable, workflow.LocalActivityOptions{
		StartToCloseTimeout: f.ThinkTimeout, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1},
	})
	future := workflow.ExecuteLocalActivity(ctx, f.named(name), in)
	if on, err := f.until(future.IsReady); !on || err != nil {
		return false, err
	}
	if err := future.Get(ctx, out); err != nil {
		return false, fmt.Errorf("user code: %w", err)
	}
	return true, nil
}

// think is the local activity of slow reducers and adjustments.
func (a *agent) think(_ context.Context, in wire[thinkCall]) (wire[thinkResult], error) {
	st, err := session.ParseState(in.v.Session)
	if err != nil {
		return over(thinkResult{Trouble: troubled(err)}), nil
	}
	return over(a.callCode(st, in.v)), nil
}

// callCode runs the user's code.
func (a *agent) callCode(st session.State, about thinkCall) thinkResult {
	a.endReplay()
	said, err := usercode.Contained(func() (said thinkResult, err error) {
		if about.Adjust && a.Adjust != nil {
			if layer, ok := a.Adjust(st); ok {
				said.Layer, err = &layer, layer.Validate()
			}
		}
		if err == nil && len(about.Events) > 0 {
			said.Reduced = engine.Reduce(a.reducing, st, about.Events)
		}
		if err == nil {
			said.Reductions = engine.Heard(a.reducing, st, about.Notices)
		}
		return said, err
	})
	if err != nil {
		err = fmt.Errorf("adjusting the policy: %w", err)
	} else {
		err = a.fitsAs("the result of the reducers", said)
	}
	if err != nil {
		return thinkResult{Trouble: troubled(err)}
	}
	return said
}

// MakePrompt calls the user's code for the prompt of a model call.
func (f *flow) MakePrompt(m *machine.ModelCall) error {
	held, err := f.sessionJSON()
	if err != nil {
		return err
	}
	var out wire[promptResult]
	if on, err := f.local("prompt", over(promptCall{Session: held, At: m.At}), &out); !on || err != nil {
		return err
	}
	if err := out.v.Trouble.err(); err != nil {
		return err
	}
	return f.step(machine.Event{Kind: machine.Prompted, System: out.v.System, Messages: out.v.Add})
}

// makePrompt is the local activity in which the user's code makes a prompt.
func (a *agent) makePrompt(ctx context.Context, in wire[promptCall]) (out wire[promptResult], _ error) {
	st, err := session.ParseState(in.v.Session)
	if err == nil && a.Prompt == nil {
		err = errors.New("this worker has no Prompt, but the run needs it")
	}
	if err == nil {
		out.v, err = usercode.Contained(func() (made promptResult, err error) {
			made.System, made.Add, err = a.Prompt(ctx, st, in.v.At)
			return made, err
		})
		out.v.System, out.v.Add = utf8(out.v.System), slices.Clone(out.v.Add)
		for n := range out.v.Add {
			out.v.Add[n].Text = utf8(out.v.Add[n].Text)
		}
	}
	if err == nil {
		err = a.fitsAs("the prompt", out.v)
	}
	if err != nil {
		out.v = promptResult{Trouble: troubled(fmt.Errorf("making the prompt: %w", err))}
	}
	return out, nil
}

// AskPlanner calls the planner, or waits for a person's plan.
func (f *flow) AskPlanner(e machine.Effect) error {
	if e.Question.Exhausted {
		f.err = f.cause
	}
	if !f.begun.Planner {
		before := f.plans
		_, err := f.until(func() bool { return f.plans > before })
		return err
	}
	state, err := f.st.Snapshot()
	if err != nil {
		return err
	}
	var out wire[plannerResult]
	call := plannerCall{State: state, Asked: e, Cause: f.err}
	if on, err := f.local("planner", over(call), &out); !on || err != nil {
		return err
	}
	if err := out.v.Trouble.err(); err != nil {
		return err
	}
	if failed := out.v.Failure; failed != nil {
		failed.Planner, failed.Asked = true, cmp.Or(failed.Asked, f.err)
		f.err, f.cause = failed, failed
		return f.planned(out.v.Plan, &failed.Seen)
	}
	return f.planned(out.v.Plan, nil)
}

// planned feeds a plan to the core. failed is the planner's own error; nil for none.
func (f *flow) planned(p machine.Plan, failed *fault.Failure) error {
	f.plans++
	return f.step(machine.Event{Kind: machine.Planned, Plan: &p, Failure: failed})
}

// plan is the local activity of the planner.
func (a *agent) plan(ctx context.Context, in wire[plannerCall]) (out wire[plannerResult], _ error) {
	st, err := machine.Restore(in.v.State)
	if err == nil && a.Planner == nil {
		err = errors.New("this worker has no Planner, but the run needs it")
	}
	if err != nil {
		out.v.Trouble = troubled(err)
		return out, nil
	}
	q := planner.NewQuestion(st, in.v.Asked, in.v.Cause.cause())
	if out.v.Plan, err = usercode.Plan(ctx, a.Planner, st, q, a.modelNames()); err != nil {
		out.v.Failure = remote(err)
		out.v.Failure.Asked = remote(q.Cause)
	}
	if err := a.fitsAs("the planner's answer", out.v); err != nil {
		out.v = plannerResult{Trouble: troubled(err)}
	}
	return out, nil
}
