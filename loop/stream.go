package loop

import (
	"context"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
)

// Delta is a piece of a streamed reply. The model sets the piece; the run sets where it belongs.
type Delta struct {
	// Text continues the text of the reply, and Thinking the model's reasoning.
	Text, Thinking string
	// Call is the index of the call that Name and Arguments belong to, from 0; -1 for text and reasoning.
	Call int
	// Name is the tool's name, in the first piece of a call.
	Name string
	// Arguments continues the text of the call's arguments.
	Arguments string

	// Reset marks the start of a reply that replaces the previous one, which broke off or could not be used:
	// discard what was received of that one. Call is -1, and nothing else is set. There is also a reset if a
	// request in progress is made again by a resume, but none at the end of the run.
	Reset bool
	// Session is the id of the session: of whose run the piece is.
	Session string
	// Turn is the number of the reply, Attempt that of the action that was corrected most, and Transport that
	// of this request on the transport plane, all from 1.
	Turn, Attempt, Transport int
}

// streams returns the function that receives a model's streamed reply, or nil. It waits for the piece of an
// earlier reply that is still being received, until ctx ends.
func (p *process) streams(m *machine.ModelCall) func(ctx context.Context, d Delta) {
	if p.stream == nil {
		return nil
	}
	if p.streaming == nil {
		p.streaming = make(chan struct{}, 1)
	}
	at, id, streaming := observe.ModelWork(m), p.s.ID(), p.streaming
	return func(ctx context.Context, d Delta) {
		select {
		case streaming <- struct{}{}:
		default:
			select {
			case streaming <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		defer func() { <-streaming }()
		d.Session, d.Turn, d.Attempt, d.Transport = id, at.Turn, at.Attempt, at.Transport
		p.stream(d)
	}
}
