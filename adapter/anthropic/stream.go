package anthropic

import (
	"fmt"
	"io"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
)

// close closes the response.
func (x *exchange) close() {
	if x.open != nil {
		_ = x.open.Close()
	}
}

// readInstead reads a response that is no stream although one was requested. Gateways without streaming
// send whole replies, and errors come like this too.
func (x *exchange) readInstead() (*received, error) {
	var err error
	if x.body, err = io.ReadAll(x.response.Body); err != nil {
		return nil, err
	}
	got, err := readWhole(x.body)
	if err != nil || x.stream == nil {
		return got, err
	}
	wire.TellWhole(got.reply(x.Model), x.stream)
	return got, nil
}

// readStream reads to the end of the message. A stream that ends before is an error, and nothing of it is
// returned.
func (x *exchange) readStream(stream *eventStream) (*received, error) {
	a := assembly{tell: x.stream, calls: map[int64]int{}}
	for began := false; stream.Next(); {
		ev := stream.Current()
		if ev.Type == "message_start" {
			if began {
				return nil, &wire.UnreadableError{Got: "a stream with two messages"}
			}
			began = true
		}
		if err := a.message.Accumulate(ev); err != nil {
			return nil, &wire.UnreadableError{Got: fmt.Sprintf("a stream out of order: %v", err)}
		}
		a.take(ev)
		if ev.Type == "message_stop" {
			return a.received()
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return nil, wire.ErrEnded
}

// assembly collects a streamed reply. The SDK joins the message except for the arguments of calls: it
// replaces invalid JSON by an empty object, and retake needs what the model wrote.
type assembly struct {
	message sdk.Message
	tell    func(loop.Delta)
	// calls maps the index of a block to the index of its call; inputs are the arguments by call.
	calls  map[int64]int
	inputs []string
}

func (a *assembly) take(ev sdk.MessageStreamEventUnion) {
	switch ev.Type {
	case "content_block_start":
		a.start(ev)
	case "content_block_delta":
		a.continued(ev)
	case "content_block_stop":
		a.stopped(ev)
	}
}

func (a *assembly) start(ev sdk.MessageStreamEventUnion) {
	switch b := ev.ContentBlock; b.Type {
	case "thinking":
		a.say(loop.Delta{Thinking: b.Thinking, Call: -1})
	case "text":
		a.say(loop.Delta{Text: b.Text, Call: -1})
	case "tool_use":
		a.calls[ev.Index] = len(a.inputs)
		a.inputs = append(a.inputs, "")
		a.say(loop.Delta{Call: a.calls[ev.Index], Name: b.Name})
	}
}

func (a *assembly) continued(ev sdk.MessageStreamEventUnion) {
	switch d := ev.Delta; d.Type {
	case "text_delta":
		a.say(loop.Delta{Text: d.Text, Call: -1})
	case "thinking_delta":
		a.say(loop.Delta{Thinking: d.Thinking, Call: -1})
	case "input_json_delta":
		if n, known := a.calls[ev.Index]; known {
			a.inputs[n] += d.PartialJSON
			a.say(loop.Delta{Call: n, Arguments: d.PartialJSON})
		}
	}
}

// stopped handles arguments that came with the call itself, and calls without any: those get an empty
// object.
func (a *assembly) stopped(ev sdk.MessageStreamEventUnion) {
	if n, known := a.calls[ev.Index]; known && a.inputs[n] == "" {
		a.inputs[n] = string(a.message.Content[ev.Index].Input)
		a.say(loop.Delta{Call: n, Arguments: a.inputs[n]})
	}
}

func (a *assembly) say(d loop.Delta) {
	if a.tell != nil && d.Text+d.Thinking+d.Name+d.Arguments != "" {
		a.tell(d)
	}
}

func (a *assembly) received() (*received, error) {
	if a.message.ID == "" && a.message.Role == "" {
		return nil, &wire.UnreadableError{Got: "a stream without a message"}
	}
	return &received{message: a.message, inputs: a.inputs}, nil
}
