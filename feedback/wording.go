package feedback

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
)

// wording is the text for one class of failure: what happened and what to do, for a tool call and for an
// answer. An entry with a rule applies if the first issue has that rule. One that is toolless applies if that
// issue also says that there are no tools. One with a source applies if an issue has that source. In the
// texts, "%" stands for the tool's name, and "$" at the end for the class.
type wording struct {
	class                 fault.Class
	rule                  string
	source                fault.Source
	toolless              bool
	toolWrong, toolDo     string
	answerWrong, answerDo string
	// toolEnd is what to do if the policy allows no further attempt of a call; empty is notTheSame.
	toolEnd string
}

// opening tells the model that the text is not from the user.
const opening = "Automatic check, not a message from the user: "

// What to do if no further attempt is scheduled.
const (
	noMoreCalls   = "No attempt is left. Do not call % again for this."
	noMoreAnswers = "No attempt is left."
	notTheSame    = "Do not repeat it unchanged."
)

const answerShape = "Answer again with the whole corrected JSON value and nothing else."

const existing = "Call a tool that exists, by its exact name, or answer without one."

// refusedReply is true of the model's own refusal and of a content filter that stopped its reply.
const refusedReply = "your reply declined the request, or a content filter stopped it"

const withoutTools = "Answer without a tool call."

const asExpected = "Reply with what is expected."

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
		class: fault.ToolValidation,
		rule:  fault.RuleMaxSuccesses,
		toolWrong: "your call of % was refused, and the tool was not run: as many earlier calls of it as are " +
			"allowed had succeeded, or could succeed",
		// A call of the same reply that fails gives its place back, and is told in the same turn.
		toolDo: "Do not call % again for this, unless an earlier call of it in the same reply failed and had no " +
			"effect. Go on without it, or answer.",
	},
	{
		class:     fault.ToolValidation,
		rule:      fault.RuleEqualCall,
		toolWrong: "your call of % equals an earlier one, and the tool was not run again",
		toolDo:    "Use the result of that one, call % with other arguments, or answer.",
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
		class:     fault.UnknownTool,
		rule:      fault.RuleUnknownTool,
		toolless:  true,
		toolWrong: "there is no tool named %, so nothing was run for this call",
		toolDo:    withoutTools,
		answerWrong: "your reply has a tool call in it that names no tool that exists, so nothing was run " +
			"for this call",
		answerDo: withoutTools,
	},
	{
		class:     fault.UnknownTool,
		rule:      fault.RuleUnknownTool,
		toolWrong: "there is no tool named %, so nothing was run for this call",
		toolDo:    existing,
		// The call may have no name at all.
		answerWrong: "your reply has a tool call in it that names no tool that exists, so nothing was run " +
			"for this call",
		answerDo: existing,
	},
	{
		class:       fault.UnknownTool,
		rule:        fault.RuleToolChoice,
		toolWrong:   "your call of % was not asked for, and the tool was not run",
		toolDo:      asExpected,
		answerWrong: "your reply has a tool call in it that was not asked for, so nothing was run for this call",
		answerDo:    asExpected,
	},
	{
		class:     fault.UnknownTool,
		toolWrong: "there is no tool named %, so nothing was run for this call",
		toolDo:    existing,
		answerWrong: "your reply has a tool call in it that names no tool that can be read, so nothing was " +
			"run for this call",
		answerDo: existing,
	},
	{
		class:       fault.NoOutput,
		rule:        fault.RuleNoCall,
		toolWrong:   "your reply has no tool call in it that can be read",
		toolDo:      "Call % with all arguments.",
		answerWrong: "your reply has no tool call in it that can be read",
		answerDo: "Reply with a call of one of the tools that exist, by its exact name and with all its " +
			"arguments.",
	},
	{
		class:       fault.NoOutput,
		toolWrong:   "your reply had neither text nor a tool call",
		toolDo:      "Call % with all arguments, or answer.",
		answerWrong: "your reply had neither text nor a tool call",
		answerDo:    "Reply with the answer that was asked for, or call a tool if you have one.",
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
		toolWrong:   refusedReply,
		toolDo:      "Call % if you can, or say in the form that was asked for what you can do.",
		answerWrong: refusedReply,
		answerDo:    "Answer as far as you can, in the form that was asked for.",
	},
	{
		class: fault.Reducer,
		toolWrong: "your call of % succeeded, but what followed from it was refused, and the state is as " +
			"it was before",
		toolDo: "What % did stands. Call it again only for what is still to be done, in a way that meets " +
			"the reason.",
		toolEnd:     "What % did stands: do not call it again for this.",
		answerWrong: "what followed from your answer was refused, and the state is as it was before",
		answerDo:    "Answer again in a way that meets the reason.",
	},
	{
		class:     fault.NoProgress,
		toolWrong: "you make the same calls again and again, and their results stay the same",
		toolDo: "Do not make them again unchanged. Do something else, or answer with what you have, and " +
			"say what is missing.",
	},
}

// fallback is the wording for user-defined classes.
var fallback = wording{
	toolWrong:   "your call of % was not accepted: $",
	toolDo:      "Call % again, corrected.",
	answerWrong: "your answer was not accepted: $",
	answerDo:    "Answer again, corrected.",
}

func wordingOf(f *RetryFeedback) *wording {
	for n := range wordings {
		w := &wordings[n]
		if w.class != f.ErrorType || w.rule != "" && (len(f.Issues) == 0 || f.Issues[0].Rule != w.rule) ||
			w.toolless && !isToolless(f.Issues[0]) {
			continue
		}
		from := func(i fault.Issue) bool { return i.Source == w.source }
		if w.source == "" || slices.ContainsFunc(f.Issues, from) {
			return w
		}
	}
	return &fallback
}

// isToolless reports whether an issue about an unknown tool says that there are no tools.
func isToolless(i fault.Issue) bool { return i.Expected != "" && i.Known() == "" }

// head appends who speaks, what happened, and which attempt it was.
func (f *RetryFeedback) head(b []byte, w *wording) []byte {
	text := w.answerWrong
	if f.Source == Tool {
		text = w.toolWrong
	}
	b = append(b, opening...)
	if f.ErrorType == fault.NoProgress {
		return append(f.rounds(append(b, text...)), ").\n"...)
	}
	b = strconv.AppendInt(append(f.fill(b, text), " (attempt "...), int64(f.Attempt), 10)
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

// rounds appends how often a cycle was made, and when the run ends.
func (f *RetryFeedback) rounds(b []byte) []byte {
	b = fmt.Appendf(b, " (%d times so far", f.Attempt)
	if f.MaxAttempts > 0 {
		b = fmt.Appendf(b, "; the run ends at %d", f.MaxAttempts)
	}
	return b
}

// foot appends what to do now.
func (f *RetryFeedback) foot(b []byte, w *wording) []byte {
	text, none := f.todo(w), noMoreAnswers
	if f.Source == Tool {
		none = noMoreCalls
	}
	switch {
	case !f.Last():
	case f.MaxAttempts > 0 && f.Attempt >= f.MaxAttempts:
		text = none
	case f.Source == Tool && w.toolEnd != "":
		text = w.toolEnd
	default:
		text = notTheSame
	}
	return f.fill(b, text)
}

// Anew tells the model that a person lets it go on after f, which said that it was the last, and what to do
// now. attempts is how many it has; negative means no limit. It is safe for concurrent use.
func Anew(f RetryFeedback, attempts int) string {
	w, count := wordingOf(&f), ", with new attempts"
	switch {
	case attempts == 1:
		count = ", with 1 new attempt"
	case attempts > 1:
		count = fmt.Sprintf(", with %d new attempts", attempts)
	}
	said := opening + "a person has looked at this since, and lets you go on" + count + ". "
	return string(f.fill([]byte(said), f.todo(w)))
}

// todo returns what to do if an attempt is left.
func (f *RetryFeedback) todo(w *wording) string {
	if f.Source == Tool {
		return w.toolDo
	}
	return w.answerDo
}

// fill appends a text with the tool's name for "%" and the class for "$" at the end.
func (f *RetryFeedback) fill(b []byte, text string) []byte {
	text, withClass := strings.CutSuffix(text, "$")
	before, after, named := strings.Cut(text, "%")
	for ; named; before, after, named = strings.Cut(after, "%") {
		b = append(b, before...)
		if f.ToolName == "" {
			b = append(b, "the tool"...)
		} else {
			b = append(b, Name(f.ToolName)...)
		}
	}
	b = append(b, before...)
	if withClass {
		b = append(b, Name(string(f.ErrorType))...)
	}
	return b
}
