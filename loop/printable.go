package loop

import (
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
)

// What models, tools and programs say may be no UTF-8, and then has no form in a journal or prompt: here
// bytes that are none become U+FFFD, in a run that is recorded as in one that is not. Arguments are left as
// they were, and returned themselves where nothing is to be done.

func printableCalls(calls []message.Call) []message.Call {
	cloned := false
	for n, c := range calls {
		p := message.Call{ID: canon.UTF8(c.ID), Name: canon.UTF8(c.Name), Arguments: canon.UTF8(c.Arguments)}
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
	r.Text, r.Refusal, r.Finish = canon.UTF8(r.Text), canon.UTF8(r.Refusal), canon.UTF8(r.Finish)
	r.Thinking = canon.UTF8(r.Thinking)
	r.Model, r.Opaque, r.Calls = canon.UTF8(r.Model), canon.UTF8(r.Opaque), printableCalls(r.Calls)
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
		m.Text, m.CallID, m.Name, m.Opaque = canon.UTF8(m.Text), canon.UTF8(m.CallID), canon.UTF8(m.Name), canon.UTF8(m.Opaque)
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

func printablePlan(p machine.Plan) machine.Plan {
	p.Prompt, p.Model, p.Warning, p.Note = canon.UTF8(p.Prompt), canon.UTF8(p.Model), canon.UTF8(p.Warning), canon.UTF8(p.Note)
	return p
}
