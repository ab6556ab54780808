package fault

import (
	"cmp"
	"context"
)

// RecordedError is a failure from the journal, in place of the Go error behind it. It is the cause of the
// error of a run that ended in another process. Its text is that of the Go error, on one line and scrubbed of
// secrets ([Scrub]). errors.As finds it, and [FailureOf] returns the recorded failure. It is safe for
// concurrent reading.
type RecordedError struct{ Recorded Failure }

// Error returns the recorded text; empty if the Go error had none.
func (e *RecordedError) Error() string { return cmp.Or(e.Recorded.Text, e.Recorded.Message) }

// Failure returns the recorded failure.
func (e *RecordedError) Failure() Failure { return e.Recorded }

// Unwrap returns the typed error of the failure: a [ProviderError] for the transport plane, a
// [ToolValidationError] or [StructuredOutputError], and a [ClassError] for a user-defined class. It is nil
// for others.
func (e *RecordedError) Unwrap() error {
	switch f := &e.Recorded; {
	case f.Plane == Transport:
		return &ProviderError{Class: f.Class, Message: f.Message, RetryAfter: f.RetryAfter,
			MaxReply: f.MaxReply, Final: f.Final}
	case f.Class == ToolValidation || f.Class == UnknownTool:
		return &ToolValidationError{Tool: f.Tool, Issues: f.Issues}
	case f.Class == StructuredOutput:
		return &StructuredOutputError{Issues: f.Issues}
	case f.Class.Plane() == "":
		return &ClassError{Class: f.Class, Issues: f.Issues}
	}
	return nil
}

// Is reports whether the error is the end of a context: [context.Canceled] or [context.DeadlineExceeded].
func (e *RecordedError) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Recorded.Class == Cancelled
	case context.DeadlineExceeded:
		return e.Recorded.Class == DeadlineExceeded
	}
	return false
}
