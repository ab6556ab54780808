package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// untold answers a call that there is no room to say more of.
const untold = "Not accepted. The answers to other calls of the same reply say what is wrong with those."

// leastWords is the room, in bytes, below which nothing is said of a call; fairWords is what each of several
// has at least, where not all that is wrong with them can be told.
const (
	leastWords = 256
	fairWords  = 512
)

// telling is what is to be said of a bad call.
type telling struct {
	call   int
	d      *Decision
	issues []fault.Issue
}

// answerBad answers the bad calls of a reply. Where their words are too long together, the first calls have
// an equal part of the limits each, and of the others nothing is said.
func (s *step) answerBad(b *Batch, bad []telling) {
	if s.answerWithin(b, bad, false) {
		return
	}
	b.Told = feedback.Limits{}
	s.answerWithin(b, firstOfEach(bad), true)
}

// firstOfEach puts the first call of each tool before the others.
func firstOfEach(bad []telling) []telling {
	ordered, others := make([]telling, 0, len(bad)), make([]telling, 0, len(bad))
	for at := range bad {
		if at == 0 || bad[at].d != bad[at-1].d {
			ordered = append(ordered, bad[at])
		} else {
			others = append(others, bad[at])
		}
	}
	slices.SortFunc(others, func(a, b telling) int { return a.call - b.call })
	return append(ordered, others...)
}

// answerWithin is answerBad for words that fit whole, or for parts. It reports false where the whole words do
// not fit.
func (s *step) answerWithin(b *Batch, bad []telling, parts bool) bool {
	lim, told := s.Config.Limits, len(bad)
	if parts {
		told = max(1, min(told, lim.MaxIssues, lim.MaxBytes/fairWords))
		lim.MaxIssues /= told
		lim.MaxBytes /= told
	}
	for at, t := range bad {
		c, own := &b.Calls[t.call], lim
		own.MaxBytes -= b.titled(t.call)
		c.IsError, c.Answer = true, untold
		if at < told {
			c.Answer = s.correct(t.d, t.issues, own)
		}
		b.use(t.call, len(t.issues), len(c.Answer))
		if !parts && len(bad) > 1 && (b.Told.MaxBytes > lim.MaxBytes || b.Told.MaxIssues > lim.MaxIssues) {
			return false
		}
	}
	return true
}

// use counts the words of an answer, and of how many issues they tell.
func (b *Batch) use(call, issues, bytes int) {
	b.Told.MaxIssues += issues
	b.Told.MaxBytes += bytes + b.titled(call)
}

// titled is how long the words before an answer are.
func (b *Batch) titled(call int) int {
	if b.Native || len(b.Calls) == 1 {
		return 0
	}
	c := &BatchCall{Tool: b.Calls[call].Tool, IsError: true}
	return len(c.inText(call, len(b.Calls)))
}

// used counts what the answer to a call that ended has used up of the limits.
func (s *step) used(b *Batch, c *BatchCall, end *ToolEnd) {
	if c.Done && c.IsError {
		b.use(end.Index, min(end.issues(), s.Config.Limits.MaxIssues), len(c.Answer))
	}
}

// issues counts what the tool found wrong.
func (end *ToolEnd) issues() int {
	if end.Failure != nil {
		return len(end.Failure.Issues)
	}
	return len(end.Issues)
}

// left is what is left of the limits for the answer to a call that has ended.
func (s *step) left(c *BatchCall) feedback.Limits {
	lim, told := s.Config.Limits, s.Batch.Told
	lim.MaxIssues -= told.MaxIssues
	lim.MaxBytes -= told.MaxBytes + s.Batch.titled(s.ev.Tool.Index)
	return lim
}

// wordless is what a tool says that failed without a word.
const wordless = "the tool failed"

// maxSaid bounds what a model is told of the words of one tool that failed, in bytes.
const maxSaid = 1024

// failedWords is what the model is told of a tool that failed for good.
func failedWords(said string, lim feedback.Limits) string {
	const lead = "The tool failed: "
	switch {
	case said == "" || said == wordless:
		return "The tool failed."
	case lim.MaxBytes < leastWords:
		return "The tool failed. There is no room for what it said."
	}
	return lead + feedback.InMarks(said, min(lim.MaxBytes-len(lead), maxSaid))
}

// sayAll answers the calls of a reply in call order: native ones one by one, those found in a text in one
// user message, which says of each of several what call it answers.
func (s *step) sayAll(native bool, calls []BatchCall) {
	if native {
		for n := range calls {
			c := &calls[n]
			s.say(message.Message{Role: message.Tool, Text: c.Answer, Parts: c.Parts, CallID: c.ID, Name: c.Tool, IsError: c.IsError})
		}
		return
	}
	failed := slices.ContainsFunc(calls, func(c BatchCall) bool { return c.IsError })
	var parts []message.Part
	for n := range calls {
		parts = append(parts, calls[n].Parts...)
	}
	s.say(message.Message{Role: message.User, Text: textOf(calls), Parts: parts, IsError: failed})
}

// textOf is the answers to calls that were found in a text. What is the same for several calls is said once.
func textOf(calls []BatchCall) string {
	same := make(map[string][]int)
	for n := range calls {
		if c := &calls[n]; c.IsError {
			same[c.Answer] = append(same[c.Answer], n)
		}
	}
	parts := make([]string, 0, len(calls))
	for n := range calls {
		c := &calls[n]
		switch all := same[c.Answer]; {
		case !c.IsError || len(all) == 1:
			parts = append(parts, c.inText(n, len(calls)))
		case all[0] == n:
			parts = append(parts, "Calls "+placesOf(all)+": "+c.Answer)
		}
	}
	return strings.Join(parts, "\n\n")
}

// maxPlaces is how many calls are named that one text answers.
const maxPlaces = 10

// placesOf names calls: "2, 3 and 5", "1, 2 and 38 others".
func placesOf(calls []int) string {
	named := calls[:min(len(calls), maxPlaces+1)-1]
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

// inText is the answer to call n of several that were found in a text: such calls have no ids to be answered
// by.
func (c *BatchCall) inText(n, of int) string {
	title := feedback.Name(c.Tool)
	if of > 1 {
		title = "call " + strconv.Itoa(n+1)
		if c.Tool != AnswerAction {
			title += ", " + feedback.Name(c.Tool)
		}
	}
	switch {
	case !c.IsError:
		return "Result of " + title + ": " + quoted(c.Answer)
	case of > 1:
		return "C" + title[1:] + ": " + c.Answer
	}
	return c.Answer
}

// maxText bounds a string among the results that stand in one text, in bytes. Other results are whole.
const maxText = 64 << 10

// quoted is a result as it stands in a text, which says how much of a string is left out.
func quoted(result string) string {
	var text string
	if len(result) <= maxText || result[0] != '"' || canon.Unmarshal([]byte(result), &text) != nil || len(text) <= maxText {
		return feedback.QuoteJSON(result)
	}
	kept := strings.ToValidUTF8(text[:maxText], "")
	short, _ := canon.Marshal(kept) // it was JSON before
	return fmt.Sprintf("%s (the first %d of %d bytes)", feedback.QuoteJSON(string(short)), len(kept), len(text))
}
