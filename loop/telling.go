package loop

import (
	"context"
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
)

// tellStep tells the observers about one step.
func (p *process) tellStep(ev *machine.Event, effects []machine.Effect, st *machine.State) {
	err := p.err
	p.teller.Step(p.ctx, st, ev, effects, func(e machine.Effect) error {
		switch e.Kind {
		case machine.AskSettled:
			err = p.failed[e.Settled.Ask.Index].out.Err
		case machine.Stop:
			err = p.why(e.Outcome)
		}
		return err
	}, false)
}

// goesOn goes on with a run from a state, of which observers were told so far.
func (p *process) goesOn(from machine.State, adjusted *policy.Layer) {
	p.last, p.adjusted, p.takeBack = from.At, adjusted, from.AsksAgain()
	if p.teller != nil {
		p.teller.GoesOn(&from)
	}
}

// guarded returns a context in which observers know what they must not log.
func (p *process) guarded(ctx context.Context) context.Context {
	if p.teller == nil {
		return ctx
	}
	return p.teller.Context(ctx)
}

// tell tells all observers. It is safe for concurrent use.
func (p *process) tell(ctx context.Context, n observe.Notice) {
	if p.teller != nil {
		p.teller.Tell(ctx, n)
	}
}

// valueContext is a context with the lifetime of one and the values of another.
type valueContext struct {
	context.Context
	values context.Context
}

func (s valueContext) Value(key any) any { return s.values.Value(key) }

// begin tells the tracers that work begins. It returns the context for the work, and a function that reports
// its end. It is safe for concurrent use.
func (p *process) begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	if len(p.tracers) == 0 {
		return ctx, func(observe.WorkEnd) {}
	}
	w.CorrelationID, w.At = p.s.ID(), p.clock.Now().UTC().Round(0)
	values, end := p.tracers.Begin(ctx, w)
	return valueContext{ctx, values}, func(e observe.WorkEnd) {
		e.At = p.clock.Now().UTC().Round(0)
		end(e)
	}
}

// trace reports the start of the run to the tracers, if any. The work has their values from then on.
func (p *process) trace(resumed bool) {
	if len(p.tracers) == 0 {
		return
	}
	w := observe.Work{Kind: observe.WorkRun, Resumed: resumed, Info: p.info("")}
	if st := p.runner.State(); resumed {
		w.Turn, w.Attempt, w.Usage, w.Cost, w.Waited = st.Turn, len(st.Attempts()), st.Usage, st.Charged.Cost, st.Waited
	}
	values, end := p.begin(p.ctx, w)
	p.values, p.end = values, func(o *machine.Outcome, err error) { end(WorkEnd(o, err)) }
	p.ctx = valueContext{p.life, p.values}
}

// WorkEnd returns the end of a run that returned err, for engines that report work themselves. o is the
// outcome; nil if there is none.
func WorkEnd(o *machine.Outcome, err error) observe.WorkEnd {
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
