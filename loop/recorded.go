package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
)

// RecordedError is a failure from the journal, in place of the Go error behind it. It is the cause of the
// error of a run that ended in another process. Its text is that of the Go error, on one line and scrubbed of
// secrets (see [fault.Scrub]). errors.As finds it, and [fault.FailureOf] returns the same failure as then. It
// is safe for concurrent reading.
type RecordedError struct{ Recorded fault.Failure }

// Error returns the recorded text; empty if the Go error had none.
func (e *RecordedError) Error() string { return cmp.Or(e.Recorded.Text, e.Recorded.Message) }

// Failure returns the recorded failure.
func (e *RecordedError) Failure() fault.Failure { return e.Recorded }

// Unwrap returns a failure of the transport plane as a [fault.ProviderError], one with a user-defined class
// as a [fault.ClassError], and nil for others.
func (e *RecordedError) Unwrap() error {
	f := &e.Recorded
	if f.Plane != fault.Transport {
		if _, builtIn := fault.Lookup(f.Class); builtIn {
			return nil
		}
		return &fault.ClassError{Class: f.Class, Issues: f.Issues}
	}
	return &fault.ProviderError{Class: f.Class, Message: f.Message, RetryAfter: f.RetryAfter, Final: f.Final}
}

// Is reports whether the error is the end of a context: [context.Canceled] or [context.DeadlineExceeded].
func (e *RecordedError) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Recorded.Class == fault.Cancelled
	case context.DeadlineExceeded:
		return e.Recorded.Class == fault.DeadlineExceeded
	}
	return false
}

// recordedCause returns the recorded cause of an end. It is nil if there was none, or if it is that of a
// reducer, which is in the session.
func recordedCause(o *machine.Outcome, single bool) error {
	var asked error
	if x := o.Exhaustion; x != nil {
		asked = recordedFailure(x.Failure, single)
	}
	switch {
	case o.Cause == nil:
		return asked
	case o.Exhaustion == nil:
		return &RecordedError{*o.Cause}
	}
	var own error = &RecordedError{*o.Cause}
	if o.Cause.Class == fault.Unknown {
		own = errors.New(own.Error()) // its text is only that of the planner; the rest follows
	}
	if o.Asked != nil {
		return &engine.PlannerError{Err: own, Asked: planner.AskedAbout(*o.Asked, recordedFailure(*o.Asked, single))}
	}
	return &engine.PlannerError{Err: own, Asked: planner.AskedAbout(o.Exhaustion.Failure, asked)}
}

// recordedFailure returns the Go error behind a failure, or nil.
func recordedFailure(f fault.Failure, single bool) error {
	switch {
	case f.Class == fault.Reducer && !single:
		return nil
	case single && f.Class == fault.ToolValidation && f.Message == "":
		return &fault.ToolValidationError{Tool: f.Tool, Issues: f.Issues}
	case single && f.Class == fault.StructuredOutput && f.Message == "":
		return &fault.StructuredOutputError{Issues: f.Issues}
	case f.Plane == fault.Transport || f.Message != "" || f.Text != "":
		return &RecordedError{f}
	}
	return nil
}

// recordedCause returns the recorded cause of the end of the run, or nil.
func (r *Runner) recordedCause() error {
	o := r.st.Outcome
	if x := o.Exhaustion; r.refused != nil && r.st.Config.Single && x != nil &&
		x.Failure.Class == fault.Reducer {
		return r.refused
	}
	cause := recordedCause(o, r.st.Config.Single)
	if x := o.Exhaustion; cause == nil && x != nil && x.Failure.Class == fault.Reducer {
		return r.refusal(&x.Failure)
	}
	return cause
}
