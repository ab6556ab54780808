package loop

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
)

// tellStep tells the observers about one step.
func (p *process) tellStep(ev *machine.Event, effects []machine.Effect, st *machine.State) {
	if failed := observe.Uncharged(ev, effects); failed != nil {
		p.tell(p.ctx, observe.Notice{
			Kind: observe.ReducerFailed, CorrelationID: p.s.ID(), At: ev.At, Action: p.tool,
			Plane: fault.Correction, Class: fault.Reducer,
			Reason: policy.ReasonReducerError, Err: p.err, Reducer: failed.Reducer,
		})
	}
	err := p.err
	for _, e := range effects {
		switch e.Kind {
		case machine.AskSettled:
			err = p.failed[e.Settled.Ask.Index].err
		case machine.Stop:
			err = p.why(e.Outcome)
		}
		for _, n := range observe.NoticesOf(st, ev.At, e, err) {
			if n.Kind == observe.Exhausted && p.exhaustion == nil {
				n.Kind = observe.ToolFailed
			}
			p.tell(p.ctx, n)
		}
	}
}

// guarded returns a context in which observers know what they must not log.
func (p *process) guarded(ctx context.Context) context.Context {
	if len(p.observers) == 0 {
		return ctx
	}
	return observe.WithSecrets(ctx, &p.secrets)
}

// learn notes the secrets that a step read, and when the run began.
func (p *process) learn(ev *machine.Event, st *machine.State) {
	switch {
	case ev.Reply != nil:
		p.secrets.Read(ev.Reply, p.cfg.Tools, p.cfg.Output)
	case ev.Response != nil:
		p.secrets.ReadResponse(ev.Response, st, p.cfg.Tools)
	case ev.Kind == machine.Started:
		p.since = ev.At
		p.secrets.ReadSaid(st.Transcript(), p.cfg.Tools)
	}
}

// tell tells all observers. It is safe for concurrent use.
func (p *process) tell(ctx context.Context, n observe.Notice) {
	if _, known := p.cfg.Tools.Get(n.Action); !known && n.Action != machine.AnswerAction {
		n.Invented = p.runner.State().Config == nil || !p.runner.State().Config.Single
	}
	if n.Kind == observe.Ended && !p.since.IsZero() {
		n.Took = n.At.Sub(p.since)
	}
	for _, obs := range p.observers {
		tell(ctx, obs, n)
	}
}

// tellWarnings tells the observers about new warnings.
func (p *process) tellWarnings(at time.Time, all []string) {
	for _, text := range all[min(p.warned, len(all)):] {
		p.tell(p.ctx, observe.Notice{Kind: observe.Warned, CorrelationID: p.s.ID(), At: at, Text: text})
	}
	p.warned = len(all)
}

// tell tells one observer and recovers its panics.
func tell(ctx context.Context, o observe.Observer, n observe.Notice) {
	defer func() { _ = recover() }()
	o.Observe(ctx, n)
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
