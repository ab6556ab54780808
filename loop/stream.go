package loop

import (
	"context"

	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// Delta is a piece of a streamed reply, and says where it belongs. A model sets the piece alone: a run says
// the rest.
type Delta struct {
	// Text continues the reply's text, Thinking what the model thinks before it answers.
	Text, Thinking string
	// Call is the index of the call that Name and Arguments continue, from 0; -1 for text and thoughts.
	Call int
	// Name is the tool's name, with a call's first piece.
	Name string
	// Arguments continues the call's argument text.
	Arguments string

	// Reset marks the beginning of a reply that takes the place of the one before, which broke off or could
	// not be used: whoever showed that one takes it back. Nothing else of the piece is set but Call, -1. One
	// comes too where a request that was under way is made again by a resume; none where the run ends.
	Reset bool
	// Turn counts the replies asked for from 1. Attempt is that of the action which is corrected most, and
	// Transport that of this one request on the transport plane, both from 1.
	Turn, Attempt, Transport int
}

// streams is what a model tells of its reply to one request; nil where nobody listens. It tells of a reset
// first, where the reply before did not stand.
func (p *process) streams(m *machine.ModelCall) func(Delta) {
	if p.stream == nil {
		return nil
	}
	at := modelWork(m)
	tell := func(d Delta) {
		d.Turn, d.Attempt, d.Transport = at.Turn, at.Attempt, at.Transport
		p.stream(d)
	}
	if p.takeBack {
		tell(Delta{Call: -1, Reset: true})
	}
	return tell
}

// flow is the context of a call whose reply is to come in, in time, and what makes its error. Each piece that
// the stream is told goes on as before.
func (p *process) flow(ctx context.Context, m *machine.ModelCall, stream *func(Delta)) (context.Context, func(error) error) {
	if !engine.Flows(m) {
		return ctx, func(err error) error { return err }
	}
	ctx, flow := engine.NewFlow(ctx, m, p.after)
	tell := *stream
	*stream = func(d Delta) {
		flow.Piece()
		if tell != nil {
			tell(d)
		}
	}
	return ctx, flow.Over
}

// leftAReply reports whether a run that is resumed left a reply that does not stand.
func leftAReply(st machine.State) bool {
	return st.Phase == machine.Calling || st.Phase == machine.Planning || st.Phase == machine.Waiting && st.Next != machine.NextTools
}
