package session

import (
	"encoding/json"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// The events that a run itself dispatches to the reducers.
const (
	// ToolResult: a call has succeeded; a [ToolResultEvent]. Events that the tool emitted follow it, all in
	// one transaction. A reducer's error is the outcome of the call.
	ToolResult = "tool_result"
	// StructuredOutput: the answer was accepted; its JSON, or its text as a JSON string. A reducer's error
	// refuses the answer.
	StructuredOutput = "structured_output"

	// The others are notices. Each is a transaction of its own, before the next prompt is made. A reducer's
	// error is recorded and told ([Config].OnReducerError); it ends the run only under on_reducer_error:
	// stop, and never after RunEnded.

	// Replied: the model replied; a [RepliedEvent].
	Replied = "replied"
	// AttemptFailed: an attempt failed, on either plane; an [AttemptFailedEvent].
	AttemptFailed = "attempt_failed"
	// ToolFailed: a call has ended without a result; a [ToolFailedEvent]. Events that the tool emitted are
	// dropped.
	ToolFailed = "tool_failed"
	// Exhausted: an action has no attempt left; an [ExhaustedEvent].
	Exhausted = "exhausted"
	// RunEnded: the run, or the tries of an action, have ended; a [RunEndedEvent]. It changes no outcome.
	RunEnded = "run_ended"
)

// Notices are the names of the events that are notices, in order.
func Notices() []string { return []string{AttemptFailed, Exhausted, Replied, RunEnded, ToolFailed} }

// ToolResultEvent is the payload of [ToolResult].
type ToolResultEvent struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
}

// RepliedEvent is the payload of [Replied]: the reply as the model made it, before it was judged.
type RepliedEvent struct {
	// Turn counts the run's replies from 1.
	Turn   int                  `json:"turn"`
	Text   string               `json:"text,omitempty"`
	Calls  []message.Call       `json:"calls,omitempty"`
	Model  string               `json:"model,omitempty"`
	Finish message.FinishReason `json:"finish,omitempty"`
	Usage  message.Usage        `json:"usage,omitzero"`
}

// AttemptFailedEvent is the payload of [AttemptFailed].
type AttemptFailedEvent struct {
	// Action is the tool's name; empty for the answer.
	Action      string      `json:"action,omitempty"`
	Attempt     int         `json:"attempt"`
	MaxAttempts int         `json:"max_attempts"`
	Plane       fault.Plane `json:"plane"`
	Class       fault.Class `json:"class"`
	// Retry says that another attempt follows, after Delay.
	Retry  bool          `json:"retry"`
	Delay  time.Duration `json:"delay_ns,omitempty"`
	Reason policy.Reason `json:"reason"`
	// Feedback is what was recorded to correct the model; nil where nothing was.
	Feedback *feedback.RetryFeedback `json:"feedback,omitempty"`
}

// ToolFailedEvent is the payload of [ToolFailed].
type ToolFailedEvent struct {
	Tool      string          `json:"tool"`
	CallID    string          `json:"call_id"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Class     fault.Class     `json:"class"`
	Message   string          `json:"message,omitempty"`
	// InDoubt is set where the call's effect may have happened.
	InDoubt bool `json:"in_doubt,omitempty"`
	// Progress is what the call reported last, if it reported any.
	Progress json.RawMessage `json:"progress,omitempty"`
}

// ExhaustedEvent is the payload of [Exhausted].
type ExhaustedEvent struct {
	// Action is the tool's name; empty for the answer.
	Action      string        `json:"action,omitempty"`
	Attempt     int           `json:"attempt"`
	MaxAttempts int           `json:"max_attempts"`
	Plane       fault.Plane   `json:"plane"`
	Class       fault.Class   `json:"class"`
	Reason      policy.Reason `json:"reason"`
}

// RunEndedEvent is the payload of [RunEnded].
type RunEndedEvent struct {
	OK       bool            `json:"ok"`
	Reason   policy.Reason   `json:"reason"`
	Degraded bool            `json:"degraded,omitempty"`
	Text     string          `json:"text,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Usage    message.Usage   `json:"usage,omitzero"`
	Turns    int             `json:"turns,omitempty"`
}
