package kit

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
)

// finishes are the words of all providers for why a reply ended, in small letters: gateways pass them on.
var finishes = map[string]message.FinishReason{
	"stop": message.Stop, "end_turn": message.Stop, "stop_sequence": message.Stop, "eos_token": message.Stop,
	"complete":   message.Stop,
	"tool_calls": message.ToolUse, "tool_use": message.ToolUse, "function_call": message.ToolUse,
	"tool-calls": message.ToolUse,
	"length":     message.Length, "max_tokens": message.Length, "max_output_tokens": message.Length,
	"model_length": message.Length, "model_context_window_exceeded": message.Length,
	"continuation":   message.Length,
	"content_filter": message.ContentFilter, "content-filter": message.ContentFilter,
	"refusal": message.ContentFilter, "sensitive": message.ContentFilter, "safety": message.ContentFilter,
	"recitation": message.ContentFilter, "blocklist": message.ContentFilter,
	"prohibited_content": message.ContentFilter, "spii": message.ContentFilter,
	"image_safety": message.ContentFilter, "image_prohibited_content": message.ContentFilter,
	"image_recitation": message.ContentFilter, "model_armor": message.ContentFilter,
}

// Finish returns why a reply with some calls ended, by the word of any provider; false for an unknown word.
// Google's words over OpenAI's API have a reason after a colon.
func Finish(word string, calls []message.Call) (finish message.FinishReason, known bool) {
	word, _, _ = strings.Cut(strings.ToLower(word), ":")
	finish, known = finishes[word]
	if finish == message.Stop && len(calls) > 0 {
		finish = message.ToolUse
	}
	return finish, known
}

// unusable are the finish reasons of replies that their own provider could not read or refused, and the issue
// that the model is shown.
var unusable = map[string]fault.Issue{
	"malformed_function_call": {Rule: fault.RuleSyntax, Expected: "a function call that can be read",
		Source: fault.FromReply},
	"malformed_response": {Rule: fault.RuleSyntax, Expected: "a reply that can be read",
		Source: fault.FromReply},
	"unexpected_tool_call": {Rule: fault.RuleUnknownTool,
		Expected: "a call of a function that is on offer", Source: fault.FromReply},
	"too_many_tool_calls": {Rule: fault.RuleTooManyCalls, Expected: "fewer function calls",
		Source: fault.FromReply},
}

// garbled are the beginnings of what servers (Ollama, llama.cpp) say of a call that they could not parse.
var garbled = []string{"error parsing tool call:", "llama-server returned invalid tool call arguments",
	"invalid tool call:", "XML syntax error on line", "failed to parse XML:", "expected element type <",
	"Failed to parse input at pos", "The model produced output that does not match the expected"}

// unusableError is a reply that its own provider could not read or refused. There is no call to answer, so
// that the feedback is a user message.
type unusableError struct {
	finish, sentence string
	issue            fault.Issue
}

func (e *unusableError) Error() string { return fmt.Sprintf("%s: %s", e.finish, e.sentence) }

// Unusable returns the error of a reply whose finish reason says that its own provider could not read it or
// refused its calls; nil for any other. sentence is what the provider says of it. The model is told.
func Unusable(finish, sentence string) error {
	word := strings.ToLower(finish[strings.LastIndex(finish, ":")+1:])
	issue, is := unusable[strings.TrimSpace(word)]
	if !is {
		return nil
	}
	return &unusableError{finish, sentence, issue}
}

// garbledCall returns the issue that the model is shown where a server says that it could not parse its call:
// the same request would fail the same way. It is nil for any other message.
func garbledCall(sentence string) *fault.Issue {
	for _, start := range garbled {
		if strings.HasPrefix(sentence, start) {
			return &fault.Issue{Rule: fault.RuleSyntax,
				Expected: "a tool call whose arguments are one JSON object", Source: fault.FromReply}
		}
	}
	return nil
}
