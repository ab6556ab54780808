package openai

import (
	"cmp"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// RawArguments is the single member of the object that replaces arguments which are not a strict JSON
// object, under [Config].WrapArguments. Its value is the text that the model wrote.
const RawArguments = kit.RawArguments

// turn is one message in the order that the APIs require: the calls of an assistant message have their
// answers with them.
type turn struct {
	message.Message
	calls []kit.Call
}

// turns orders a transcript. At least one turn is not a system message.
func turns(t []message.Message, rules kit.Rules) []turn {
	_, exchanges := rules.Exchanges(t)
	var all []turn
	spoken := false
	for _, e := range exchanges {
		if e.Model.Role != "" {
			all, spoken = append(all, turn{e.Model, e.Calls}), true
		}
		for _, m := range e.Then {
			all, spoken = append(all, turn{Message: m}), spoken || m.Role != message.System
		}
	}
	if !spoken {
		all = append(all, turn{Message: message.Message{Role: message.User, Text: kit.GoOn}})
	}
	return all
}

// answer returns the answer to a call; some servers refuse an empty one.
func answer(c kit.Call) string { return cmp.Or(c.Text, "(empty)") }
