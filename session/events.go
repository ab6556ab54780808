package session

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
)

// Event is something that happened, as data. Tools and the embedding program send events to a session, which
// converts their payloads to canonical form. An event without a bound reducer changes nothing.
type Event = reducer.Event

// NewEvent returns an event with the payload as canonical JSON. The error names the part that has no JSON
// form.
func NewEvent[E any](name string, payload E) (Event, error) {
	raw, err := canon.Marshal(payload)
	if err != nil {
		return Event{}, err
	}
	return Event{Name: name, Payload: raw}, nil
}

// payloadOf returns the payload of an event in canonical form. For an invalid payload it returns its
// beginning as a JSON string, and an error.
func payloadOf(e Event) ([]byte, error) {
	if len(e.Payload) == 0 {
		return []byte("null"), nil
	}
	raw, err := canon.JSON(e.Payload)
	if err == nil {
		return raw, nil
	}
	quoted, failed := canon.Marshal(canon.UTF8(string(e.Payload[:min(len(e.Payload), maxQuoted)])))
	if failed != nil {
		quoted = []byte(`""`) // cannot happen: the text is UTF-8
	}
	return quoted, fmt.Errorf("the payload is unusable: %w", err)
}

// maxQuoted is how much of an invalid payload is kept for operators, in bytes.
const maxQuoted = 4096

// The events that a run dispatches.
const (
	// EventToolResult: a tool call succeeded. The payload is a [ToolResultEvent]. Events emitted by the tool
	// follow in the same transaction. A reducer's error becomes the outcome of the call.
	EventToolResult = "tool_result"
	// EventStructuredOutput: the answer was accepted. The payload is its JSON, or its text as a JSON string.
	// A reducer's error refuses the answer.
	EventStructuredOutput = "structured_output"

	// The events below are notices. Each is its own transaction, before the next prompt is made. A reducer's
	// error is recorded and passed to [Config.OnReducerError]. It ends the run only with on_reducer_error:
	// stop, and never after EventRunEnded.

	// EventReplied: the model replied. The payload is a [RepliedEvent].
	EventReplied = "replied"
	// EventAttemptFailed: an attempt failed on either plane. The payload is an [AttemptFailedEvent].
	EventAttemptFailed = "attempt_failed"
	// EventToolFailed: a tool call ended without a result. The payload is a [ToolFailedEvent]. Events emitted
	// by the tool are dropped.
	EventToolFailed = "tool_failed"
	// EventExhausted: an action has no attempt left. The payload is an [ExhaustedEvent].
	EventExhausted = "exhausted"
	// EventRunEnded: the run, or an action of loop.Do or loop.Attempts, ended. The payload is a
	// [RunEndedEvent]. Reducers cannot change the outcome.
	EventRunEnded = "run_ended"
)

// Notices returns the names of the notices, sorted.
func Notices() []string {
	return []string{EventAttemptFailed, EventExhausted, EventReplied, EventRunEnded, EventToolFailed}
}

// ToolResultEvent is the payload of [EventToolResult].
type ToolResultEvent struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// RepliedEvent is the payload of [EventReplied]: the model's reply before it was checked.
type RepliedEvent struct {
	// Turn counts the run's replies from 1.
	Turn   int                  `json:"turn"`
	Text   string               `json:"text,omitempty"`
	Calls  []message.Call       `json:"calls,omitempty"`
	Model  string               `json:"model,omitempty"`
	Finish message.FinishReason `json:"finish,omitempty"`
	Usage  message.Usage        `json:"usage,omitzero"`
}

// AttemptFailedEvent is the payload of [EventAttemptFailed].
type AttemptFailedEvent struct {
	// Action is the tool's name; empty for the final answer and, on the transport plane, for a model call.
	Action      string      `json:"action,omitempty"`
	Attempt     int         `json:"attempt"`
	MaxAttempts int         `json:"max_attempts"`
	Plane       fault.Plane `json:"plane"`
	Class       fault.Class `json:"class"`
	// Retry reports whether another attempt follows, after Delay.
	Retry  bool          `json:"retry"`
	Delay  time.Duration `json:"delay_ns,omitempty"`
	Reason policy.Reason `json:"reason"`
	// Feedback is the feedback recorded for the model, or nil.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
}

// ToolFailedEvent is the payload of [EventToolFailed].
type ToolFailedEvent struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Class     fault.Class     `json:"class"`
	Message   string          `json:"message,omitempty"`
	// InDoubt reports that the call may have had an effect.
	InDoubt bool `json:"in_doubt,omitempty"`
	// Progress is the last progress that the call reported, if any.
	Progress json.RawMessage `json:"progress,omitempty"`
}

// ExhaustedEvent is the payload of [EventExhausted].
type ExhaustedEvent struct {
	// Action is the tool's name; empty for the final answer and, on the transport plane, for a model call.
	Action      string        `json:"action,omitempty"`
	Attempt     int           `json:"attempt"`
	MaxAttempts int           `json:"max_attempts"`
	Plane       fault.Plane   `json:"plane"`
	Class       fault.Class   `json:"class"`
	Reason      policy.Reason `json:"reason"`
}

// RunEndedEvent is the payload of [EventRunEnded].
type RunEndedEvent struct {
	OK       bool            `json:"ok"`
	Reason   policy.Reason   `json:"reason"`
	Degraded bool            `json:"degraded,omitempty"`
	Text     string          `json:"text,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Usage    message.Usage   `json:"usage,omitzero"`
	Turns    int             `json:"turns,omitempty"`
}
