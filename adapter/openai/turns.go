package openai

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
	"github.com/retake-go/retake/message"
)

// RawArguments is the one member of the object that holds arguments which are no strict JSON object, under
// [Config].WrapArguments. Its value is the text as it was written.
const RawArguments = wire.RawArguments

// maxID is how long an id of a call may be.
const maxID = 40

var rules = wire.Rules{Name: safeName, TakesID: takesID, SystemInPlace: true}

// rules are those of the server. Mistral takes ids of nine letters and digits alone.
func (c *caller) rules() wire.Rules {
	r := rules
	if strings.EqualFold(c.cfg.provider(), "mistral") {
		r.TakesID, r.MakeID = mistralID.MatchString, func(n int) string { return fmt.Sprintf("%09d", n) }
	}
	return r
}

var mistralID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

func takesID(id string) bool {
	return len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// turn is one message in the order that the APIs demand: an assistant's calls have their answers with them.
type turn struct {
	message.Message
	calls []wire.Call
}

// turns orders a transcript. There is always at least one turn that is not of the system.
func turns(t []message.Message, rules wire.Rules) []turn {
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
		all = append(all, turn{Message: message.Message{Role: message.User, Text: wire.GoOn}})
	}
	return all
}

// answer is a call's answer; some servers refuse an empty one.
func answer(c wire.Call) string { return cmp.Or(c.Text, "(empty)") }
