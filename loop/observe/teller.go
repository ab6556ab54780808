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

// Teller tells observers of a run whose engine steps the core itself, as they are told in process. It is for
// one goroutine at a time.
type Teller struct {
	Observers []Observer
	// Tools and Output are those of the run, for what must not be logged; may be nil.
	Tools  *tool.Set
	Output *schema.Schema
	// Since is when the run began; zero until its first step.
	Since time.Time

	secrets Secrets
	// warned is the number of warnings that were told.
	warned int
}

// GoesOn takes the state of a run that began elsewhere.
func (t *Teller) GoesOn(st *machine.State) {
	t.secrets.ReadSaid(st.Transcript(), t.Tools)
	t.warned = len(st.Warnings)
}

// Step tells of a step, if there are observers: of its event, its effects and the warnings that the state has
// since. behind returns the Go error behind an effect, or nil, and that behind the event for the zero effect.
// A step that is replayed is not told, but what it says must not be logged.
func (t *Teller) Step(
	st *machine.State, ev *machine.Event, effects []machine.Effect, behind func(machine.Effect) error,
	replayed bool,
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
		t.tell(st, Notice{Kind: Warned, CorrelationID: st.Session.ID(), At: ev.At, Text: text})
	}
	if failed := Uncharged(ev, effects); failed != nil {
		n := Notice{Kind: ReducerFailed, CorrelationID: st.Session.ID(), At: ev.At, Plane: fault.Correction,
			Class: fault.Reducer, Reason: policy.ReasonReducerError, Reducer: failed.Reducer,
			Err: behind(machine.Effect{})}
		if b := st.Batch; b != nil && ev.Tool.Index < len(b.Calls) {
			n.Action = b.Calls[ev.Tool.Index].Tool
		}
		t.tell(st, n)
	}
	for _, e := range effects {
		for _, n := range NoticesOf(st, ev.At, e, behind(e)) {
			if n.Kind == Exhausted && st.Exhaustion() == nil {
				n.Kind = ToolFailed
			}
			t.tell(st, n)
		}
	}
}

// learn notes the secrets that a step read, and when the run began.
func (t *Teller) learn(st *machine.State, ev *machine.Event) {
	switch {
	case ev.Reply != nil:
		t.secrets.Read(ev.Reply, t.Tools, t.Output)
	case ev.Response != nil:
		t.secrets.ReadResponse(ev.Response, st, t.Tools)
	case ev.Kind == machine.Started:
		t.Since = ev.At
		t.secrets.ReadSaid(st.Transcript(), t.Tools)
	}
}

// tell tells all observers, and ignores their panics.
func (t *Teller) tell(st *machine.State, n Notice) {
	if _, known := t.Tools.Get(n.Action); !known && n.Action != machine.AnswerAction {
		n.Invented = !st.Config.Single
	}
	if n.Kind == Ended && !t.Since.IsZero() {
		n.Took = n.At.Sub(t.Since)
	}
	ctx := WithSecrets(context.Background(), &t.secrets)
	for _, o := range t.Observers {
		func() {
			defer func() { _ = recover() }()
			o.Observe(ctx, n)
		}()
	}
}

// Uncharged returns the reducer error of an event without a decision: that of a further call of a tool that
// was already decided.
func Uncharged(ev *machine.Event, effects []machine.Effect) *fault.ReducerError {
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
