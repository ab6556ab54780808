package loop

import (
	"errors"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
)

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
		return &fault.RecordedError{Recorded: *o.Cause}
	}
	var own error = &fault.RecordedError{Recorded: *o.Cause}
	if o.Cause.Class == fault.Unknown {
		own = errors.New(own.Error()) // its text is only that of the planner; the rest follows
	}
	if o.Asked != nil {
		return &engine.PlannerError{Err: own, Asked: planner.AskedAbout(*o.Asked,
			recordedFailure(*o.Asked, single))}
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
		return &fault.RecordedError{Recorded: f}
	}
	return nil
}

// recordedCauseOf returns the recorded cause of the end of a run, or nil. That of a reducer is as it was
// returned, or as the session has it.
func recordedCauseOf(end *engine.End) error {
	o, single := end.State.Outcome, end.State.Config.Single
	refused := o.Exhaustion != nil && o.Exhaustion.Failure.Class == fault.Reducer
	if refused && single && end.Refused != nil {
		return end.Refused
	}
	cause := recordedCause(o, single)
	switch {
	case cause != nil || !refused:
		return cause
	case end.Refused != nil:
		return end.Refused
	}
	for _, e := range slices.Backward(end.State.Session.ReducerErrors()) {
		if e.Error() == o.Exhaustion.Failure.Message {
			return &e
		}
	}
	return nil
}
