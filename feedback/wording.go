package feedback

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
)

// wording is what the model is told about one class of failure: what happened and what to do, for a tool call
// and for an answer. An entry with a rule is for feedback whose first issue has it, one with a source for
// feedback with an issue of that source.
type wording struct {
	class                 fault.Class
	rule                  string
	source                fault.Source
	toolWrong, toolDo     phrase
	answerWrong, answerDo phrase
}

// opening keeps the model from taking the check for the user.
const opening = "Automatic check, not a message from the user: "

// What to do where another attempt is not scheduled.
const (
	noMoreCalls   phrase = "No attempt is left. Do not call % again for this."
	noMoreAnswers phrase = "No attempt is left."
	notTheSame    phrase = "Do not repeat it unchanged."
)

const answerShape = "Answer again with the whole corrected JSON value and nothing else."

const existing = "Call a tool that exists, by its exact name, or answer without one."

var wordings = []wording{
	{
		class:       fault.ToolValidation,
		rule:        fault.RuleTooManyCalls,
		toolWrong:   "your reply makes too many tool calls, and none of them was run",
		toolDo:      "Reply again with fewer calls.",
		answerWrong: "your reply makes too many tool calls, and none of them was run",
		answerDo:    "Reply again with fewer calls.",
	},
	{
		class:       fault.ToolValidation,
		source:      fault.FromTool,
		toolWrong:   "the tool % looked at your arguments and asks for others",
		toolDo:      "Call % again with all arguments, changed as it asks.",
		answerWrong: "your answer was looked at, and another is asked for",
		answerDo:    answerShape,
	},
	{
		class:       fault.ToolValidation,
		toolWrong:   "the arguments of your call of % are not valid, and the tool was not run",
		toolDo:      "Call % again with all arguments corrected.",
		answerWrong: "your answer is not valid",
		answerDo:    answerShape,
	},
	{
		class:       fault.StructuredOutput,
		toolWrong:   "the arguments of your call of % are not valid, and the tool was not run",
		toolDo:      "Call % again with all arguments corrected.",
		answerWrong: "your answer is not the JSON value that was asked for",
		answerDo:    answerShape,
	},
	{
		class:       fault.UnknownTool,
		rule:        fault.RuleUnknownTool,
		toolWrong:   "there is no tool named %, so nothing was run for this call",
		toolDo:      existing,
		answerWrong: "your reply called a tool that does not exist, so nothing was run for this call",
		answerDo:    existing,
	},
	{
		class:       fault.UnknownTool,
		toolWrong:   "there is no tool named %, so nothing was run for this call",
		toolDo:      existing,
		answerWrong: "your reply has a tool call in it that names no tool that can be read, so nothing was run for this call",
		answerDo:    existing,
	},
	{
		class:       fault.NoOutput,
		rule:        fault.RuleNoCall,
		toolWrong:   "your reply has no tool call in it that can be read",
		toolDo:      "Call % with all arguments.",
		answerWrong: "your reply has no tool call in it that can be read",
		answerDo:    "Reply with a call of one of the tools that exist, by its exact name and with all its arguments.",
	},
	{
		class:       fault.NoOutput,
		toolWrong:   "your reply had neither text nor a tool call",
		toolDo:      "Call % with all arguments, or answer.",
		answerWrong: "your reply had neither text nor a tool call",
		answerDo:    "Reply with the answer that was asked for, or with a tool call.",
	},
	{
		class:       fault.Truncated,
		toolWrong:   "your call of % was cut off by the token limit, and the tool was not run",
		toolDo:      "Call % again with shorter arguments, so that the call is complete.",
		answerWrong: "your reply was cut off by the token limit, and nothing of it was used",
		answerDo:    "Answer again and shorter, so that the answer is complete.",
	},
	{
		class:       fault.Refusal,
		toolWrong:   "your reply declined the request",
		toolDo:      "Call % if you can, or say in the form that was asked for what you can do.",
		answerWrong: "your reply declined the request",
		answerDo:    "Answer as far as you can, in the form that was asked for.",
	},
	{
		class:       fault.Reducer,
		toolWrong:   "what followed from your call of % was refused, and the state is as it was before",
		toolDo:      "Call % again in a way that meets the reason.",
		answerWrong: "what followed from your answer was refused, and the state is as it was before",
		answerDo:    "Answer again in a way that meets the reason.",
	},
}

// fallback is for the classes that users add.
var fallback = wording{
	toolWrong:   "your call of % was not accepted: $",
	toolDo:      "Call % again, corrected.",
	answerWrong: "your answer was not accepted: $",
	answerDo:    "Answer again, corrected.",
}

func wordingOf(f *RetryFeedback) *wording {
	for n := range wordings {
		w := &wordings[n]
		if w.class != f.ErrorType {
			continue
		}
		rule := w.rule == "" || len(f.Issues) > 0 && f.Issues[0].Rule == w.rule
		if rule && (w.source == "" || f.found(w.source)) {
			return w
		}
	}
	return &fallback
}

// found reports whether an issue is of that source.
func (f *RetryFeedback) found(by fault.Source) bool {
	for n := range f.Issues {
		if f.Issues[n].Source == by {
			return true
		}
	}
	return false
}

// appendHead says who speaks, what happened, and which attempt it was.
func appendHead(b []byte, f *RetryFeedback, w *wording) []byte {
	text := w.answerWrong
	if f.Source == Tool {
		text = w.toolWrong
	}
	b = text.append(append(b, opening...), f)
	b = append(b, " (attempt "...)
	b = strconv.AppendInt(b, int64(f.Attempt), 10)
	if f.MaxAttempts > 0 {
		b = strconv.AppendInt(append(b, " of "...), int64(f.MaxAttempts), 10)
	}
	switch {
	case f.MaxAttempts <= 0:
	case f.Last() && f.Attempt >= f.MaxAttempts:
		b = append(b, ", the last"...)
	case !f.Last() && f.Attempt+1 == f.MaxAttempts:
		b = append(b, "; the next is the last"...)
	}
	return append(b, ").\n"...)
}

// appendFoot says what to do now.
func appendFoot(b []byte, f *RetryFeedback, w *wording) []byte {
	text, none := w.answerDo, noMoreAnswers
	if f.Source == Tool {
		text, none = w.toolDo, noMoreCalls
	}
	switch {
	case !f.Last():
	case f.MaxAttempts > 0 && f.Attempt >= f.MaxAttempts:
		text = none
	default:
		text = notTheSame
	}
	return text.append(b, f)
}

// phrase is one of our own texts, in which "%" stands for the tool's name, once at the most, and "$" at its
// end for the class.
type phrase string

// append puts name and class into the phrase.
func (p phrase) append(b []byte, f *RetryFeedback) []byte {
	text, class := strings.CutSuffix(string(p), "$")
	before, after, tool := strings.Cut(text, "%")
	b = append(b, before...)
	if tool {
		b = append(appendToolName(b, f.ToolName), after...)
	}
	if class {
		b = appendName(b, string(f.ErrorType))
	}
	return b
}

func appendToolName(b []byte, name string) []byte {
	if name == "" {
		return append(b, "the tool"...)
	}
	return appendName(b, name)
}
