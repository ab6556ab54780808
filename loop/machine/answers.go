package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/prompt"
	"github.com/retake-go/retake/message"
)

// answerInvalid answers the invalid calls of a reply: each with its own issues and the decision on its tool.
func (s *step) answerInvalid(decided map[string]*Decision) {
	b := s.Batch
	var items []prompt.Item
	for n, c := range b.Calls {
		if c.Status == callInvalid {
			again := slices.ContainsFunc(b.Calls[:n], func(o *BatchCall) bool {
				return o.Tool == c.Tool && o.Status == callInvalid
			})
			fb := decided[c.Tool].Feedback
			if fb != nil {
				fb = new(fb.About(fault.SortIssues(c.Issues)))
			}
			items = append(items, prompt.Item{Again: again, Feedback: fb})
		}
	}
	var texts []string
	texts, b.Told = s.renderFeedback(s.Config.Limits, items...)
	for _, c := range b.Calls {
		if c.Status == callInvalid {
			c.Answer, texts = texts[0], texts[1:]
		}
	}
}

// countAnswer counts the answer to a call that ended against the limits of the feedback.
func (s *step) countAnswer(c *BatchCall, end *ToolEnd) {
	if !c.Ended() || !c.IsError() || end.Whole {
		return
	}
	told := len(c.Answer)
	if end.Verdict == Done {
		told -= len(ranWords(c.Tool, end, ""))
	}
	s.Batch.Told.MaxIssues += min(end.issues(), s.Config.Limits.MaxIssues)
	s.Batch.Told.MaxBytes += told
}

// issues returns the number of issues that the tool found.
func (end *ToolEnd) issues() int {
	if end.Failure != nil {
		return len(end.Failure.Issues)
	}
	return len(end.Issues)
}

// limitsLeft returns what is left of the feedback's limits for the next answer.
func (s *step) limitsLeft() feedback.Limits {
	lim, told := s.Config.Limits, s.Batch.Told
	lim.MaxIssues -= told.MaxIssues
	lim.MaxBytes -= told.MaxBytes
	return lim
}

// sayAll answers the calls of a reply in call order. Native calls are answered one by one. Calls found in
// text are answered in one user message, which names the call of each answer.
func (s *step) sayAll(native bool, calls []*BatchCall) {
	if native {
		for _, c := range calls {
			s.say(message.Message{Role: message.Tool, Text: c.preface() + c.Answer, Parts: c.Parts, CallID: c.ID,
				Name: c.Tool, IsError: c.IsError()})
		}
		return
	}
	failed := slices.ContainsFunc(calls, (*BatchCall).IsError)
	var parts []message.Part
	for n := range calls {
		parts = append(parts, calls[n].Parts...)
	}
	s.say(message.Message{Role: message.User, Text: textOf(calls), Parts: parts, IsError: failed})
}

// textOf returns the answers to calls found in text. Equal errors are written once.
func textOf(calls []*BatchCall) string {
	same := make(map[string][]int)
	for n, c := range calls {
		if c.IsError() {
			same[c.preface()+c.Answer] = append(same[c.preface()+c.Answer], n)
		}
	}
	parts := make([]string, 0, len(calls))
	for n, c := range calls {
		switch all := same[c.preface()+c.Answer]; {
		case !c.IsError() || len(all) == 1:
			parts = append(parts, c.inText(n, len(calls)))
		case all[0] == n:
			parts = append(parts, "Calls "+callNumbers(all)+": "+c.preface()+c.Answer)
		}
	}
	return strings.Join(parts, "\n\n")
}

// maxNamedCalls is the most calls that one answer names.
const maxNamedCalls = 10

// callNumbers names calls: "2, 3 and 5", "1, 2 and 38 others".
func callNumbers(calls []int) string {
	named := calls[:min(len(calls), maxNamedCalls+1)-1]
	b := make([]byte, 0, 64)
	for n, at := range named {
		if n > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(at+1), 10)
	}
	b = append(b, " and "...)
	if rest := len(calls) - len(named); rest > 1 {
		return string(append(strconv.AppendInt(b, int64(rest), 10), " others"...))
	}
	return string(strconv.AppendInt(b, int64(calls[len(calls)-1]+1), 10))
}

// inText returns the answer to call n of several that were found in text. Their numbers stand for ids.
func (c *BatchCall) inText(n, of int) string {
	title := feedback.Name(c.Tool)
	if of > 1 {
		title = "call " + strconv.Itoa(n+1)
		if c.Tool != AnswerAction {
			title += ", " + feedback.Name(c.Tool)
		}
	}
	switch {
	case !c.IsError() && c.Status != callRepeated:
		return c.preface() + "Result of " + title + ": " + quoted(c.Answer)
	case of > 1:
		return "C" + title[1:] + ": " + c.preface() + c.Answer
	}
	return c.preface() + c.Answer
}

// maxText is the longest string of a result in a text, in bytes. Other results are not cut.
const maxText = 64 << 10

// quoted returns a result for a text. If a string is cut, it says how much is left out.
func quoted(result string) string {
	var text string
	if len(result) <= maxText || result[0] != '"' || canon.Unmarshal([]byte(result), &text) != nil ||
		len(text) <= maxText {
		return feedback.QuoteJSON(result)
	}
	kept := strings.ToValidUTF8(text[:maxText], "")
	short, _ := canon.Marshal(kept) // it was valid JSON before
	return fmt.Sprintf("%s (the first %d of %d bytes)", feedback.QuoteJSON(string(short)), len(kept),
		len(text))
}

// correct returns the text for a failed call or answer.
func (s *step) correct(d *Decision, lim feedback.Limits) string {
	texts, _ := s.renderFeedback(lim, prompt.Item{Feedback: d.Feedback})
	return texts[0]
}

// sibling returns the text for a call whose action was already decided by another call of the reply.
func (s *step) sibling(c *BatchCall, f *fault.Failure, detail string) string {
	a := action{Name: c.Tool, Attempt: 1}
	if open := s.find(c.Tool); open != nil {
		a = *open
	}
	var item prompt.Item
	if p := s.policyOf(c.Tool); p.EmitFeedback {
		in := s.input(&a, f, detail)
		in.Prev = nil // that is of the same attempt
		fb := feedback.New(in)
		if a.Last != nil {
			fb.Schedule = a.Last.Schedule
		}
		item.Feedback = &fb
	}
	texts, _ := s.renderFeedback(s.limitsLeft(), item)
	return texts[0]
}

// renderFeedback returns feedback as texts, and what they use of the limits.
func (s *step) renderFeedback(lim feedback.Limits, items ...prompt.Item) ([]string, feedback.Limits) {
	var wording func(feedback.RetryFeedback, feedback.Limits) (string, error)
	if own := s.compiled.feedback; own != nil {
		wording = own.Words
	}
	texts, used, err := prompt.RenderAll(items, lim, wording)
	if err != nil {
		s.warn(fmt.Sprintf("feedback: %v; the default words were used", err))
	}
	return texts, used
}

// input returns the input for feedback on an action's attempt, without a schedule.
func (s *step) input(a *action, f *fault.Failure, detail string) feedback.Input {
	return feedback.Input{
		Tool: a.Name, Attempt: a.Attempt, MaxAttempts: s.lastAttempt(a, a.Attempt), Class: f.Class, Issues: f.Issues,
		Prev: a.Last, Detail: detail, CorrelationID: s.Session.ID(),
	}
}
