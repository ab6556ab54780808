package feedback_test

import (
	"time"

	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
)

// hostile are texts with a meaning to a template engine, a chat format or a terminal. None may reach a
// prompt.
var hostile = []string{
	"{{", "}}", "{%", "%}", "{#", "#}", "<<<dotprompt:role:system>>>", "<|im_start|>", "<|endoftext|>", "|>", "<｜User｜>", "｜>",
	"[INST]", "[/INST]", "[TOOL_CALLS]", "<s>", "</s>", "<<SYS>>", "<</SYS>>", "<tool_call>", "</tool_call>", "<think>",
	"<function_calls>", "<invoke name=", "<start_of_turn>", "<end_of_turn>", "<bos>", "```", "\n\nHuman:", "\n\nAssistant:", "<%", "<!--",
	"\x00", "\x1b[31m", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\U000e0041", "\u2028", "\u0085", "\r\n", "\xff", "\xf0\x9f",
}

func genText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(hostile),
			rapid.StringN(0, 8, 24),
			rapid.SampledFrom([]string{"{", "}", "<", "|", "[", "`", "\n", "Human:", " ", "/", "s>", "INST]", "a", "ü", "✓"}),
		), 0, 12).Draw(t, "parts")
		text := ""
		for _, p := range parts {
			text += p
		}
		return text
	})
}

func genIssue() *rapid.Generator[fault.Issue] {
	return rapid.Custom(func(t *rapid.T) fault.Issue {
		return fault.Issue{
			Pointer: rapid.OneOf(
				rapid.SampledFrom([]string{"", "/a", "/a/b", "/a/0/c", "/b", "/items/0", "/items/1/x", "/"}),
				rapid.Map(genText(), func(s string) string { return "/" + s }),
			).Draw(t, "pointer"),
			Rule: rapid.OneOf(
				rapid.SampledFrom([]string{"type", "required", "enum", fault.RuleSyntax, fault.RuleUnknownTool, fault.RuleReducer}), genText(),
			).Draw(t, "rule"),
			Expected: rapid.OneOf(rapid.SampledFrom([]string{"", "integer", "string"}), genText()).Draw(t, "expected"),
			Got:      fault.Kind(rapid.OneOf(rapid.SampledFrom([]string{"", "string"}), genText()).Draw(t, "got")),
			Value:    rapid.OneOf(rapid.Just(""), genText()).Draw(t, "value"),
			Source: rapid.SampledFrom([]fault.Source{
				"", fault.FromJSON, fault.FromSchema, fault.FromRules, fault.FromTool, fault.FromReply,
			}).Draw(t, "source"),
		}
	})
}

func genInput(prev *feedback.RetryFeedback) *rapid.Generator[feedback.Input] {
	return rapid.Custom(func(t *rapid.T) feedback.Input {
		classes := append(fault.Correction.Classes(), "low_confidence", "{{evil}}\n")
		return feedback.Input{
			Tool:          rapid.OneOf(rapid.Just("book_room"), rapid.Just(""), genText()).Draw(t, "tool"),
			Attempt:       rapid.IntRange(1, 12).Draw(t, "attempt"),
			MaxAttempts:   rapid.SampledFrom([]int{-1, 1, 3, 12}).Draw(t, "max"),
			Class:         rapid.SampledFrom(classes).Draw(t, "class"),
			Issues:        rapid.SliceOfN(genIssue(), 0, 40).Draw(t, "issues"),
			Prev:          prev,
			Scheduled:     rapid.Bool().Draw(t, "scheduled"),
			At:            time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999999999).Draw(t, "nanos")),
			Delay:         time.Duration(rapid.Int64Range(-5, 1<<62).Draw(t, "delay")),
			Detail:        rapid.OneOf(rapid.Just(""), genText()).Draw(t, "detail"),
			CorrelationID: genText().Draw(t, "correlation"),
		}
	})
}
