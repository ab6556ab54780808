package eino

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/compose"
	einoschema "github.com/cloudwego/eino/schema"

	"github.com/retake-go/retake/adapter/kit/turns"
	retake "github.com/retake-go/retake/message"
)

type message = retake.Message

// passed reports whether an error is Eino's own way to pause a run.
func passed(err error) bool {
	if err == nil {
		return false
	}
	if _, ok := compose.ExtractInterruptInfo(err); ok {
		return true
	}
	_, ok := compose.IsInterruptRerunError(err)
	return ok
}

// judge passes a reply or an error to the core. A stream that broke is an error, and its pieces are not
// used.
func (r *Run) judge(ctx context.Context, out *einoschema.Message, cause error) (turns.Verdict, error) {
	if cause != nil {
		return r.of.Failed(ctx, cause)
	}
	return r.of.Reply(ctx, reply(out))
}

var finishes = map[string]retake.FinishReason{
	"stop": retake.Stop, "end_turn": retake.Stop, "length": retake.Length, "max_tokens": retake.Length,
	"tool_calls": retake.ToolUse, "tool_use": retake.ToolUse, "content_filter": retake.ContentFilter,
	"safety": retake.ContentFilter,
}

// reply converts a message of Eino; nil gives an empty reply.
func reply(m *einoschema.Message) retake.Reply {
	r := retake.Reply{Usage: retake.Usage{APICalls: 1}}
	if m == nil {
		return r
	}
	r.Text, r.Thinking, r.Calls = textOf(m), m.ReasoningContent, callsOf(m)
	meta := m.ResponseMeta
	if meta == nil {
		return r
	}
	r.Finish, r.Source.Finish = finishes[strings.ToLower(meta.FinishReason)], meta.FinishReason
	if u := meta.Usage; u != nil {
		r.Usage.InputTokens, r.Usage.OutputTokens = int64(u.PromptTokens), int64(u.CompletionTokens)
		r.Usage.ReasoningTokens = int64(u.CompletionTokensDetails.ReasoningTokens)
		r.Usage.CacheReadTokens = int64(u.PromptTokenDetails.CachedTokens)
	}
	return r
}

// textOf returns the text of a message. Other parts get a placeholder, so that a reply of them alone is
// not empty.
func textOf(m *einoschema.Message) string {
	if m.Content != "" {
		return m.Content
	}
	var texts []string
	for _, p := range m.AssistantGenMultiContent {
		if p.Type == einoschema.ChatMessagePartTypeText {
			texts = append(texts, p.Text)
		} else {
			texts = append(texts, "["+string(p.Type)+"]")
		}
	}
	return strings.Join(texts, "\n")
}

func callsOf(m *einoschema.Message) []retake.Call {
	var calls []retake.Call
	for _, c := range m.ToolCalls {
		calls = append(calls, retake.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return calls
}

// saidBefore converts the conversation that a run begins with.
func saidBefore(in []*einoschema.Message) []message {
	said := make([]message, 0, len(in))
	for _, m := range in {
		text, parts := textOf(m), inputParts(m.UserInputMultiContent)
		if text == "" {
			text, parts = split(parts)
		}
		said = append(said, message{
			Role: retake.Role(m.Role), Text: text, Parts: parts, Calls: callsOf(m), CallID: m.ToolCallID,
			Name: m.ToolName,
		})
	}
	return said
}

// sayAgain converts the core's answer to a reply: the reply itself, an answer to each call, and the
// feedback.
func sayAgain(said []message, out *einoschema.Message) []*einoschema.Message {
	var all []*einoschema.Message
	answered := 0
	for _, m := range said {
		switch m.Role {
		case retake.Assistant:
			shown := *out
			shown.ToolCalls = out.ToolCalls[:len(m.Calls)] // the core leaves some out of a reply with too many
			all = append(all, &shown)
		case retake.Tool:
			id := out.ToolCalls[answered].ID // the core gives a call without an id one
			all = append(all, einoschema.ToolMessage(m.Text, id, einoschema.WithToolName(m.Name)))
			answered++
		default:
			all = append(all, einoschema.UserMessage(m.Text))
		}
	}
	return all
}
