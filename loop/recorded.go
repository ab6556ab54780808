package loop

import (
	"cmp"
	"context"
	"errors"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
)

// RecordedError is a failure as the journal has it, in the place of the Go error that it was made from: the
// cause of the error of a run that ended in another process. Its text is that of the Go error on one line,
// without keys (see [fault.Scrub]); errors.As finds it, and what [fault.FailureOf] says of it is what was
// said then. Safe for concurrent reading.
type RecordedError struct{ Recorded fault.Failure }

// Error is the recorded text, empty where the Go error had none.
func (e *RecordedError) Error() string { return cmp.Or(e.Recorded.Text, e.Recorded.Message) }

// Failure is the error as the core sees it.
func (e *RecordedError) Failure() fault.Failure { return e.Recorded }

// Unwrap returns a failure of the transport plane as a [fault.ProviderError], which has its class, and one of
// a class of the user's own as a [fault.ClassError]; nil for any other.
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

// Is reports whether the error stands for the end of a context: [context.Canceled] or
// [context.DeadlineExceeded].
func (e *RecordedError) Is(target error) bool {
	switch target {
	case context.Canceled:
		return e.Recorded.Class == fault.Cancelled
	case context.DeadlineExceeded:
		return e.Recorded.Class == fault.DeadlineExceeded
	}
	return false
}

// recordedCause is the cause of an end as its outcome has it; nil where there was none, or where it is a
// reducer's: the session keeps that.
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
		own = errors.New(own.Error()) // it said nothing of what it is: what it was asked about does
	}
	return &engine.PlannerError{Err: own, Asked: asked}
}

// recordedFailure is the Go error behind a failure; nil where there was none.
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

// recordedCause is the cause of the end of the run as its state has it; nil where there was none.
func (r *Runner) recordedCause() error {
	o := r.st.Outcome
	if x := o.Exhaustion; r.refused != nil && r.st.Config.Single && x != nil && x.Failure.Class == fault.Reducer {
		return r.refused
	}
	cause := recordedCause(o, r.st.Config.Single)
	if x := o.Exhaustion; cause == nil && x != nil && x.Failure.Class == fault.Reducer {
		return r.refusal()
	}
	return cause
}
