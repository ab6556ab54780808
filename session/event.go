package session

import (
	"encoding/json"
	"fmt"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/flat"
)

// Event is something that happened, as data: what a tool emitted, or what the embedding program tells the session. An event
// that no reducer is bound to changes nothing.
type Event struct {
	Name string `json:"name"`
	// Payload is JSON; empty means null. A session brings it into canonical form.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// NewEvent returns an event with the payload as canonical JSON. The error says which part of it has no JSON form.
func NewEvent[E any](name string, payload E) (Event, error) {
	raw, err := flat.Marshal(flat.Of[E](), payload)
	if err != nil {
		return Event{}, err
	}
	return Event{Name: name, Payload: raw}, nil
}

// maxQuoted bounds how much of a payload that is no JSON is kept for operators, in bytes.
const maxQuoted = 4096

// payload is the event's payload in canonical form. Of one that is no JSON, its beginning comes back as a JSON string, beside
// the error that says so.
func (e Event) payload() ([]byte, error) {
	if len(e.Payload) == 0 {
		return []byte("null"), nil
	}
	if raw, ok := canon.AppendJSON(make([]byte, 0, len(e.Payload)), e.Payload); ok {
		return raw, nil
	}
	_, err := canon.JSON(e.Payload)
	quoted, failed := canon.Marshal(canon.UTF8(string(e.Payload[:min(len(e.Payload), maxQuoted)])))
	if failed != nil {
		quoted = []byte(`""`) // cannot happen: it is UTF-8
	}
	return quoted, fmt.Errorf("the payload is unusable: %w", err)
}
