package session

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
)

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

// cleanReducerError drops the cause, because a state holds no Go errors, and scrubs the words, which may be those
// of an engine's own reducers.
func cleanReducerError(e fault.ReducerError) fault.ReducerError {
	return fault.ReducerError{
		Reducer: canon.UTF8(e.Reducer), Payload: canon.UTF8(e.Payload), Message: fault.Scrub(canon.UTF8(e.Message)),
		Panicked: e.Panicked,
	}
}

// inUTC returns the same instant in UTC without a monotonic clock reading.
func inUTC(t time.Time) time.Time { return t.Round(0).UTC() }
