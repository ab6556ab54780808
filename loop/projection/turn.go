package projection

import (
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Turn is a reply of the model with its answers: the messages [From, To) of a conversation. Its JSON form is
// recorded.
type Turn struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Failed are the actions that failed in a reply of which nothing passed: names of tools, or "" for the
	// answer. Passed are the actions that passed in any other reply.
	Failed []string `json:"failed,omitempty" redact:"name"`
	Passed []string `json:"passed,omitempty" redact:"name"`
	// Text reports that the answers to its calls are one message, after the reply.
	Text bool `json:"text,omitempty"`
	// Calls are the calls that had an effect or may have had one, in order.
	Calls []Call `json:"calls,omitempty"`
}

// Kept is what a session keeps of a conversation besides its messages, for the next run. The zero value knows
// nothing. Its JSON form is part of a session's snapshot.
type Kept struct {
	// Turns are its replies that are known, in order, and Cuts what prompts leave out of it.
	Turns []Turn `json:"turns,omitempty"`
	Cuts  []Cut  `json:"cuts,omitempty"`
}

// Fits reports whether the turns and cuts can be those of a conversation with that number of messages.
func (k *Kept) Fits(messages int) bool {
	at := 0
	for _, c := range k.Cuts {
		if c.From < at || c.To <= c.From || c.To > messages ||
			c.Step == policy.ClearResults && c.To != c.From+1 {
			return false
		}
		at = c.To
	}
	at = 0
	for _, t := range k.Turns {
		if t.From < at || t.To <= t.From || t.To > messages {
			return false
		}
		at = t.To
	}
	return true
}

// Call is a tool call that had an effect, or may have had one.
type Call struct {
	Tool      string `json:"tool" redact:"name"`
	Arguments string `json:"arguments" redact:"text"`
	// Said is what the model was told about the call. Failed reports that this was no result, and InDoubt
	// that the effect of the call is unknown.
	Said    string `json:"said,omitempty" redact:"text"`
	Failed  bool   `json:"failed,omitempty"`
	InDoubt bool   `json:"in_doubt,omitempty"`

	// derived reports that the call is known from messages alone. An error there does not mean that nothing was
	// done.
	derived bool
}

// part is a part of a conversation that is cut whole or stays: a turn, or one message besides.
type part struct {
	Turn
	isTurn bool
}

// partsOf divides a conversation. Messages without a turn, such as those of a history that others recorded,
// are divided by what they say.
func partsOf(said []message.Message, turns []Turn) []part {
	parts, at := make([]part, 0, len(said)), 0
	for _, t := range turns {
		if t.From < at || t.To > len(said) || t.To <= t.From {
			continue
		}
		parts = derived(parts, said, at, t.From)
		parts, at = append(parts, part{t, true}), t.To
	}
	return derived(parts, said, at, len(said))
}

// derived divides the messages [from, to), of which nobody kept turns. It is not known which of the calls in
// them had an effect, so all count.
func derived(parts []part, said []message.Message, from, to int) []part {
	for at := from; at < to; {
		p := part{Turn: Turn{From: at, To: at + 1}}
		if m := &said[at]; m.Role == message.Assistant {
			p.isTurn = true
			for p.To < to && said[p.To].Role == message.Tool {
				p.To++
			}
			p.Calls = calls(m, said[at+1:p.To])
		}
		parts, at = append(parts, p), p.To
	}
	return parts
}

// calls returns the calls of a reply with their answers: by id, and without ids by name.
func calls(m *message.Message, answers []message.Message) []Call {
	all := make([]Call, len(m.Calls))
	for n, c := range m.Calls {
		all[n] = Call{Tool: c.Name, Arguments: c.Arguments, InDoubt: true, derived: true}
	}
	for _, a := range answers {
		for n, c := range m.Calls {
			named := a.CallID != "" || a.Name == "" || a.Name == c.Name
			if all[n].InDoubt && a.CallID == c.ID && named {
				all[n].Said, all[n].Failed, all[n].InDoubt = a.Text, a.IsError, false
				break
			}
		}
	}
	return all
}

func (t *Turn) span() Span { return Span{t.From, t.To} }
