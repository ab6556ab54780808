// Package typed makes the Go errors that failures have by their class.
package typed

import (
	"cmp"
	"context"

	"github.com/retake-go/retake/fault"
)

// Of returns the typed error of the class of a failure, with its tool and issues; nil if the class has none.
func Of(f fault.Failure) error {
	switch f.Class {
	case fault.ToolValidation, fault.UnknownTool:
		return &fault.ToolValidationError{Tool: f.Tool, Issues: f.Issues}
	case fault.StructuredOutput, fault.NoOutput, fault.Truncated, fault.Refusal:
		return &fault.StructuredOutputError{Issues: f.Issues}
	}
	return nil
}

// TimedOut returns the error of a call that was made under ctx. If it is the end of a deadline while ctx
// lives, the deadline was that of the called code: the error is then a [fault.TransportError] of class
// [fault.Timeout] that wraps it.
func TimedOut(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || fault.TypedFailure(err).Class != fault.DeadlineExceeded {
		return err
	}
	return &fault.TransportError{Class: fault.Timeout, Cause: err}
}

// Asked returns the error that a planner is asked about: err, the Go error behind a failure or nil. A failure
// with issues is recorded without the text of its error, so its error is a typed one, made from the record,
// that wraps err. It has the same text in a run that is resumed.
func Asked(f fault.Failure, err error) error {
	if len(f.Issues) == 0 || f.Class == fault.Reducer {
		return err
	}
	typed := Of(f)
	if typed == nil {
		typed = &fault.ClassError{Class: f.Class, Issues: f.Issues}
	}
	return &askedError{cmp.Or(f.Message, typed.Error()), typed, err}
}

// askedError is the error behind a failure with issues. by is the Go error, or nil.
type askedError struct {
	text      string
	typed, by error
}

func (e *askedError) Error() string { return e.text }

func (e *askedError) Unwrap() []error {
	if e.by == nil {
		return []error{e.typed}
	}
	return []error{e.by, e.typed}
}
