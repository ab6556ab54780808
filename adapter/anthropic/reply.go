package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

// received is a message of the API, whole.
type received struct {
	message sdk.Message
	// inputs are the arguments of the calls as they were streamed, in the order of the calls; an empty one,
	// and all of a message that was not streamed, stand in the message.
	inputs []string
}

// readWhole reads a message that came whole. What is no message is no reply, whatever its status.
func readWhole(body []byte) (*received, error) {
	if wire.Cut(body) {
		return nil, wire.ErrEnded
	}
	var head struct {
		Type    string            `json:"type"`
		Content []json.RawMessage `json:"content"`
		Error   json.RawMessage   `json:"error"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, &wire.UnreadableError{Got: "a body that is no message of the API"}
	}
	if wire.IsError(head.Error) {
		return nil, &wire.ToldError{Body: body}
	}
	if head.Type != "message" || head.Content == nil {
		return nil, &wire.UnreadableError{Got: "a body without a message"}
	}
	var m sdk.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, &wire.UnreadableError{Got: "a message that cannot be read"}
	}
	return &received{message: m}, nil
}

// finishes are the reasons to stop in retake's words. One that is not here is passed on as it came.
var finishes = map[sdk.StopReason]message.FinishReason{
	sdk.StopReasonEndTurn:                    message.Stop,
	sdk.StopReasonStopSequence:               message.Stop,
	sdk.StopReasonToolUse:                    message.ToolUse,
	sdk.StopReasonMaxTokens:                  message.Length,
	sdk.StopReasonModelContextWindowExceeded: message.Length,
	sdk.StopReasonRefusal:                    message.ContentFilter,
	sdk.StopReasonPauseTurn:                  message.Aborted,
}

// declined stands for a refusal without a word.
const declined = "The model declined to answer."

// reply is the message in retake's words; asked is the model that was asked.
func (r *received) reply(asked string) message.Reply {
	m := r.message
	reply := message.Reply{Model: string(m.Model), Finish: message.FinishReason(m.StopReason), Usage: usage(m.Usage)}
	if known, ok := finishes[m.StopReason]; ok {
		reply.Finish = known
	}
	var text, thinking strings.Builder
	o := opaque{Adapter: name, Model: asked}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
			o.Blocks = append(o.Blocks, part{Text: len(b.Text)})
		case "tool_use":
			reply.Calls = append(reply.Calls, message.Call{ID: b.ID, Name: b.Name, Arguments: r.input(len(reply.Calls), b)})
			o.Blocks = append(o.Blocks, part{Call: len(reply.Calls)})
		default:
			thinking.WriteString(b.Thinking)
			o.Blocks = append(o.Blocks, part{Raw: json.RawMessage(b.RawJSON())})
		}
	}
	reply.Text, reply.Thinking, reply.Opaque = text.String(), thinking.String(), o.text()
	wire.NameCalls(reply.Calls)
	if m.StopReason == sdk.StopReasonRefusal {
		reply.Refusal = firstWord(m.StopDetails.Explanation, reply.Text, declined)
	}
	return reply
}

func (r *received) input(n int, b sdk.ContentBlockUnion) string {
	if n < len(r.inputs) && r.inputs[n] != "" {
		return r.inputs[n]
	}
	return string(b.Input)
}

// usage makes the counts comparable: the API counts what is read from and written to the cache apart from the
// input, others within it.
func usage(u sdk.Usage) message.Usage {
	read, written := max(u.CacheReadInputTokens, 0), max(u.CacheCreationInputTokens, 0)
	return message.Usage{
		InputTokens: max(u.InputTokens, 0) + read + written, OutputTokens: max(u.OutputTokens, 0),
		CacheReadTokens: read, CacheWriteTokens: written, APICalls: 1,
		ReasoningTokens: max(u.OutputTokensDetails.ThinkingTokens, 0),
	}
}

// firstWord is the first text that says anything.
func firstWord(texts ...string) string {
	for _, text := range texts {
		if !wire.Blank(text) {
			return text
		}
	}
	return ""
}
