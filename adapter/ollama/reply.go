package ollama

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
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
	// textPieces and thoughtPieces read the pieces of both.
	textPieces, thoughtPieces kit.Pieces
	calls                     []message.Call
	usage                     message.Usage
	finish                    message.FinishReason
	// why is the API's own word for the finish.
	why    string
	done   bool
	extras kit.Extras
}

// add adds a response, or one line of a stream, and streams it.
func (g *received) add(r chatResponse, tell func(loop.Delta)) {
	g.model = cmp.Or(r.Model, g.model)
	d := loop.Delta{Call: -1, Text: g.textPieces.Add(json.RawMessage(r.Message.Content)),
		Thinking: g.thoughtPieces.Add(json.RawMessage(r.Message.Thinking))}
	g.text.WriteString(d.Text)
	g.thinking.WriteString(d.Thinking)
	if d.Text+d.Thinking != "" {
		tell(d)
	}
	for _, c := range r.Message.ToolCalls {
		call := message.Call{ID: c.ID, Name: c.Function.Name, Arguments: argumentText(c.Function.Arguments)}
		tell(loop.Delta{Call: len(g.calls), Name: call.Name, Arguments: call.Arguments})
		g.calls = append(g.calls, call)
	}
	if r.Done {
		g.done, g.why, g.finish = true, r.DoneReason, finishes[r.DoneReason]
		g.usage = message.Usage{InputTokens: max(r.PromptEvalCount, 0), OutputTokens: max(r.EvalCount, 0)}
	}
}

// argumentText returns the arguments of a call as text. Servers that only resemble Ollama send them as a
// string.
func argumentText(raw json.RawMessage) string {
	if s, isText := kit.ReadText(raw); isText {
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
		Text: g.text.String(), Thinking: g.thinking.String(), Calls: kit.NameCalls(g.calls),
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

// read parses JSON values up to the one that ends the reply: one of a whole reply, a line each of a stream.
// JSON that is cut off means a broken connection, not garbage.
func (x *exchange) read(body io.Reader) (*received, error) {
	got, values := &received{}, json.NewDecoder(body)
	for began := false; !got.done; began = true {
		var raw json.RawMessage
		err := values.Decode(&raw)
		_, garbage := errors.AsType[*json.SyntaxError](err)
		switch {
		case garbage:
			return nil, errNoJSON
		case errors.Is(err, io.EOF) && began && x.stream == nil:
			return nil, &kit.UnreadableError{Got: "a reply that is not done"}
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, kit.ErrEnded
		case err != nil:
			return nil, err
		}
		if err := x.take(raw, got); err != nil {
			return nil, err
		}
	}
	return got, nil
}

var errNoJSON = &kit.UnreadableError{Got: "no JSON of a reply"}

// take parses one JSON value, which may be an error.
func (x *exchange) take(raw []byte, got *received) error {
	var r chatResponse
	if json.Unmarshal(raw, &r) != nil {
		return errNoJSON
	}
	if kit.IsError(r.Error) {
		return &kit.ReportedError{Body: bytes.Clone(raw)}
	}
	tell := x.stream
	if tell == nil {
		tell = func(loop.Delta) {}
	}
	got.add(r, tell)
	if r.Done {
		got.extras.Keep(raw, "total_duration", "load_duration", "prompt_eval_duration", "eval_duration", "logprobs")
	}
	return nil
}
