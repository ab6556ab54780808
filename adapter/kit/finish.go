package kit

import (
	"fmt"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
)

// finishes are the words of all providers for why a reply ended, in small letters: gateways pass them on.
var finishes = byWord(map[string]message.FinishReason{
	"stop end_turn stop_sequence eos eos_token end complete": message.Stop,
	"tool_calls tool_use tool_call function_call":            message.ToolUse,

	"length max_tokens max_output_tokens model_length model_context_window_exceeded error_limit " +
		"continuation": message.Length,
	"content_filter refusal sensitive safety recitation blocklist prohibited_content spii " +
		"image_safety image_prohibited_content image_recitation model_armor guardrail_intervened " +
		"content_filtered error_toxic": message.ContentFilter,
})

// byWord is a table with a row for each word of the keys of rows.
func byWord[V any](rows map[string]V) map[string]V {
	all := map[string]V{}
	for words, row := range rows {
		for word := range strings.FieldsSeq(words) {
			all[word] = row
		}
	}
	return all
}

// Finish returns why a reply with some calls ended, by the word of any provider; false for an unknown word.
// Google's words over OpenAI's API have a reason after a colon. Some gateways write hyphens.
func Finish(word string, calls []message.Call) (finish message.FinishReason, known bool) {
	word, _, _ = strings.Cut(strings.ToLower(word), ":")
	finish, known = finishes[strings.ReplaceAll(word, "-", "_")]
	if finish == message.Stop && len(calls) > 0 {
		finish = message.ToolUse
	}
	return finish, known
}

// unusable are the finish reasons of replies that their own provider could not read or refused, and the issue
// that the model is shown.
var unusable = byWord(map[string]fault.Issue{
	"malformed_function_call malformed_tool_use": {Rule: fault.RuleSyntax,
		Expected: "a function call that can be read", Source: fault.FromReply},
	"malformed_response malformed_model_output": {Rule: fault.RuleSyntax,
		Expected: "a reply that can be read", Source: fault.FromReply},
	"unexpected_tool_call": {Rule: fault.RuleUnknownTool,
		Expected: "a call of a function that is on offer", Source: fault.FromReply},
	"too_many_tool_calls": {Rule: fault.RuleTooManyCalls, Expected: "fewer function calls",
		Source: fault.FromReply},
})

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
