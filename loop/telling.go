package loop

import (
	"context"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
)

// uncharged returns the reducer error of an event without a decision: that of a further call of a tool that
// was already decided.
func uncharged(ev *machine.Event, effects []machine.Effect) *fault.ReducerError {
	if ev.Tool == nil || ev.Tool.Reduced == nil {
		return nil
	}
	for _, e := range effects {
		if e.Decision != nil && e.Decision.ReducerError != nil {
			return nil
		}
	}
	return ev.Tool.Reduced.Error
}

// tellStep tells the observers about one step.
func (p *process) tellStep(ev *machine.Event, effects []machine.Effect, st *machine.State) {
	if failed := uncharged(ev, effects); failed != nil {
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
	case ev.Response != nil && len(ev.Response.Arguments) > 0:
		p.learnChanged(ev.Response, st)
	case ev.Kind == machine.Started:
		p.since = ev.At
		p.secrets.ReadSaid(st.Transcript(), p.cfg.Tools)
	}
}

// learnChanged notes the secrets in arguments that a person changed.
func (p *process) learnChanged(r *machine.Response, st *machine.State) {
	for _, g := range st.Given {
		if g.Question == r.Question {
			p.secrets.Read(&machine.Reply{Calls: []machine.Call{{Tool: g.Tool, Arguments: r.Arguments}}},
				p.cfg.Tools, nil)
		}
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
	p.options.tell(ctx, n)
}

// tellWarnings tells the observers about new warnings.
func (p *process) tellWarnings(at time.Time, all []string) {
	for _, text := range all[min(p.warned, len(all)):] {
		p.tell(p.ctx, observe.Notice{Kind: observe.Warned, CorrelationID: p.s.ID(), At: at, Text: text})
	}
	p.warned = len(all)
}

// tell tells all observers. It is safe for concurrent use.
func (o *options) tell(ctx context.Context, n observe.Notice) {
	for _, obs := range o.observers {
		tell(ctx, obs, n)
	}
}

// tell tells one observer and recovers its panics.
func tell(ctx context.Context, o observe.Observer, n observe.Notice) {
	defer func() { _ = recover() }()
	o.Observe(ctx, n)
}
