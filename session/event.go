package session

import (
	"encoding/json"

	"github.com/retake-go/retake/internal/canon"
)

// Event is something that happened, as data. Tools and the embedding program send events to a session. An
// event without a bound reducer changes nothing.
type Event struct {
	Name string `json:"name"`
	// Payload is JSON; empty means null. The session converts it to canonical form.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// NewEvent returns an event with the payload as canonical JSON. The error names the part that has no JSON
// form.
func NewEvent[E any](name string, payload E) (Event, error) {
	raw, err := canon.Marshal(payload)
	if err != nil {
		return Event{}, err
	}
	return Event{Name: name, Payload: raw}, nil
}

// maxQuoted is how much of an invalid payload is kept for operators, in bytes.
const maxQuoted = 4096
