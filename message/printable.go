package message

import (
	"slices"

	"github.com/retake-go/retake/internal/canon"
)

func printableCalls(calls []Call) []Call {
	cloned := false
	for n, c := range calls {
		p := Call{ID: canon.UTF8(c.ID), Name: canon.UTF8(c.Name), Arguments: canon.UTF8(c.Arguments)}
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

// Printable returns the reply with invalid UTF-8 replaced by U+FFFD: journals and prompts cannot hold other
// bytes. It shares memory with r where it can.
func (r Reply) Printable() Reply {
	r.Text, r.Refusal, r.Finish = canon.UTF8(r.Text), canon.UTF8(r.Refusal), canon.UTF8(r.Finish)
	r.Thinking = canon.UTF8(r.Thinking)
	r.Model, r.Opaque, r.Calls = canon.UTF8(r.Model), canon.UTF8(r.Opaque), printableCalls(r.Calls)
	return r
}

// Printable is [Reply.Printable] for messages.
func Printable(all []Message) []Message {
	cloned := false
	for n := range all {
		if isPrintable(&all[n]) {
			continue
		}
		if !cloned {
			all, cloned = slices.Clone(all), true
		}
		m := &all[n]
		m.Text, m.CallID, m.Name, m.Opaque = canon.UTF8(m.Text), canon.UTF8(m.CallID), canon.UTF8(m.Name),
			canon.UTF8(m.Opaque)
		m.Calls, m.Parts = printableCalls(m.Calls), printableParts(m.Parts)
	}
	return all
}

func printableParts(parts []Part) []Part {
	parts = slices.Clone(parts)
	for n, p := range parts {
		parts[n] = Part{
			Kind: canon.UTF8(p.Kind), Text: canon.UTF8(p.Text), URL: canon.UTF8(p.URL),
			Data:      canon.UTF8(p.Data),
			MediaType: canon.UTF8(p.MediaType), Name: canon.UTF8(p.Name),
		}
	}
	return parts
}

func isPrintable(m *Message) bool {
	good := canon.IsUTF8(m.Text) && canon.IsUTF8(m.CallID) && canon.IsUTF8(m.Name) && canon.IsUTF8(m.Opaque)
	for n := range m.Calls {
		c := &m.Calls[n]
		good = good && canon.IsUTF8(c.ID) && canon.IsUTF8(c.Name) && canon.IsUTF8(c.Arguments)
	}
	for _, p := range m.Parts {
		good = good && p.isUTF8()
	}
	return good
}
