package loop

import (
	"context"
	"errors"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// valueContext is a context with the lifetime of one and the values of another.
type valueContext struct {
	context.Context
	values context.Context
}

func (s valueContext) Value(key any) any { return s.values.Value(key) }

// begin tells the tracers that work begins. It returns the context for the work, and a function that reports
// its end. It is safe for concurrent use.
func (p *process) begin(ctx context.Context, w *observe.Work) (context.Context, func(observe.WorkEnd)) {
	if len(p.tracers) == 0 {
		return ctx, func(observe.WorkEnd) {}
	}
	w.CorrelationID, w.At = p.runner.s.ID(), p.clock.Now().UTC().Round(0)
	inner := ctx
	ends := make([]func(observe.WorkEnd), 0, len(p.tracers))
	for _, t := range p.tracers {
		values, end := begun(inner, t, *w)
		inner = values
		ends = append(ends, end)
	}
	return valueContext{ctx, inner}, func(e observe.WorkEnd) {
		if e.At = p.clock.Now().UTC().Round(0); e.At.Before(w.At) {
			e.At = w.At
		}
		for _, end := range slices.Backward(ends) {
			told(end, e)
		}
	}
}

// begun tells one tracer and recovers its panics.
func begun(
	ctx context.Context, t observe.Tracer, w observe.Work,
) (inner context.Context, end func(observe.WorkEnd)) {
	defer func() {
		if recover() != nil || inner == nil {
			inner = ctx
		}
	}()
	return t.Begin(ctx, w)
}

// told reports an end to one tracer and recovers its panics.
func told(end func(observe.WorkEnd), e observe.WorkEnd) {
	defer func() { _ = recover() }()
	if end != nil {
		end(e)
	}
}

// trace reports the start of the run to the tracers, if any. The work has their values from then on.
func (p *process) trace(resumed bool) {
	if len(p.tracers) == 0 {
		return
	}
	values, end := p.begin(p.ctx, &observe.Work{Kind: observe.WorkRun, Resumed: resumed})
	p.values, p.end = values, func(o *machine.Outcome, err error) { end(runEnd(o, err)) }
	p.ctx = valueContext{p.life, p.values}
}

// runEnd returns the end of a run that returns err.
func runEnd(o *machine.Outcome, err error) observe.WorkEnd {
	e := observe.WorkEnd{Err: err}
	if o != nil {
		e.Usage = o.Usage
	}
	if exhausted, ok := errors.AsType[*RetryExhaustedError](err); ok {
		e.Class, e.Reason = exhausted.Failure.Class, exhausted.Reason
	} else if err != nil {
		e.Class = fault.FailureOf(err).Class
	} else if o != nil {
		e.Reason = o.Reason
	}
	return e
}

// modelWork returns a model call as work.
func modelWork(m *machine.ModelCall) *observe.Work {
	w := &observe.Work{Kind: observe.WorkModel, Model: m.Model, Turn: m.Turn, Transport: m.Transport}
	for _, p := range m.At {
		if p.Attempt > w.Attempt {
			w.Attempt, w.MaxAttempts = p.Attempt, p.MaxAttempts
		}
	}
	return w
}

// modelEnd returns the end of a model call. effects are the decisions on it.
func modelEnd(reply message.Reply, err error, effects []machine.Effect) observe.WorkEnd {
	if err != nil {
		return observe.WorkEnd{Err: err, Class: fault.FailureOf(err).Class}
	}
	e := observe.WorkEnd{Usage: reply.Usage, Model: reply.Model, Finish: reply.Finish}
	for _, fx := range effects {
		if fx.Kind == machine.Decided && fx.Decision.Class != "" {
			e.Class = fx.Decision.Class
			break
		}
	}
	return e
}

// toolRunEnd returns the end of a tool's run.
func toolRunEnd(out tool.Outcome) observe.WorkEnd {
	switch {
	case out.Err != nil:
		return observe.WorkEnd{Err: out.Err, Class: out.Failure().Class}
	case len(out.Issues) > 0:
		return observe.WorkEnd{Class: fault.ToolValidation}
	case out.Failed != "":
		return observe.WorkEnd{Class: fault.ToolExecution}
	}
	return observe.WorkEnd{}
}
