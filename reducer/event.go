package reducer

import "encoding/json"

// Event is something that happened, as data, for the reducers of a session.
type Event struct {
	Name string `json:"name" redact:"keep"`
	// Payload is JSON; empty means null.
	Payload json.RawMessage `json:"payload,omitempty" redact:"text"`
}
