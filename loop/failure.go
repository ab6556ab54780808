package loop

import (
	"errors"

	"github.com/retake-go/retake/fault"
)

// failing is an error that says itself how the core is to see it: [fault.ClassError] does, and so do the errors of
// providers.
type failing interface {
	error
	Failure() fault.Failure
}

// failureOf is a Go error as the core sees it: by its typed errors, else by its classification.
func failureOf(err error) (f fault.Failure) {
	setFailure(&f, err)
	return f
}

// setFailure is failureOf into a failure that is zero.
func setFailure(f *fault.Failure, err error) {
	if setSaid(f, err); !isPrintable(f) {
		*f = printableFailure(*f)
	}
}

// setSaid is setFailure in the error's own words.
func setSaid(f *fault.Failure, err error) {
	switch e := err.(type) { // neither wraps another error
	case *fault.ToolValidationError:
		f.Plane, f.Class, f.Tool, f.Issues = fault.Correction, fault.ToolValidation, e.Tool, e.Issues
	case *fault.StructuredOutputError:
		f.Plane, f.Class, f.Issues = fault.Correction, fault.StructuredOutput, e.Issues
	default:
		*f = failureWithin(err)
	}
}

func badArguments(e *fault.ToolValidationError) fault.Failure {
	return fault.Failure{Plane: fault.Correction, Class: fault.ToolValidation, Tool: e.Tool, Issues: e.Issues}
}

func badOutput(e *fault.StructuredOutputError) fault.Failure {
	return fault.Failure{Plane: fault.Correction, Class: fault.StructuredOutput, Issues: e.Issues}
}

// failureWithin is failureOf by the first error of a chain that says what it is.
func failureWithin(err error) fault.Failure {
	if e, ok := errors.AsType[*fault.ToolValidationError](err); ok {
		return badArguments(e)
	}
	if e, ok := errors.AsType[*fault.StructuredOutputError](err); ok {
		return badOutput(e)
	}
	if e, ok := errors.AsType[*fault.ReducerError](err); ok {
		return fault.Failure{Plane: fault.Correction, Class: fault.Reducer, Message: e.Error()}
	}
	if e, ok := errors.AsType[failing](err); ok {
		return e.Failure()
	}
	return fault.Classify(fault.Response{Err: err}).Failure()
}
