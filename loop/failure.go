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
func failureOf(err error) fault.Failure { return printableFailure(saidOf(err)) }

// saidOf is failureOf in the error's own words.
func saidOf(err error) fault.Failure {
	switch e := err.(type) { // neither wraps another error
	case *fault.ToolValidationError:
		return badArguments(e)
	case *fault.StructuredOutputError:
		return badOutput(e)
	}
	return failureWithin(err)
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
