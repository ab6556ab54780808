package session

import (
	"slices"
	"time"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Attempt records one attempt of an action: its outcome and the decision. Treat its lists as read-only. The
// zero value is not a record.
type Attempt struct {
	// Action is the tool's name; empty for the final answer and, on the transport plane, for a model call.
	Action string `json:"action" redact:"name"`
	// Attempt is the number of the attempt, from 1.
	Attempt int `json:"attempt"`
	// MaxAttempts is the most attempts the policy allowed, including the first, or [policy.Unlimited].
	MaxAttempts int `json:"max_attempts"`
	// Plane is the plane of the decision. It is the correction plane if the attempt passed.
	Plane fault.Plane `json:"plane,omitempty"`
	// Class is the class of the failure; empty if the attempt passed or was cancelled: see [Attempt.Passed].
	Class fault.Class `json:"class"`
	// Issues are what was wrong, in canonical order.
	Issues []fault.Issue `json:"issues,omitempty"`
	// Reason is why the action went on or ended.
	Reason policy.Reason `json:"reason"`
	// Retry reports whether another attempt follows.
	Retry bool `json:"retry"`
	// Delay is the wait before the next attempt; 0 if there is none.
	Delay time.Duration `json:"delay_ns,omitempty"`
	// Repairs are the kinds of repair that were needed to read what the model wrote, each once. There are
	// none if the policy accepts repairs without a note.
	Repairs []extract.Form `json:"repairs,omitempty"`
	// Usage is what the attempt consumed. Cost is what that cost in the unit of a [policy.Price], if the run
	// has prices. Estimated reports that the cost of a call of it was estimated: see [policy.Charge].
	Usage     message.Usage `json:"usage,omitzero"`
	Cost      int64         `json:"cost_micros,omitempty"`
	Estimated bool          `json:"estimated,omitempty"`
	// At is the time of the decision in UTC; zero if unknown.
	At time.Time `json:"at,omitzero"`
}

// Passed reports whether the attempt succeeded: the proposal was valid and its tool, if any, did not fail for
// good. An attempt that was cancelled, or whose time was up, has not passed.
func (a Attempt) Passed() bool {
	return a.Class == "" && a.Reason != policy.ReasonFailedForGood && !a.Reason.GaveUp()
}

// ToolFailure describes a tool call that gave no result, for example because it panicked: "tool pay failed:
// tool_execution (not_repeatable)". It is empty if the tool did not fail or did not run.
func (a Attempt) ToolFailure() string {
	switch {
	case a.Action == "":
		return ""
	case a.Reason == policy.ReasonFailedForGood:
		return "tool " + a.Action + " failed for good"
	case a.Plane == fault.Transport && !a.Retry:
		return "tool " + a.Action + " failed: " + string(a.Class) + " (" + string(a.Reason) + ")"
	}
	return ""
}

// The clean functions bring records into the form that a snapshot gives back, so that a resumed run reads the
// same as a live one. They copy only what they change.

func cleanFeedback(f *feedback.RetryFeedback) {
	f.ToolName, f.Message, f.Detail = canon.UTF8(f.ToolName), canon.UTF8(f.Message), canon.UTF8(f.Detail)
	f.ErrorType, f.CorrelationID = canon.UTF8(f.ErrorType), canon.UTF8(f.CorrelationID)
	f.Issues = fault.PrintableIssues(f.Issues)
	f.Diff.Fixed = fault.PrintableIssues(f.Diff.Fixed)
	f.Diff.New = fault.PrintableIssues(f.Diff.New)
	f.Diff.Persistent = fault.PrintableIssues(f.Diff.Persistent)
	if f.Schedule != nil && f.Schedule.At != inUTC(f.Schedule.At) {
		f.Schedule = &feedback.Schedule{At: inUTC(f.Schedule.At), Delay: f.Schedule.Delay}
	}
}

// The first and last second of the years 0 to 9999, in Unix time.
const firstSecond, lastSecond = -62_167_219_200, 253_402_300_799

func cleanAttempt(a *Attempt) {
	a.Action, a.Plane, a.Class, a.Reason = canon.UTF8(a.Action), canon.UTF8(a.Plane), canon.UTF8(a.Class),
		canon.UTF8(a.Reason)
	a.Issues = slices.Clip(fault.PrintableIssues(a.Issues))
	a.At = inUTC(a.At)
	if s := a.At.Unix(); s < firstSecond || s > lastSecond {
		a.At = time.Time{} // has no form in JSON
	}
}

// cleanReducerError drops the cause, because a state holds no Go errors, and scrubs the words, which may be
// those of an engine's own reducers.
func cleanReducerError(e fault.ReducerError) fault.ReducerError {
	return fault.ReducerError{
		Reducer: canon.UTF8(e.Reducer), Payload: canon.UTF8(e.Payload), Message: fault.Scrub(canon.UTF8(e.Message)),
		Panicked: e.Panicked,
	}
}

// inUTC returns the same instant in UTC without a monotonic clock reading.
func inUTC(t time.Time) time.Time { return t.Round(0).UTC() }
