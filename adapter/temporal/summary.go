package temporal

import (
	"context"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/engine/usercode"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/projection"
	"github.com/retake-go/retake/message"
)

// summaryCall is the input of the activity that sums up messages.
type summaryCall struct {
	Said []message.Message `json:"said"`
}

// summaryResult is its result.
type summaryResult struct {
	outcome
	Summary machine.Summary `json:"summary"`
}

// Summarise has messages summed up.
func (f *flow) Summarise(span projection.Span) error {
	in := summaryCall{f.st.Span(span)}
	if err := f.measure("the messages of a summary", in); err != nil {
		return err
	}
	out, on, err := perform[summaryResult](f, "summary", f.ModelTimeout, f.begun.Deaths+1, over(in))
	if !on {
		return err
	}
	if err != nil {
		if out.Failure, err = f.missed(err, "a summary"); err != nil {
			return err
		}
	}
	if err := f.taken(out.outcome, "a summary"); err != nil {
		return err
	}
	ev := machine.Event{Kind: machine.Summarised, Summary: &out.Summary}
	if out.Failure != nil {
		ev.Failure = engine.CauseOf(out.Failure)
	} else {
		ev.Cut = new(f.st.PlanSummary(out.Summary.Text))
	}
	return f.step(ev)
}

// sumUp is the activity of one summary.
func (a *agent) sumUp(ctx context.Context, in wire[summaryCall]) (wire[summaryResult], error) {
	out := summaryResult{outcome: begins(ctx)}
	if a.Summary == nil {
		out.Refused = "temporal: this worker has no Summary, but the run needs it"
		return over(out), nil
	}
	stop := a.beat(ctx, nil)
	defer stop()
	made, err := usercode.SumUp(ctx, a.Summary, in.v.Said, a.ModelTimeout)
	out.Summary, out.Failure = machine.Summary{Text: utf8(made.Text), Usage: made.Usage}, remote(err)
	return acted(ctx, a, "a summary", &out, &out.outcome)
}
