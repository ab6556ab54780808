package openai

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/retake-go/retake/message"
)

// turn is one message in the order that the APIs demand: an assistant's calls have their answers with them.
type turn struct {
	role   message.Role
	text   string
	opaque string
	calls  []call
}

// call is a call and its answer.
type call struct {
	// own is the id within the transcript, id the one that is sent.
	own, id   string
	name      string
	arguments string
	answer    string
	answered  bool
}

// The words for what a transcript lacks.
const (
	notRun     = "No result: this call was not run."
	emptyWords = "(empty)"
)

// maxID is how long an id of a call may be.
const maxID = 40

// turns orders a transcript. Empty messages are left out, and there is always at least one turn that is not of the system.
func turns(t message.Transcript) []turn {
	o := orderer{taken: map[string]bool{}, open: -1}
	for _, m := range t.All() {
		o.add(m)
	}
	for _, u := range o.turns {
		if u.role != message.System {
			return o.turns
		}
	}
	return append(o.turns, turn{role: message.User, text: emptyWords})
}

type orderer struct {
	turns []turn
	taken map[string]bool
	// open is the last turn with calls; -1 for none.
	open int
}

func (o *orderer) add(m message.Message) {
	switch {
	case m.Role == message.Tool:
		o.answer(m)
	case m.Role == message.Assistant && len(m.Calls) > 0:
		o.open = len(o.turns)
		o.turns = append(o.turns, turn{role: m.Role, text: m.Text, opaque: m.Opaque, calls: o.calls(m.Calls)})
	case m.Text != "":
		o.turns = append(o.turns, turn{role: m.Role, text: m.Text, opaque: m.Opaque})
	}
}

// calls gives the calls of one message their ids, no two alike in the whole conversation.
func (o *orderer) calls(made []message.Call) []call {
	calls := make([]call, len(made))
	for n, c := range made {
		own := cmp.Or(c.ID, fmt.Sprintf("call-%d", n+1))
		calls[n] = call{own: own, id: o.unique(own), name: safeName(c.Name), arguments: c.Arguments, answer: notRun}
	}
	return calls
}

func (o *orderer) unique(id string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	for n := 1; o.taken[id] || len(id) > maxID || strings.ContainsFunc(id, odd); n++ {
		id = fmt.Sprintf("call-%d", len(o.taken)+n)
	}
	o.taken[id] = true
	return id
}

// answer gives an answer to the call it is for. Where there is none it becomes a user's message.
func (o *orderer) answer(m message.Message) {
	text := cmp.Or(m.Text, emptyWords)
	if o.open >= 0 {
		calls := o.turns[o.open].calls
		for n := range calls {
			if c := &calls[n]; c.own == m.CallID && !c.answered {
				c.answer, c.answered = text, true
				return
			}
		}
	}
	if m.Name != "" && !m.IsError {
		text = "Result of " + m.Name + ": " + text
	}
	o.turns = append(o.turns, turn{role: message.User, text: text})
}
