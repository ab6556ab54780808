package fault

import (
	"cmp"
	"context"
)

// RecordedError is a failure from the journal, in place of the Go error behind it. It is the cause of the
// error of a run that ended in another process. Its text is that of the Go error, on one line and scrubbed of
// secrets ([Scrub]). errors.As finds it, and [FailureOf] returns the same failure as then. It
// is safe for concurrent reading.
type RecordedError struct{ Recorded Failure }

// Error returns the recorded text; empty if the Go error had none.
func (e *RecordedError) Error() string { return cmp.Or(e.Recorded.Text, e.Recorded.Message) }

// Failure returns the recorded failure.
func (e *RecordedError) Failure() Failure { return e.Recorded }

// Unwrap returns a failure of the transport plane as a [ProviderError], one with a user-defined class
// as a [ClassError], and nil for others.
func (e *RecordedError) Unwrap() error {
	f := &e.Recorded
	if f.Plane != Transport {
		if f.Class.Plane() != "" {
			return nil
		}
		return &ClassError{Class: f.Class, Issues: f.Issues}
	}
	return &ProviderError{Class: f.Class, Message: f.Message, RetryAfter: f.RetryAfter, Final: f.Final}
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
