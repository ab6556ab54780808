package loop

import (
	"context"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
)

// askPlanner asks the planner about an exhaustion or a transport failure. The Go error behind it becomes that
// of what follows.
func (p *process) askPlanner(e machine.Effect) ([]machine.Effect, error) {
	p.err = p.askedAbout(e)
	question := planner.NewQuestion(p.runner.State(), e, p.err)
	plan, left, err := ask(p.ctx, p, engine.Limits{},
		func(ctx context.Context, _ engine.Tell) (machine.Plan, error) { return p.planner.Plan(ctx, question) })
	if left {
		return nil, errCallLeft
	}
	if p.ctx.Err() != nil {
		return p.cancel()
	}
	if err == nil {
		err = plan.Fault(p.runner.State(), p.modelNames())
	}
	if err != nil {
		p.err = &engine.PlannerError{Err: err, Asked: question.Cause}
		p.cause = p.err
		return p.runner.PlannerFailed(p.now(), err)
	}
	return p.runner.Planned(p.now(), plan)
}

// askedAbout returns the Go error behind a question to the planner, or nil. After a crash it is the recorded
// one.
func (p *process) askedAbout(e machine.Effect) error {
	q, err := e.Question, p.err
	f := q.Failure
	f.Issues = slices.Clone(f.Issues) // whoever is given the error may write into it
	switch {
	case q.Exhausted && p.cause != nil:
		return p.cause
	case q.Exhausted:
		return recordedFailure(f, p.runner.State().Config.Single)
	}
	if err == nil {
		err = &fault.RecordedError{Recorded: f}
	}
	return err
}
