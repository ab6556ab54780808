package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
)

// tellWhole reads a response that is no stream although one may have been requested. Gateways without
// streaming send whole replies, and errors come like this too.
func (x *exchange) tellWhole(body io.Reader) (*received, error) {
	got, err := readWhole(body)
	if err != nil || x.stream == nil {
		return got, err
	}
	kit.TellWhole(got.reply(x.Model, ""), x.stream)
	return got, nil
}

// readStream reads to the end of the message, which comes after its stop reason. A stream that ends before is
// an error, and nothing of it is returned. Some gateways leave the last event out, or end a message by the
// mark of another API: the event with the stop reason comes after all content. The SDK would drop events
// whose type stands in their data alone, and copies all that came before for each piece.
func (x *exchange) readStream(body io.Reader) (got *received, err error) {
	a := assembly{tell: x.stream}
	marked, err := kit.Events(body, func(data []byte) (last bool, err error) {
		ev, ok := kit.ReadObject(data)
		if !ok || !json.Valid(data) {
			return false,
				&kit.UnreadableError{Got: "an event of the stream is not the JSON that the API promises"}
		}
		switch ev.Text("type") {
		case "error":
			return false, errorWithin(data)
		case "": // gateways give an error the form of another API
			if kit.IsError(ev.Get("error")) {
				return false, errorWithin(data)
			}
		case "message": // a whole message in place of a stream
			got, err = x.tellWhole(bytes.NewReader(data))
			return true, err
		case "message_start":
			switch {
			case a.began && (len(a.got.content) > 0 || !a.isOf(ev.Object("message"))):
				return false, &kit.UnreadableError{Got: "a stream with two messages"}
			case a.began: // some gateways say it twice
				return false, nil
			}
		case "message_stop":
			if a.began && a.got.stopReason() == "" {
				return true, kit.ErrEnded
			}
			got, err = a.received()
			return true, err
		}
		if err := a.take(ev); err != nil {
			return false, &kit.UnreadableError{Got: fmt.Sprintf("a stream out of order: %v", err)}
		}
		return false, nil
	})
	switch {
	case err != nil || got != nil:
		return got, err
	case a.ended, marked && a.got.stopReason() != "":
		return a.received()
	}
	return nil, kit.ErrEnded
}

// assembly collects a streamed reply.
type assembly struct {
	got  received
	tell func(loop.Delta)
	// places are those of the blocks, by the index that the server gives them: it may leave gaps, and give
	// the index of a block that is over to another one.
	places map[int64]int
	calls  int
	// began is set once the message has begun, ended once its stop reason has come at its end.
	began, ended bool
}

// isOf reports whether a message is the one that has begun.
func (a *assembly) isOf(m kit.Object) bool { return m.Text("id") == a.got.message.Text("id") }

func (a *assembly) take(ev kit.Object) error {
	index := ev.Count("index")
	n, known := a.places[index]
	switch ev.Text("type") {
	case "message_start":
		a.began, a.got.message = true, ev.Object("message")
		for n, item := range a.got.message.Items("content") {
			began, _ := kit.ReadObject(item)
			a.start(began)
			a.stopped(a.got.content[n])
		}
	case "message_delta":
		a.update(ev)
	case "content_block_start":
		switch {
		case known && !a.got.content[n].over:
			return fmt.Errorf("block %d begins twice", index)
		case !a.began:
			return fmt.Errorf("block %d begins before its message", index)
		}
		if a.places == nil {
			a.places = map[int64]int{}
		}
		a.places[index] = len(a.got.content)
		a.start(ev.Object("content_block"))
	case "content_block_delta":
		if !known {
			return fmt.Errorf("block %d has not begun", index)
		}
		a.continued(a.got.content[n], ev.Object("delta"))
	case "content_block_stop": // some gateways send the end of a block that never began, too
		if known && !a.got.content[n].over {
			a.stopped(a.got.content[n])
		}
	}
	return nil
}

// promptCounts are the counts of the prompt, and endings the members of a message that its end tells.
var (
	promptCounts = []string{"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}
	endings      = []string{"stop_reason", "stop_sequence", "stop_details", "container"}
)

// edits is the member that tells what the API cleared of the prompt. At the end of a message it stands beside
// the endings.
const edits = "context_management"

// maxCounts bounds the members of the usage: a server may name new ones in each event.
const maxCounts = 32

// update takes what is told of the whole message at its end. Null tells nothing: a second event may tell the
// usage alone. Nor do zeros in place of the counts of the prompt, which some servers send.
func (a *assembly) update(ev kit.Object) {
	m, end := &a.got.message, ev.Object("delta")
	a.ended = a.ended || a.began && end.Text("stop_reason") != ""
	if v := ev.Get(edits); v != nil {
		end = end.With(edits, v)
	}
	for _, name := range append(endings, edits) {
		if v := end.Get(name); v != nil && string(v) != "null" {
			*m = m.With(name, v)
		}
	}
	told, usage := ev.Object("usage"), m.Object("usage")
	if !slices.ContainsFunc(promptCounts, func(name string) bool { return told.Count(name) > 0 }) {
		told = told.Without(promptCounts...)
	}
	for _, c := range told {
		if string(c.Value) != "null" && (len(usage) < maxCounts || usage.Get(c.Name) != nil) {
			usage = usage.With(c.Name, c.Value)
		}
	}
	*m = m.With("usage", usage.JSON())
}

func (a *assembly) start(began kit.Object) {
	b := &contentBlock{Object: began, call: -1}
	a.got.content = append(a.got.content, b)
	switch began.Text("type") {
	case "thinking":
		a.say(loop.Delta{Thinking: began.Text("thinking"), Call: -1})
	case "text":
		a.say(loop.Delta{Text: began.Text("text"), Call: -1})
	case "tool_use":
		b.call = a.calls
		a.calls++
		a.say(loop.Delta{Call: b.call, Name: began.Text("name")})
	}
}

// continued adds a piece to a block.
func (a *assembly) continued(b *contentBlock, piece kit.Object) {
	told := loop.Delta{Call: -1}
	for _, m := range piece {
		switch m.Name {
		case "citation":
			b.cited = append(b.cited, m.Value)
		case "signature", "content": // that of a compaction
			b.grow(m.Name, m.Value)
		case "text":
			told.Text = b.grow(m.Name, m.Value)
		case "thinking":
			told.Thinking = b.grow(m.Name, m.Value)
		case arguments:
			if more := b.grow(m.Name, m.Value); b.call >= 0 {
				told.Call, told.Arguments = b.call, more
			}
		}
	}
	a.say(told)
}

// stopped handles arguments that came with the call itself, and calls without any: those get an empty
// object.
func (a *assembly) stopped(b *contentBlock) {
	b.over = true
	if b.call >= 0 && b.said(arguments) == "" {
		a.say(loop.Delta{Call: b.call, Arguments: b.arguments()})
	}
}

func (a *assembly) say(d loop.Delta) {
	if a.tell != nil && d.Text+d.Thinking+d.Name+d.Arguments != "" {
		a.tell(d)
	}
}

func (a *assembly) received() (*received, error) {
	if a.got.message.Text("id") == "" && a.got.message.Text("role") == "" {
		return nil, &kit.UnreadableError{Got: "a stream without a message"}
	}
	return &a.got, nil
}
