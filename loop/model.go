package loop

import (
	"context"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Model asks one model for one reply. An implementation switches the retries of the SDK beneath it off: two
// layers of retries multiply.
type Model interface {
	// Reply returns the whole reply; a stream that breaks half-way is an error. Errors that carry a class of
	// the transport plane are retried under the transport policy; see package fault. It must not change req,
	// and may be called from several runs at once.
	//
	// The transcript holds the Calls of a reply as they are: a model must not write to that list once it has
	// returned it. Runs only read it, so that several replies may share one.
	Reply(ctx context.Context, req Request) (message.Reply, error)
}

// ModelFunc is a function as a [Model].
type ModelFunc func(ctx context.Context, req Request) (message.Reply, error)

// Reply calls f.
func (f ModelFunc) Reply(ctx context.Context, req Request) (message.Reply, error) { return f(ctx, req) }

// Request is what a model is asked. It is shared with the run: read-only.
type Request struct {
	// System is the system prompt as it reads now; empty for none.
	System string
	// Messages is the transcript so far, oldest first.
	Messages []message.Message
	// Tools are those on offer, in order of registration.
	Tools []*tool.Tool
	// Output is the schema of the structured answer that is wanted; nil where any text will do.
	Output *schema.Schema
	// Model is the model's name in the run's ladder; empty for the first.
	Model string
	// Temperature is that of this attempt, from 0 to 2, instead of the model's own; nil for the model's own.
	// A model that cannot be asked so refuses the request by an error.
	Temperature *float64
	// At are the actions that are being corrected, or the answer's first attempt.
	At []machine.Position
	// ToolChoice is the tool that the model must call; see [Config]. A model that cannot be asked so refuses
	// the request by an error.
	ToolChoice message.ToolChoice
	// Stop are texts at which the model is to stop writing; none of them is part of the reply. A model that
	// cannot be asked so refuses the request by an error.
	Stop []string
	// Stream is told of a streamed reply as it comes in; nil where nobody listens. What it is told decides
	// nothing.
	Stream func(Delta)
}

// Last is the newest message; zero where there is none.
func (r Request) Last() (newest message.Message) {
	if len(r.Messages) > 0 {
		newest = r.Messages[len(r.Messages)-1]
	}
	return newest
}
