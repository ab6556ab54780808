package claude

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// received is a whole message of the API.
type received struct {
	// message has the members of the message; its blocks are in content.
	message kit.Object
	content []*contentBlock
	// usage sums the usage of all requests that the message took; prompt is the length of the last prompt.
	usage  message.Usage
	prompt int64
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
	m, ok := kit.ReadObject(body)
	if !ok || !json.Valid(body) {
		return nil, &kit.UnreadableError{Got: "a body that is no message of the API"}
	}
	if kit.IsError(m.Get("error")) {
		return nil, &kit.ReportedError{Body: body}
	}
	blocks, ok := blocksOf(m.Items("content"))
	if m.Text("type") != "message" || blocks == nil {
		return nil, kit.NoReply(body, &kit.UnreadableError{Got: "a body without a message"})
	}
	if !ok {
		return nil, &kit.UnreadableError{Got: "a message that cannot be read"}
	}
	return &received{message: m, content: blocks}, nil
}

// paused reports whether the API paused the turn: while it ran tools of its own, or after it summed up the
// conversation. The turn continues when the API gets back what the model said so far. A turn with calls of
// ours waits for their results instead.
func (r *received) paused() bool {
	called := slices.ContainsFunc(r.content, func(b *contentBlock) bool { return isCall(b.Object) })
	return isPause(r.stopReason()) && !called
}

func isPause(reason string) bool { return reason == "pause_turn" || reason == "compaction" }

func (r *received) stopReason() string { return r.message.Text("stop_reason") }

// container is the id of the container in which the API runs code; empty if there is none.
func (r *received) container() string { return r.message.Object("container").Text("id") }

// model returns the model that answered. At the beginning of a stream it is not known whether another one
// will take over.
func (r *received) model() string {
	for _, b := range slices.Backward(r.content) {
		if b.Text("type") == "fallback" {
			return b.Object.Object("to").Text("model")
		}
	}
	return r.message.Text("model")
}

// leaveDeclined leaves out what a model began before another one took over: its thoughts, its calls, and the
// API's own calls without a result. Nobody runs them, and the API refuses to get them back
// (https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback).
func (r *received) leaveDeclined() {
	last, answered := -1, map[string]bool{}
	for n, b := range r.content {
		if b.Text("type") == "fallback" {
			last = n
		}
		answered[b.Text("tool_use_id")] = true
	}
	var left []*contentBlock
	for n, b := range r.content {
		kind := b.Text("type")
		isBegun := isThought(b.Object) || isCall(b.Object) || kind == "connector_text" ||
			kind == "server_tool_use" && !answered[b.Text("id")]
		if n > last || !isBegun {
			left = append(left, b)
		}
	}
	r.content = left
}

// add appends the next message of a paused turn.
func (r *received) add(next *received) {
	next.leaveDeclined()
	before := r.message.Get("container")
	r.message, r.content = next.message, append(r.content, next.content...)
	if r.container() == "" && before != nil {
		r.message = r.message.With("container", before)
	}
	used, prompt := usage(next.message.Object("usage"))
	r.usage, r.prompt = r.usage.Add(used), prompt
}

// blocks returns what the model said so far, in the form that the API wants back. The API refuses blank
// texts.
func (r *received) blocks() (all []kit.Object) {
	for n, b := range r.content {
		if b.Text("type") == "text" && kit.Blank(b.said("text")) {
			if n+1 < len(r.content) && separates(all, r.content[n+1].Object) {
				all = append(all, textBlock(between))
			}
			continue
		}
		block := b.whole()
		if cited := b.citations(); cited != nil {
			block = block.With("citations", citable(cited))
		}
		all = append(all, block)
	}
	return all
}

// extra returns what the message has beside the reply.
func (r *received) extra() (x kit.Extras) {
	x.Keep(r.message.JSON(), "usage", "stop_details", "container", "input_transformations", edits)
	var content []json.RawMessage
	for _, b := range r.content {
		content = append(content, b.whole().JSON())
	}
	x.Set("content", kit.List(content...))
	return x
}

// finishOf returns why a reply ended. An unknown reason is passed on unchanged.
func finishOf(reason string, calls []message.Call) message.FinishReason {
	if isPause(reason) {
		return message.Aborted // only beside calls: see paused
	}
	if finish, known := kit.Finish(reason, calls); known {
		return finish
	}
	return message.FinishReason(reason)
}

// declined is the refusal of a model that gave none.
const declined = "The model declined to answer."

// blocked begins the ids of messages that Bedrock writes itself, because a guardrail blocks the prompt. They
// end like an answer.
const blocked = "bedrock-guardrails-"

// declines reports whether the message is no answer.
func (r *received) declines() bool {
	return r.stopReason() == "refusal" || strings.HasPrefix(r.message.Text("id"), blocked)
}

// reply converts the message. asked is the model that was asked, prefix what its thoughts are bound to.
func (r *received) reply(asked, prefix string) message.Reply {
	reply := message.Reply{Model: cmp.Or(r.model(), asked), Usage: r.usage}
	if r.prompt < r.usage.InputTokens {
		reply.PromptTokens = r.prompt
	}
	var text, thinking strings.Builder
	o := opaque{Origin: origin(asked)}
	for _, b := range r.content {
		switch b.Text("type") {
		case "text":
			said := b.said("text")
			text.WriteString(said)
			o.Blocks = append(o.Blocks, part{Text: len(said), Citations: b.citations()})
		case "tool_use":
			reply.Calls = append(reply.Calls, message.Call{ID: b.Text("id"), Name: b.Text("name"),
				Arguments: kit.Once(b.arguments())})
			o.Blocks = append(o.Blocks, part{Call: len(reply.Calls), Caller: b.caller()})
		default: // a thought, or a tool that the API ran itself
			if isThought(b.Object) {
				o.Prefix = prefix
			}
			thinking.WriteString(b.said("thinking"))
			o.Blocks = append(o.Blocks, part{Raw: b.whole().JSON()})
		}
	}
	if len(reply.Calls) > 0 {
		o.Container = r.container()
	}
	reply.Text, reply.Thinking, reply.Opaque = text.String(), thinking.String(), o.text()
	kit.NameCalls(reply.Calls)
	reply.Finish = finishOf(r.stopReason(), reply.Calls)
	if r.declines() {
		reply.Finish = message.ContentFilter
		reply.Refusal = firstWord(r.message.Object("stop_details").Text("explanation"), reply.Text, declined)
	}
	return reply
}

// apart are the types of the requests that the API makes on its own and that the counts of the whole leave
// out.
var apart = []string{"compaction", "advisor_message"}

// usage converts the counts, and returns the length of the last prompt of the model. Those of models that
// declined stand apart, and cost nothing if nothing came of them.
func usage(u kit.Object) (all message.Usage, prompt int64) {
	all = tokens(u)
	prompt = all.InputTokens
	var declined message.Usage
	for _, item := range u.Items("iterations") {
		one, _ := kit.ReadObject(item)
		used, kind := tokens(one), one.Text("type")
		switch {
		case slices.Contains(apart, kind):
			all = all.Add(used)
			continue
		case kind == "fallback_message":
			all, declined = all.Add(declined), message.Usage{}
		case used.OutputTokens > 0:
			declined = declined.Add(used)
		}
		prompt = used.InputTokens
	}
	all.APICalls = 1
	return all, prompt
}

// tokens converts the counts of a request. The API counts cached tokens apart from the input; retake counts
// them within it.
func tokens(u kit.Object) message.Usage {
	read, written := u.Count("cache_read_input_tokens"), u.Count("cache_creation_input_tokens")
	cached := message.Usage{InputTokens: read}.Add(message.Usage{InputTokens: written})
	return cached.Add(message.Usage{
		InputTokens: u.Count("input_tokens"), OutputTokens: u.Count("output_tokens"),
		CacheReadTokens: read, CacheWriteTokens: written,
		ReasoningTokens: u.Object("output_tokens_details").Count("thinking_tokens"),
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
