package anthropic

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// received is a whole message of the API.
type received struct {
	message sdk.Message
	// inputs are the streamed arguments of the calls, in the order of the calls. If one is empty, or the
	// message was not streamed, the message has them.
	inputs []string
	// usage sums the usage of all requests that the message took.
	usage message.Usage
	// source is where the message came from.
	source message.Source
}

// readWhole parses a message that was not streamed. Anything else than a message is an error, whatever its
// status.
func readWhole(in io.Reader) (*received, error) {
	body, err := kit.ReadWhole(in)
	if err != nil {
		return nil, err
	}
	var head struct {
		Type    string            `json:"type"`
		Content []json.RawMessage `json:"content"`
		Error   json.RawMessage   `json:"error"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, &kit.UnreadableError{Got: "a body that is no message of the API"}
	}
	if kit.IsError(head.Error) {
		return nil, &kit.ReportedError{Body: body}
	}
	if head.Type != "message" || head.Content == nil {
		return nil, kit.NoReply(body, &kit.UnreadableError{Got: "a body without a message"})
	}
	var m sdk.Message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, &kit.UnreadableError{Got: "a message that cannot be read"}
	}
	return &received{message: m}, nil
}

// paused reports whether the API paused the turn while it ran tools of its own. The turn continues when
// the API gets back what the model said so far. A turn with calls of ours waits for their results instead.
func (r *received) paused() bool {
	called := slices.ContainsFunc(r.message.Content,
		func(b sdk.ContentBlockUnion) bool { return b.Type == "tool_use" })
	return r.message.StopReason == sdk.StopReasonPauseTurn && !called
}

// add appends the next message of a paused turn.
func (r *received) add(next *received) {
	before := r.message
	r.message, r.inputs = next.message, append(r.inputs, next.inputs...)
	r.message.Content = slices.Concat(before.Content, next.message.Content)
	if r.message.Container.ID == "" {
		r.message.Container = before.Container
	}
	r.usage = r.usage.Add(usage(next.message.Usage))
}

// blocks returns what the model said so far, in the form that the API wants back. The API refuses empty
// texts.
func (r *received) blocks() (all []sdk.ContentBlockParamUnion) {
	for _, b := range r.message.Content {
		if b.Type != "text" || !kit.Blank(b.Text) {
			all = append(all, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(b.RawJSON())))
		}
	}
	return all
}

// finishOf returns why a reply ended. An unknown reason is passed on unchanged.
func finishOf(reason sdk.StopReason, calls []message.Call) message.FinishReason {
	if reason == sdk.StopReasonPauseTurn {
		return message.Aborted // only beside calls: see paused
	}
	if finish, known := kit.Finish(string(reason), calls); known {
		return finish
	}
	return message.FinishReason(reason)
}

// declined is the refusal of a model that gave none.
const declined = "The model declined to answer."

// reply converts the message. asked is the model that was asked.
func (r *received) reply(asked string) message.Reply {
	m := r.message
	reply := message.Reply{Model: cmp.Or(string(m.Model), asked), Usage: r.usage}
	var text, thinking strings.Builder
	o := opaque{Origin: origin(asked)}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
			o.Blocks = append(o.Blocks, part{Text: len(b.Text), Citations: citations(b)})
		case "tool_use":
			reply.Calls = append(reply.Calls, message.Call{ID: b.ID, Name: b.Name,
				Arguments: r.input(len(reply.Calls), b)})
			o.Blocks = append(o.Blocks, part{Call: len(reply.Calls), Caller: caller(b)})
		default: // a thought, or a tool that the API ran itself
			thinking.WriteString(b.Thinking)
			o.Blocks = append(o.Blocks, part{Raw: json.RawMessage(b.RawJSON())})
		}
	}
	if len(reply.Calls) > 0 {
		o.Container = m.Container.ID
	}
	reply.Text, reply.Thinking, reply.Opaque = text.String(), thinking.String(), o.text()
	kit.NameCalls(reply.Calls)
	reply.Finish = finishOf(m.StopReason, reply.Calls)
	if m.StopReason == sdk.StopReasonRefusal {
		reply.Refusal = firstWord(m.StopDetails.Explanation, reply.Text, declined)
	}
	return reply
}

// citations returns what a text cites; nil for nothing.
func citations(b sdk.ContentBlockUnion) json.RawMessage {
	block, _ := kit.ReadObject([]byte(b.RawJSON()))
	if cited := block.Get("citations"); len(kit.Items(cited)) > 0 {
		return cited
	}
	return nil
}

// caller returns the code that made a call; nil if the model made it itself.
func caller(b sdk.ContentBlockUnion) json.RawMessage {
	block, _ := kit.ReadObject([]byte(b.RawJSON()))
	made := block.Get("caller")
	by, _ := kit.ReadObject(made)
	if t := by.Text("type"); t == "" || t == "direct" {
		return nil
	}
	return made
}

func (r *received) input(n int, b sdk.ContentBlockUnion) string {
	if n < len(r.inputs) && r.inputs[n] != "" {
		return kit.Once(r.inputs[n])
	}
	return kit.ArgumentText(b.Input)
}

// usage converts the counts. The API counts cached tokens apart from the input; retake counts them within
// it.
func usage(u sdk.Usage) message.Usage {
	read, written := max(u.CacheReadInputTokens, 0), max(u.CacheCreationInputTokens, 0)
	cached := message.Usage{InputTokens: read}.Add(message.Usage{InputTokens: written})
	return cached.Add(message.Usage{
		InputTokens: max(u.InputTokens, 0), OutputTokens: max(u.OutputTokens, 0),
		CacheReadTokens: read, CacheWriteTokens: written, APICalls: 1,
		ReasoningTokens: max(u.OutputTokensDetails.ThinkingTokens, 0),
	})
}

// firstWord returns the first text that is not blank.
func firstWord(texts ...string) string {
	for _, text := range texts {
		if !kit.Blank(text) {
			return text
		}
	}
	return ""
}
