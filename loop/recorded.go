package loop

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// RecordedError is a failure as the journal has it, in the place of the Go error that it was made from: the cause of the error of a run
// that ended in another process. errors.As finds it, and what [FailureOf] says of it is what was said then. The words are those that were
// recorded: what a provider's error said besides (its name, a status) is gone. Safe for concurrent reading.
type RecordedError struct{ Recorded fault.Failure }

// Error is the recorded message; the class where there is none.
func (e *RecordedError) Error() string {
	if e.Recorded.Message != "" {
		return e.Recorded.Message
	}
	return string(e.Recorded.Class)
}

// Failure is the error as the core sees it.
func (e *RecordedError) Failure() fault.Failure { return e.Recorded }

// Unwrap returns a failure of the transport plane as a [fault.ProviderError], which has its class; nil for one of the other.
func (e *RecordedError) Unwrap() error {
	f := &e.Recorded
	if f.Plane != fault.Transport {
		return nil
	}
	return &fault.ProviderError{Class: f.Class, Message: f.Message, RetryAfter: f.RetryAfter, Final: f.Final}
}

// recordedCause is the cause of an end whose Go error is not known here; nil where there was none.
func recordedCause(x *machine.Exhaustion, single bool) error {
	if x == nil {
		return nil
	}
	switch f := x.Failure; {
	case single && f.Class == fault.ToolValidation && f.Message == "":
		return &fault.ToolValidationError{Tool: f.Tool, Issues: f.Issues}
	case single && f.Class == fault.StructuredOutput && f.Message == "":
		return &fault.StructuredOutputError{Issues: f.Issues}
	case f.Message != "":
		return &RecordedError{f}
	}
	return nil
}

// recorded is the cause of the end of a run that another process made; nil where there was none, or where it is the reducer's own.
func (r *Runner) recorded() error {
	x := r.st.Outcome.Exhaustion
	if x == nil || x.Failure.Class == fault.Reducer {
		return nil
	}
	return recordedCause(x, r.st.Config.Single)
}
