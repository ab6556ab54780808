package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
)

// close closes the response.
func (x *exchange) close() {
	if x.open != nil {
		_ = x.open.Close()
	}
}

// tellWhole reads a response that is no stream although one may have been requested. Gateways without
// streaming send whole replies, and errors come like this too.
func (x *exchange) tellWhole(body io.Reader) (*received, error) {
	got, err := readWhole(body)
	if err != nil || x.stream == nil {
		return got, err
	}
	kit.TellWhole(got.reply(x.Model), x.stream)
	return got, nil
}

// readStream reads to the end of the message. A stream that ends before is an error, and nothing of it is
// returned. Some gateways end a message by the mark of another API, after its stop reason. The SDK would drop
// events whose type stands in their data alone.
func (x *exchange) readStream(body io.Reader) (got *received, err error) {
	a := assembly{tell: x.stream}
	marked, err := kit.Events(body, func(data []byte) (last bool, err error) {
		var ev sdk.MessageStreamEventUnion
		if json.Unmarshal(data, &ev) != nil {
			return false,
				&kit.UnreadableError{Got: "an event of the stream is not the JSON that the API promises"}
		}
		switch ev.Type {
		case "error":
			return false, errorWithin(data)
		case "": // gateways give an error the form of another API
			if o, _ := kit.ReadObject(data); kit.IsError(o.Get("error")) {
				return false, errorWithin(data)
			}
		case "message": // a whole message in place of a stream
			got, err = x.tellWhole(bytes.NewReader(data))
			return true, err
		case "message_start":
			if a.began {
				return false, &kit.UnreadableError{Got: "a stream with two messages"}
			}
			a.began = true
		}
		if err := a.take(ev); err != nil {
			return false, &kit.UnreadableError{Got: fmt.Sprintf("a stream out of order: %v", err)}
		}
		if ev.Type == "message_stop" {
			got, err = a.received()
			return true, err
		}
		return false, nil
	})
	switch {
	case err != nil || got != nil:
		return got, err
	case marked && a.message.StopReason != "":
		if err = a.take(sdk.MessageStreamEventUnion{Type: "message_stop"}); err == nil {
			got, err = a.received()
		}
		return got, err
	}
	return nil, kit.ErrEnded
}

// errorWithin is the error that an event of a stream tells.
func errorWithin(event []byte) error {
	return &kit.ReportedError{Body: bytes.Clone(event), Say: "an error within the stream"}
}

// assembly collects a streamed reply. The SDK joins the message except for the pieces of its blocks: it
// copies all that came before for each piece, and replaces invalid JSON of a call by an empty object.
type assembly struct {
	message sdk.Message
	tell    func(loop.Delta)
	blocks  []*growing
	// places are those of the blocks, by the index that the server gives them: it may leave gaps, and give
	// the index of a block that is over to another one.
	places map[int64]int
	calls  int
	// began is set once the message has begun.
	began bool
}

// growing collects the pieces of one block of content.
type growing struct {
	text, thinking, signature, input strings.Builder
	// pieces reads the pieces of the text, the thought or the arguments: a block has one of them.
	pieces kit.Pieces
	// call is the index of the call; -1 if the block is none.
	call int
	// over is set once the block has ended.
	over bool
}

func (a *assembly) take(ev sdk.MessageStreamEventUnion) error {
	n, known, err := a.place(ev)
	if err != nil || !known {
		return err
	}
	ev.Index = int64(n) // the SDK knows no gaps
	switch ev.Type {
	case "content_block_delta":
		if ev.Delta.Type != "citations_delta" {
			a.continued(a.blocks[n], ev.Delta)
			return nil
		}
	case "content_block_stop":
		a.blocks[n].over = true
		a.join(n)
	case "message_stop":
		for n := range a.blocks { // some servers leave out that a block has ended
			a.join(n)
		}
	}
	before := a.message
	if err := a.message.Accumulate(ev); err != nil {
		return err
	}
	switch ev.Type {
	case "message_delta":
		keepPrompt(&a.message.Usage, before.Usage, ev.Usage)
		if a.message.StopReason == "" { // a second event tells the usage alone
			a.message.StopReason, a.message.StopDetails = before.StopReason, before.StopDetails
		}
	case "content_block_start":
		a.start(ev.ContentBlock)
	case "content_block_stop":
		a.stopped(n)
	}
	return nil
}

// place returns the place among the blocks of an event about one; 0 for other events. known is false for the
// end of a block that never began, which some gateways send, or that is over: the SDK copies the block at
// each.
func (a *assembly) place(ev sdk.MessageStreamEventUnion) (n int, known bool, err error) {
	if !strings.HasPrefix(ev.Type, "content_block_") {
		return 0, true, nil
	}
	n, known = a.places[ev.Index]
	switch {
	case ev.Type == "content_block_start" && known && !a.blocks[n].over:
		err = fmt.Errorf("block %d begins twice", ev.Index)
	case ev.Type == "content_block_start" && !a.began: // the SDK would forget it when the message begins
		err = fmt.Errorf("block %d begins before its message", ev.Index)
	case ev.Type == "content_block_start":
		if a.places == nil {
			a.places = map[int64]int{}
		}
		n, known = len(a.blocks), true
		a.places[ev.Index] = n
	case ev.Type == "content_block_stop" && known:
		known = !a.blocks[n].over
	case ev.Type == "content_block_delta" && !known:
		err = fmt.Errorf("block %d has not begun", ev.Index)
	}
	return n, known, err
}

// keepPrompt keeps the counts of the prompt where the last event tells zeros in their place, as some servers
// do.
func keepPrompt(now *sdk.Usage, before sdk.Usage, told sdk.MessageDeltaUsage) {
	if told.InputTokens+told.CacheReadInputTokens+told.CacheCreationInputTokens != 0 {
		return
	}
	now.InputTokens, now.CacheReadInputTokens = before.InputTokens, before.CacheReadInputTokens
	now.CacheCreationInputTokens = before.CacheCreationInputTokens
}

func (a *assembly) start(began sdk.ContentBlockStartEventContentBlockUnion) {
	b := &growing{call: -1}
	a.blocks = append(a.blocks, b)
	b.text.WriteString(began.Text)
	b.thinking.WriteString(began.Thinking)
	b.signature.WriteString(began.Signature)
	switch began.Type {
	case "thinking":
		a.say(loop.Delta{Thinking: began.Thinking, Call: -1})
	case "text":
		a.say(loop.Delta{Text: began.Text, Call: -1})
	case "tool_use":
		b.call = a.calls
		a.calls++
		a.say(loop.Delta{Call: b.call, Name: began.Name})
	}
}

func (a *assembly) continued(b *growing, d sdk.MessageStreamEventUnionDelta) {
	switch d.Type {
	case "text_delta":
		text := b.pieces.Add(json.RawMessage(d.JSON.Text.Raw()))
		b.text.WriteString(text)
		a.say(loop.Delta{Text: text, Call: -1})
	case "thinking_delta":
		thought := b.pieces.Add(json.RawMessage(d.JSON.Thinking.Raw()))
		b.thinking.WriteString(thought)
		a.say(loop.Delta{Thinking: thought, Call: -1})
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		input := b.pieces.Add(json.RawMessage(d.JSON.PartialJSON.Raw()))
		b.input.WriteString(input)
		if b.call >= 0 {
			a.say(loop.Delta{Call: b.call, Arguments: input})
		}
	}
}

// join puts the pieces of a block into the message.
func (a *assembly) join(n int) {
	b, c := a.blocks[n], &a.message.Content[n]
	c.Text, c.Thinking, c.Signature = b.text.String(), b.thinking.String(), b.signature.String()
	if b.input.Len() > 0 {
		c.Input = json.RawMessage(b.input.String())
	}
}

// stopped handles arguments that came with the call itself, and calls without any: those get an empty
// object.
func (a *assembly) stopped(n int) {
	if b := a.blocks[n]; b.call >= 0 && b.input.Len() == 0 {
		b.input.WriteString(kit.ArgumentText(a.message.Content[n].Input))
		a.say(loop.Delta{Call: b.call, Arguments: b.input.String()})
	}
}

func (a *assembly) say(d loop.Delta) {
	if a.tell != nil && d.Text+d.Thinking+d.Name+d.Arguments != "" {
		a.tell(d)
	}
}

func (a *assembly) received() (*received, error) {
	if a.message.ID == "" && a.message.Role == "" {
		return nil, &kit.UnreadableError{Got: "a stream without a message"}
	}
	inputs := make([]string, a.calls)
	for _, b := range a.blocks {
		if b.call >= 0 {
			inputs[b.call] = b.input.String()
		}
	}
	return &received{message: a.message, inputs: inputs}, nil
}
