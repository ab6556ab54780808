package loop

import (
	"context"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// Model calls a language model. An implementation must turn off the retries of its SDK, because two layers of
// retries multiply.
type Model interface {
	// Reply returns the whole reply. A stream that breaks is an error, beside which only Source counts. Errors
	// with a class of the transport plane are retried under the transport policy; see package fault. Reply must
	// not change req, and may be called from several runs at once. The run does not wait for a Reply that
	// ignores the end of ctx.
	//
	// The transcript keeps the Calls of a reply. The model must not write to that list after returning it.
	// Runs only read it, so several replies may share it.
	Reply(ctx context.Context, req Request) (message.Reply, error)
}

// Describer is a [Model] that says what it is. Prices are known by its name, and budgets by its bounds.
type Describer interface {
	// Describe always returns the same.
	Describe() machine.ModelInfo
}

// ModelFunc is a function that is a [Model].
type ModelFunc func(ctx context.Context, req Request) (message.Reply, error)

// Reply calls f.
func (f ModelFunc) Reply(ctx context.Context, req Request) (message.Reply, error) { return f(ctx, req) }

// Request is a request to a model, and the model's own.
type Request struct {
	// Session is the id of the session.
	Session string
	// System is the current system prompt; empty for none. The request is the model's own: what it writes
	// into it changes nothing else.
	System string
	// Messages is the transcript so far, oldest first.
	Messages []message.Message
	// Tools are the tools that the model may call, in order of registration.
	Tools []*tool.Tool
	// Output is the schema of the structured answer; nil if any text is accepted.
	Output *schema.Schema
	// Model is the name of the model in the run; empty for the first.
	Model string
	// Temperature is the temperature for this attempt, from 0 to 2; nil means the model's own. A model that
	// does not support it must return an error.
	Temperature *float64
	// At are the actions that are being corrected, or the first attempt of the answer.
	At []machine.Position
	// ToolChoice is the tool that the model must call; see [Config]. A model that does not support it must
	// return an error.
	ToolChoice message.ToolChoice
	// Stop are the stop sequences, which are not part of the reply. A model that does not support them must
	// return an error.
	Stop []string
	// MaxOutputTokens is the most tokens that the reply may have, with its reasoning: what is left of a
	// budget. 0 means no bound but the model's own; a smaller one of the model's own stays in force. A model
	// that cannot bound its replies ignores it and says so: see [Describer].
	MaxOutputTokens int64
	// Stream receives a streamed reply as it arrives; may be nil. It has no influence on the run.
	Stream func(Delta)
}

// Last returns the newest message, or a zero one.
func (r Request) Last() (newest message.Message) {
	if len(r.Messages) > 0 {
		newest = r.Messages[len(r.Messages)-1]
	}
	return newest
}
