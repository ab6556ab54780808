package ollama

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// finishes maps finish reasons. Any other counts as "not said".
var finishes = map[string]message.FinishReason{"stop": message.Stop, "length": message.Length}

// received collects a reply.
type received struct {
	model    string
	text     strings.Builder
	thinking strings.Builder
	calls    []message.Call
	usage    message.Usage
	finish   message.FinishReason
	done     bool
}

// add adds a response, or one line of a stream, and streams it.
func (g *received) add(r chatResponse, tell func(loop.Delta)) {
	g.model = cmp.Or(r.Model, g.model)
	g.text.WriteString(r.Message.Content)
	g.thinking.WriteString(r.Message.Thinking)
	if d := (loop.Delta{Call: -1, Text: r.Message.Content,
		Thinking: r.Message.Thinking}); d.Text+d.Thinking != "" {
		tell(d)
	}
	for _, c := range r.Message.ToolCalls {
		call := message.Call{ID: c.ID, Name: c.Function.Name, Arguments: argumentText(c.Function.Arguments)}
		tell(loop.Delta{Call: len(g.calls), Name: call.Name, Arguments: call.Arguments})
		g.calls = append(g.calls, call)
	}
	if r.Done {
		g.done, g.finish = true, finishes[r.DoneReason]
		g.usage = message.Usage{InputTokens: max(r.PromptEvalCount, 0), OutputTokens: max(r.EvalCount, 0)}
	}
}

// argumentText returns the arguments of a call as text. Servers that only resemble Ollama send them as a
// string.
func argumentText(raw json.RawMessage) string {
	if s, isText := wire.ReadText(raw); isText {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// reply returns the reply. asked is the model that was asked.
func (g *received) reply(asked string) message.Reply {
	r := message.Reply{
		Text: g.text.String(), Thinking: g.thinking.String(), Calls: wire.NameCalls(g.calls),
		Finish: g.finish, Usage: g.usage,
		Model:  cmp.Or(g.model, asked),
		Opaque: keepThoughts(asked, g.thinking.String()),
	}
	r.Usage.APICalls = 1
	if len(r.Calls) > 0 && r.Finish == message.Stop {
		r.Finish = message.ToolUse
	}
	return r
}

// readWhole parses a response that is no stream.
func (x *exchange) readWhole(body io.Reader) (*received, error) {
	raw, err := wire.ReadWhole(body)
	if err != nil {
		return nil, err
	}
	got := &received{}
	if err := x.take(raw, got, func(loop.Delta) {}); err != nil {
		return nil, err
	}
	if !got.done {
		return nil, &wire.UnreadableError{Got: "a reply that is not done"}
	}
	return got, nil
}

// readStream reads lines up to the one that ends the reply. JSON that is cut off means a broken
// connection, not garbage.
func (x *exchange) readStream(body io.Reader) (*received, error) {
	got := &received{}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, wire.MaxReply+2) // the body ends before a line is too long
	var whole bool
	lines.Split(func(data []byte, end bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, end)
		whole = n > 0 && data[n-1] == '\n'
		return n, line, err
	})
	for !got.done && lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		err := x.take(line, got, x.stream)
		if _, unreadable := errors.AsType[*wire.UnreadableError](err); unreadable && !whole &&
			line[0] == '{' {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if got.done {
		return got, nil
	}
	return nil, cmp.Or(lines.Err(), wire.ErrEnded)
}

// take parses one JSON value, which may be an error.
func (x *exchange) take(raw []byte, got *received, tell func(loop.Delta)) error {
	var r chatResponse
	if json.Unmarshal(raw, &r) != nil {
		return &wire.UnreadableError{Got: "no JSON of a reply"}
	}
	if wire.IsError(r.Error) {
		return &wire.ReportedError{Body: bytes.Clone(raw)}
	}
	got.add(r, tell)
	return nil
}
