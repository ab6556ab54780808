package ollama

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
)

// wireReply is the message of a response.
type wireReply struct {
	Content   kit.Piece  `json:"content"`
	Thinking  kit.Piece  `json:"thinking"`
	ToolCalls []wireCall `json:"tool_calls"`
}

// chatResponse is a whole response, or one line of a stream.
type chatResponse struct {
	Model           string          `json:"model"`
	Message         wireReply       `json:"message"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount json.RawMessage `json:"prompt_eval_count"`
	CachedCount     json.RawMessage `json:"prompt_eval_cached_count"`
	EvalCount       json.RawMessage `json:"eval_count"`
	Error           json.RawMessage `json:"error"`
}

// ends reports whether it is the last line. Some servers give only the reason.
func (r chatResponse) ends() bool { return r.Done || r.DoneReason != "" }

// received collects a reply.
type received struct {
	model    string
	text     strings.Builder
	thinking strings.Builder
	// textPieces and thoughtPieces read the pieces of both.
	textPieces, thoughtPieces kit.Pieces
	calls                     []message.Call
	usage                     message.Usage
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
		call := message.Call{ID: c.ID, Name: c.Function.Name,
			Arguments: kit.ArgumentText(c.Function.Arguments)}
		tell(loop.Delta{Call: len(g.calls), Name: call.Name, Arguments: call.Arguments})
		g.calls = append(g.calls, call)
	}
	if r.ends() {
		g.done, g.why = true, r.DoneReason
		prompt := kit.Count(r.PromptEvalCount)
		g.usage = message.Usage{InputTokens: prompt, CacheReadTokens: min(kit.Count(r.CachedCount), prompt),
			OutputTokens: kit.Count(r.EvalCount)}
	}
}

// isUnasked reports whether the server has not asked the model.
func (g *received) isUnasked() bool {
	return (g.why == "load" || g.why == "unload") && g.text.Len()+g.thinking.Len()+len(g.calls) == 0
}

// reply returns the reply. asked is the model that was asked.
func (g *received) reply(asked string) message.Reply {
	finish, _ := kit.Finish(g.why, g.calls)
	r := message.Reply{
		Text: g.text.String(), Thinking: g.thinking.String(), Calls: kit.NameCalls(g.calls),
		Finish: finish, Usage: g.usage,
		Model:  cmp.Or(g.model, asked),
		Opaque: keepThoughts(origin(asked), g.thinking.String()),
	}
	r.Usage.APICalls = 1
	return r
}
