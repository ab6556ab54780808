package console

import (
	"encoding/json"
	"time"
)

// The kinds of effects that ask people.
const (
	askEffect     = "ask"
	settledEffect = "settled"
	askDoubt      = "in_doubt"
)

// personAsk is a question to a person, as the journal has it.
type personAsk struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Rule      string          `json:"rule"`
	At        time.Time       `json:"at"`
	Deadline  time.Time       `json:"deadline"`
	Default   string          `json:"default"`
}

// sentence says what is asked, until when, and what holds then.
func (a *personAsk) sentence() string {
	text := brief(a.Tool)
	if values := brief(string(a.Arguments)); values != "" && values != "{}" {
		text += " " + values
	}
	if a.Kind == askDoubt {
		text += ": done, not done, or again?"
	} else {
		text += "?"
	}
	if !a.Deadline.IsZero() {
		text += " By " + clock(a.Deadline) + ", else " + defaultWord(a.Default)
	}
	return text
}

// defaultWord says what holds if nobody answers.
func defaultWord(ruling string) string {
	switch ruling {
	case "approve":
		return "approved"
	case "refuse":
		return "refused"
	}
	return "left in doubt"
}
