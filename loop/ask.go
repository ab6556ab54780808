package loop

import (
	"context"
	"fmt"

	"github.com/retake-go/retake/loop/machine"
)

// asker asks the user's planner. It is made where that is given, so that a program without one does not link what asks it.
type asker func(ctx context.Context, d *driver, e machine.Effect) ([]machine.Effect, error)

func askerOf(p Planner) asker {
	if p == nil {
		return nil
	}
	return func(ctx context.Context, d *driver, e machine.Effect) ([]machine.Effect, error) {
		return d.ask(ctx, p, e)
	}
}

// ask asks the planner of an exhaustion or a transport fault. The error behind it is that behind what follows.
func (d *driver) ask(ctx context.Context, p Planner, e machine.Effect) ([]machine.Effect, error) {
	if c := e.Consultation; c != nil && c.Tool != "" {
		d.err = d.asked[c.Index].err
	} else if e.Exhaustion != nil {
		d.err = d.cause
	}
	plan, err := p.Plan(ctx, NewQuestion(d.runner.State(), e, d.err))
	if ctx.Err() != nil {
		return d.cancel(ctx)
	}
	if err != nil {
		d.err = &plannerError{err: err, asked: d.err}
		d.cause = d.err
		return d.runner.PlannerFailed(d.now(), err)
	}
	if e.Exhaustion != nil && plan.Do == machine.Fallback {
		d.cause = nil
	}
	if plan.Model != "" && d.models[plan.Model] == nil {
		return nil, fmt.Errorf("loop: the planner falls back to model %q: name one of those given by WithModels", plan.Model)
	}
	return d.runner.Planned(d.now(), plan)
}
