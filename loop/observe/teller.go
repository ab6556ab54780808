package observe

import (
	"context"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Teller tells the observers of a run what its engine does. It is for one goroutine at a time, but for
// [Teller.Tell].
type Teller struct {
	Observers []Observer
	// Tools and Output are those of the run, which say what must not be logged; they may be nil.
	Tools  *tool.Set
	Output *schema.Schema
	// Single reports that the run is the tries of one action, whose tool is not among Tools.
	Single bool
	// Since is when the run began; zero until its first step.
	Since time.Time

	secrets Secrets
	// warned is the number of warnings that were told, and called are the tools of the last calls.
	warned int
	called []string
}

// Context returns a context by which observers know what they must not log. Contexts for the other methods
// must be made from it.
func (t *Teller) Context(ctx context.Context) context.Context { return WithSecrets(ctx, &t.secrets) }

// GoesOn takes the state of a run that began elsewhere.
func (t *Teller) GoesOn(st *machine.State) {
	t.secrets.ReadSaid(st.Transcript(), t.Tools)
	t.warned = len(st.Warnings)
	if b := st.Batch; b != nil {
		t.called = nil
		for _, c := range b.Calls {
			t.called = append(t.called, c.Tool)
		}
	}
}

// Step tells the observers, if there are any, of a step: its event, its effects and its new warnings. behind
// returns the Go error behind an effect, or nil; for the zero effect, that behind the event. They are not
// told of a replayed step, but the Teller notes its secrets, so that these are not logged later.
func (t *Teller) Step(
	ctx context.Context, st *machine.State, ev *machine.Event, effects []machine.Effect,
	behind func(machine.Effect) error, replayed bool,
) {
	if len(t.Observers) == 0 {
		return
	}
	t.learn(st, ev)
	warnings := st.Warnings[min(t.warned, len(st.Warnings)):]
	if t.warned = len(st.Warnings); replayed {
		return
	}
	for _, text := range warnings {
		t.Tell(ctx, Notice{Kind: Warned, CorrelationID: st.Session.ID(), At: ev.At, Text: text})
	}
	if failed := uncharged(ev, effects); failed != nil {
		n := Notice{Kind: ReducerFailed, CorrelationID: st.Session.ID(), At: ev.At, Plane: fault.Correction,
			Class: fault.Reducer, Reason: policy.ReasonReducerError, Reducer: failed.Reducer,
			Err: behind(machine.Effect{})}
		if at := ev.Tool.Index; at < len(t.called) {
			n.Action = t.called[at]
		}
		t.Tell(ctx, n)
	}
	for _, e := range effects {
		for _, n := range NoticesOf(st, ev.At, e, behind(e)) {
			if n.Kind == Exhausted && st.Exhaustion() == nil {
				n.Kind = ToolFailed
			}
			t.Tell(ctx, n)
		}
	}
}

// learn notes the secrets that a step read, the tools that it calls, and when the run began.
func (t *Teller) learn(st *machine.State, ev *machine.Event) {
	switch {
	case ev.Reply != nil:
		t.secrets.Read(ev.Reply, t.Tools, t.Output)
		t.called = nil
		for n := range ev.Reply.Calls {
			t.called = append(t.called, ev.Reply.Calls[n].Tool)
		}
	case ev.Response != nil:
		t.secrets.ReadResponse(ev.Response, st, t.Tools)
	case ev.Kind == machine.Started:
		t.Since = ev.At
		t.secrets.ReadSaid(st.Transcript(), t.Tools)
	}
}

// Tell tells all observers, and ignores their panics. It is safe for concurrent use.
func (t *Teller) Tell(ctx context.Context, n Notice) {
	if _, known := t.Tools.Get(n.Action); !known && n.Action != machine.AnswerAction {
		n.Invented = !t.Single
	}
	if n.Kind == Ended && !t.Since.IsZero() {
		n.Took = n.At.Sub(t.Since)
	}
	for _, o := range t.Observers {
		func() {
			defer func() { _ = recover() }()
			o.Observe(ctx, n)
		}()
	}
}

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
