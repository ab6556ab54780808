package talk

import (
	"slices"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
)

// PrintableReply returns a reply with invalid UTF-8 replaced by U+FFFD: journals and prompts cannot hold
// other bytes. It shares memory with r where it can.
func PrintableReply(r message.Reply) message.Reply {
	r.Text, r.Refusal, r.Finish = canon.UTF8(r.Text), canon.UTF8(r.Refusal), canon.UTF8(r.Finish)
	r.Thinking, r.Model, r.Opaque = canon.UTF8(r.Thinking), canon.UTF8(r.Model), canon.UTF8(r.Opaque)
	r.Calls = each(r.Calls, printableCall, equal)
	return r
}

// Printable is [PrintableReply] for messages.
func Printable(all []message.Message) []message.Message {
	return each(all, printable, func(a, b message.Message) bool { return same(&a, &b) })
}

func printable(m message.Message) message.Message {
	m.Text, m.Opaque = canon.UTF8(m.Text), canon.UTF8(m.Opaque)
	m.CallID, m.Name = canon.UTF8(m.CallID), canon.UTF8(m.Name)
	m.Calls, m.Parts = each(m.Calls, printableCall, equal), each(m.Parts, printablePart, equal)
	return m
}

func printableCall(c message.Call) message.Call {
	return message.Call{ID: canon.UTF8(c.ID), Name: canon.UTF8(c.Name), Arguments: canon.UTF8(c.Arguments)}
}

func printablePart(p message.Part) message.Part {
	return message.Part{
		Kind: canon.UTF8(p.Kind), Text: canon.UTF8(p.Text), URL: canon.UTF8(p.URL), Data: canon.UTF8(p.Data),
		MediaType: canon.UTF8(p.MediaType), Name: canon.UTF8(p.Name),
	}
}

// each changes every element of a list. It copies the list only if that makes a difference.
func each[T any](all []T, change func(T) T, same func(a, b T) bool) []T {
	changed := all
	for n, old := range all {
		now := change(old)
		if same(now, old) {
			continue
		}
		if &changed[0] == &all[0] {
			changed = slices.Clone(all)
		}
		changed[n] = now
	}
	return changed
}

func equal[T comparable](a, b T) bool { return a == b }
