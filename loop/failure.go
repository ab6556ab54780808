package loop

import (
	"cmp"
	"errors"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/tool"
)

// failing is an error that says itself how the core is to see it: [fault.ClassError] does, and so do the
// errors of providers.
type failing interface {
	error
	Failure() fault.Failure
}

// failureOf is a Go error as the core sees it: by its typed errors, else by its classification. It keeps no
// slice of the error's: whoever made that may use it again.
func failureOf(err error) fault.Failure {
	f := said(err)
	f.Issues = slices.Clone(f.Issues)
	mend(&f)
	keepText(&f, err)
	return f
}

// causeOf is the cause of an end as an event has it; nil for none.
func causeOf(err error) *fault.Failure {
	if err == nil {
		return nil
	}
	return new(failureOf(err))
}

// keepText keeps the text of an error that its failure does not say. Issues say it where there are any.
func keepText(f *fault.Failure, err error) {
	if err == nil || !f.Failed() || len(f.Issues) > 0 {
		return
	}
	if text := fault.Scrub(canon.UTF8(err.Error())); text != f.Message && text != string(f.Class) {
		f.Text = text
	}
}

// toolFailure is the error of a tool as the core sees it: by its types alone.
func toolFailure(out *tool.Outcome) fault.Failure {
	f := out.Failure()
	f.Issues = slices.Clone(f.Issues)
	mend(&f)
	keepText(&f, out.Err)
	return f
}

// said is a Go error in its own words, by the first of its chain that says what it is.
func said(err error) (f fault.Failure) {
	if e, ok := errors.AsType[*fault.ToolValidationError](err); ok {
		f.Plane, f.Class, f.Tool, f.Issues = fault.Correction, fault.ToolValidation, e.Tool, e.Issues
	} else if e, ok := errors.AsType[*fault.StructuredOutputError](err); ok {
		f.Plane, f.Class, f.Issues = fault.Correction, fault.StructuredOutput, e.Issues
	} else if e, ok := errors.AsType[*fault.ReducerError](err); ok {
		f.Plane, f.Class, f.Message = fault.Correction, fault.Reducer, e.Error()
	} else if e, ok := errors.AsType[failing](err); ok {
		f = e.Failure()
	} else {
		f = fault.ClassifyError(err).Failure()
	}
	complete(&f)
	return f
}

// complete fills in what an error says nothing of: it is a failure all the same, and one of either plane.
func complete(f *fault.Failure) {
	f.Class = cmp.Or(f.Class, fault.Unknown)
	if f.Plane == fault.Correction || f.Plane == fault.Transport {
		return
	}
	if f.Plane = fault.Correction; f.Class.InTransport() {
		f.Plane = fault.Transport
	}
}
