package projection

import (
	"cmp"
	"slices"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Cut is one part of a conversation that a prompt does not show as it is. Its JSON form is recorded.
type Cut struct {
	// Step is what made the cut.
	Step policy.ContextStep `json:"step" redact:"keep"`
	// From and To are the messages of the conversation that were cut: [From, To).
	From int `json:"from"`
	To   int `json:"to"`
	// Text stands in their place, as a user's message. For [policy.ClearResults] it is the new text of the
	// one message. If it is empty, nothing takes their place.
	Text string `json:"text,omitempty" redact:"text"`
}

// Apply returns the messages of a prompt: the conversation with its cuts, which are in order and do not
// overlap. What lies outside the conversation is ignored. If there are no cuts, it returns said itself.
func Apply(said []message.Message, cuts []Cut) []message.Message {
	return ApplyTo(said, cuts, Span{To: len(said)})
}

// ApplyTo is [Apply] for a range of the conversation. It ignores cuts that are not within the range.
func ApplyTo(said []message.Message, cuts []Cut, of Span) []message.Message {
	if len(cuts) == 0 {
		return said[of.From:of.To]
	}
	room := of.To - of.From
	for _, c := range cuts {
		if c.From >= of.From && c.To <= of.To {
			room -= c.To - c.From - 1
		}
	}
	shown, at := make([]message.Message, 0, max(room, 0)), of.From
	for _, c := range cuts {
		if c.From < at || c.To > of.To || c.To <= c.From {
			continue
		}
		shown = append(shown, said[at:c.From]...)
		if at = c.To; c.Step == policy.ClearResults {
			m := said[c.From]
			m.Text, m.Parts = c.Text, nil
			shown = append(shown, m)
		} else if c.Text != "" {
			shown = append(shown, message.Message{Role: message.User, Text: c.Text})
		}
	}
	return append(shown, said[at:of.To]...)
}

// Cover returns cuts and fresh ones in order, without the cuts that a fresh one covers. Fresh ones must not
// overlap each other.
func Cover(cuts, fresh []Cut) []Cut {
	all := slices.Clone(fresh)
	slices.SortFunc(all, byFrom)
	fresh = slices.Clone(all)
	for _, c := range cuts {
		n, there := slices.BinarySearchFunc(fresh, c, byFrom)
		if covered := there || n > 0 && fresh[n-1].To >= c.To; !covered {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, byFrom)
	return all
}

func byFrom(a, b Cut) int { return cmp.Compare(a.From, b.From) }

// partBytes is the size that one medium counts for, whatever its data takes: about 1,500 tokens.
const partBytes = 6000

// Bytes returns the size of messages, as far as it counts for a prompt: their text, names and calls, and a
// fixed size for each medium.
func Bytes(said []message.Message) (n int) {
	for i := range said {
		n += sizeOf(&said[i])
	}
	return n
}

func sizeOf(m *message.Message) int {
	n := len(m.Role) + len(m.Text) + len(m.CallID) + len(m.Name) + len(m.Opaque) + partBytes*len(m.Parts)
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return n
}
