package loop

import (
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// What models, tools and programs say may be no UTF-8, and then has no form in a journal or prompt: here bytes that are none
// become U+FFFD, in a run that is recorded as in one that is not. Arguments are left as they were, and returned themselves where
// nothing is to be done.

func printable(s string) string {
	if canon.IsUTF8(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func printableCalls(calls []message.Call) []message.Call {
	cloned := false
	for n, c := range calls {
		p := message.Call{ID: printable(c.ID), Name: printable(c.Name), Arguments: printable(c.Arguments)}
		if p == c {
			continue
		}
		if !cloned {
			calls, cloned = slices.Clone(calls), true
		}
		calls[n] = p
	}
	return calls
}

// mendReply makes a reply printable.
func mendReply(r *message.Reply) {
	r.Text, r.Refusal, r.Finish = printable(r.Text), printable(r.Refusal), message.FinishReason(printable(string(r.Finish)))
	r.Model, r.Opaque, r.Calls = printable(r.Model), printable(r.Opaque), printableCalls(r.Calls)
}

func printableMessages(all []message.Message) []message.Message {
	cloned := false
	for n := range all {
		if isPrintable(&all[n]) {
			continue
		}
		if !cloned {
			all, cloned = slices.Clone(all), true
		}
		m := &all[n]
		m.Text, m.CallID, m.Name, m.Opaque = printable(m.Text), printable(m.CallID), printable(m.Name), printable(m.Opaque)
		m.Calls = printableCalls(m.Calls)
	}
	return all
}

func isPrintable(m *message.Message) bool {
	good := canon.IsUTF8(m.Text) && canon.IsUTF8(m.CallID) && canon.IsUTF8(m.Name) && canon.IsUTF8(m.Opaque)
	for n := range m.Calls {
		c := &m.Calls[n]
		good = good && canon.IsUTF8(c.ID) && canon.IsUTF8(c.Name) && canon.IsUTF8(c.Arguments)
	}
	return good
}

// mend makes a failure printable.
func mend(f *fault.Failure) {
	mendWords(f)
	f.Issues = fault.PrintableIssues(f.Issues)
}

// mendWords is mend for a failure whose issues are printable.
func mendWords(f *fault.Failure) {
	f.Class, f.Tool, f.Message = fault.Class(printable(string(f.Class))), printable(f.Tool), printable(f.Message)
}

func printablePlan(p machine.Plan) machine.Plan {
	p.Prompt, p.Model, p.Warning, p.Note = printable(p.Prompt), printable(p.Model), printable(p.Warning), printable(p.Note)
	return p
}
