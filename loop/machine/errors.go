package machine

import "fmt"

// EventError reports an event that does not fit the state. The state does not change.
type EventError struct {
	// Phase is the phase of the state, and Kind the kind of the event.
	Phase Phase
	Kind  EventKind
	// Why says what would have fitted.
	Why string
}

// Error names the phase, the event and what would have fitted.
func (e *EventError) Error() string {
	return fmt.Sprintf("event %q does not fit a run that is %s: %s", e.Kind, e.Phase, e.Why)
}
