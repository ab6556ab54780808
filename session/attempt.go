package session

import (
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Attempt is the record of one attempt of an action: what came of it and what was decided. Treat Issues as
// read-only. The zero value is no record.
type Attempt struct {
	// Action names what was attempted: a tool; empty for the final answer.
	Action string `json:"action"`
	// Attempt is the attempt's number; the first is 1.
	Attempt int `json:"attempt"`
	// MaxAttempts is how many the policy allowed, the first included; [policy.Unlimited] where it set no
	// bound.
	MaxAttempts int `json:"max_attempts"`
	// Plane is the plane it was decided on; that of correction where the attempt passed.
	Plane fault.Plane `json:"plane,omitempty"`
	// Class is that of the failure; empty where the attempt passed.
	Class fault.Class `json:"class"`
	// Issues says what was wrong, in canonical order.
	Issues []fault.Issue `json:"issues,omitempty"`
	// Reason says why it went on or ended.
	Reason policy.Reason `json:"reason"`
	// Retry is set where another attempt was decided on.
	Retry bool `json:"retry"`
	// Delay is the wait before that; 0 where there is none.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Usage is what the attempt consumed.
	Usage message.Usage `json:"usage,omitzero"`
	// At is when it was decided, in UTC; zero where it is not known.
	At time.Time `json:"at,omitzero"`
}

// Passed reports whether nothing went wrong: the proposal was good, and its tool, if any, did not fail for
// good.
func (a Attempt) Passed() bool { return a.Class == "" && a.Reason != policy.FailedForGood }

// ToolFailure says that a call of a tool came to nothing, panics included: "tool pay failed: tool_execution
// (not_repeatable)". It is empty where none did, and of proposals that were not good enough to be run.
func (a Attempt) ToolFailure() string {
	switch {
	case a.Action == "":
		return ""
	case a.Reason == policy.FailedForGood:
		return "tool " + a.Action + " failed for good"
	case a.Plane == fault.Transport && !a.Retry:
		return "tool " + a.Action + " failed: " + string(a.Class) + " (" + string(a.Reason) + ")"
	}
	return ""
}
