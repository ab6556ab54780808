package feedback

import (
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
)

// wording is what the model is told about one class of failure: what happened and what to do, for a tool call and for an
// answer. "%" stands for the tool's name, "$" for the class. An entry with a rule is for feedback whose first issue has it, one
// with a source for feedback with an issue of that source.
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
var (
	noMoreCalls   = say("No attempt is left. Do not call % again for this.")
	noMoreAnswers = say("No attempt is left.")
	notTheSame    = say("Do not repeat it unchanged.")
)

const answerShape = "Answer again with the whole corrected JSON value and nothing else."

const existing = "Call a tool that exists, by its exact name, or answer without one."

var wordings = []wording{
	{
		class:       fault.ToolValidation,
		source:      fault.FromTool,
		toolWrong:   say("the tool % looked at your arguments and asks for others"),
		toolDo:      say("Call % again with all arguments, changed as it asks."),
		answerWrong: say("your answer was looked at, and another is asked for"),
		answerDo:    say(answerShape),
	},
	{
		class:       fault.ToolValidation,
		toolWrong:   say("the arguments of your call of % are not valid, and the tool was not run"),
		toolDo:      say("Call % again with all arguments corrected."),
		answerWrong: say("your answer is not valid"),
		answerDo:    say(answerShape),
	},
	{
		class:       fault.StructuredOutput,
		toolWrong:   say("the arguments of your call of % are not valid, and the tool was not run"),
		toolDo:      say("Call % again with all arguments corrected."),
		answerWrong: say("your answer is not the JSON value that was asked for"),
		answerDo:    say(answerShape),
	},
	{
		class:       fault.UnknownTool,
		rule:        fault.RuleUnknownTool,
		toolWrong:   say("there is no tool named %, so nothing was run for this call"),
		toolDo:      say(existing),
		answerWrong: say("your reply called a tool that does not exist, so nothing was run for this call"),
		answerDo:    say(existing),
	},
	{
		class:       fault.UnknownTool,
		toolWrong:   say("there is no tool named %, so nothing was run for this call"),
		toolDo:      say(existing),
		answerWrong: say("your reply has a tool call in it that names no tool that can be read, so nothing was run for this call"),
		answerDo:    say(existing),
	},
	{
		class:       fault.NoOutput,
		rule:        fault.RuleNoCall,
		toolWrong:   say("your reply has no tool call in it that can be read"),
		toolDo:      say("Call % with all arguments."),
		answerWrong: say("your reply has no tool call in it that can be read"),
		answerDo:    say("Reply with a call of one of the tools that exist, by its exact name and with all its arguments."),
	},
	{
		class:       fault.NoOutput,
		toolWrong:   say("your reply had neither text nor a tool call"),
		toolDo:      say("Call % with all arguments, or answer."),
		answerWrong: say("your reply had neither text nor a tool call"),
		answerDo:    say("Reply with the answer that was asked for, or with a tool call."),
	},
	{
		class:       fault.Truncated,
		toolWrong:   say("your call of % was cut off by the token limit, and the tool was not run"),
		toolDo:      say("Call % again with shorter arguments, so that the call is complete."),
		answerWrong: say("your reply was cut off by the token limit, and nothing of it was used"),
		answerDo:    say("Answer again and shorter, so that the answer is complete."),
	},
	{
		class:       fault.Refusal,
		toolWrong:   say("your reply declined the request"),
		toolDo:      say("Call % if you can, or say in the form that was asked for what you can do."),
		answerWrong: say("your reply declined the request"),
		answerDo:    say("Answer as far as you can, in the form that was asked for."),
	},
	{
		class:       fault.Reducer,
		toolWrong:   say("what followed from your call of % was refused, and the state is as it was before"),
		toolDo:      say("Call % again in a way that meets the reason."),
		answerWrong: say("what followed from your answer was refused, and the state is as it was before"),
		answerDo:    say("Answer again in a way that meets the reason."),
	},
}

// fallback is for the classes that users add.
var fallback = wording{
	toolWrong:   say("your call of % was not accepted: $"),
	toolDo:      say("Call % again, corrected."),
	answerWrong: say("your answer was not accepted: $"),
	answerDo:    say("Answer again, corrected."),
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
	text := &w.answerWrong
	if f.Source == Tool {
		text = &w.toolWrong
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
	text, none := &w.answerDo, &noMoreAnswers
	if f.Source == Tool {
		text, none = &w.toolDo, &noMoreCalls
	}
	switch {
	case !f.Last():
	case f.MaxAttempts > 0 && f.Attempt >= f.MaxAttempts:
		text = none
	default:
		text = &notTheSame
	}
	return text.append(b, f)
}

// phrase is one of our own texts, cut where the tool's name stands in it, and where the class ends it.
type phrase struct {
	before, after string
	tool, class   bool
}

func say(text string) (p phrase) {
	text, p.class = strings.CutSuffix(text, "$")
	p.before, p.after, p.tool = strings.Cut(text, "%")
	return p
}

// append puts name and class into the phrase.
func (p *phrase) append(b []byte, f *RetryFeedback) []byte {
	b = append(b, p.before...)
	if p.tool {
		b = append(appendToolName(b, f.ToolName), p.after...)
	}
	if p.class {
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
