package session

import (
	"encoding/json"

	"github.com/retake-go/retake/internal/canon"
)

// Event is something that happened, as data: what a tool emitted, or what the embedding program tells the
// session. An event that no reducer is bound to changes nothing.
type Event struct {
	Name string `json:"name"`
	// Payload is JSON; empty means null. A session brings it into canonical form.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// NewEvent returns an event with the payload as canonical JSON. The error says which part of it has no JSON
// form.
func NewEvent[E any](name string, payload E) (Event, error) {
	raw, err := canon.Marshal(payload)
	if err != nil {
		return Event{}, err
	}
	return Event{Name: name, Payload: raw}, nil
}

// maxQuoted bounds how much of a payload that is no JSON is kept for operators, in bytes.
const maxQuoted = 4096
