package loop

import (
	"errors"
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/typed"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// why returns the Go error behind the end of the run, or nil if there is none, or if only the record has it.
func (p *process) why(o *machine.Outcome) error {
	switch {
	case o == nil, o.Exhaustion == nil && o.Cause == nil:
		return nil
	case o.Exhaustion == nil:
		return p.ending
	}
	return p.cause
}

// behind returns the Go error behind an exhaustion by an event, or nil.
func (p *process) behind(by machine.EventKind, x *machine.Question) error {
	switch {
	case by == machine.ReducersRan || x != nil && x.Cycle != nil:
		return nil // the cause is the reducer's error, or the cycle, and not that of the last call
	case x == nil || by != machine.Responded && by != machine.Woke && by != machine.Spoken:
		return p.err
	}
	// The event ended a call that a person was asked about. Other calls may have failed since then.
	for _, n := range slices.Sorted(maps.Keys(p.failed)) {
		c := p.failed[n]
		if f := engine.EndOf(nil, c.run, c.out).Failure; c.run.Tool == x.Tool && f.Class == x.Failure.Class &&
			f.Message == x.Failure.Message {
			return c.out.Err
		}
	}
	return nil
}

// failedCall is a call that failed.
type failedCall struct {
	run machine.ToolRun
	out tool.Outcome
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
		return &fault.RecordedError{Recorded: *o.Cause}
	}
	var own error = &fault.RecordedError{Recorded: *o.Cause}
	if o.Cause.Class == fault.Unknown {
		own = errors.New(own.Error()) // its text is only that of the planner; the rest follows
	}
	return &engine.PlannerError{Err: own, Asked: typed.Asked(o.Exhaustion.Failure, asked)}
}

// recordedFailure returns the Go error behind a failure, or nil.
func recordedFailure(f fault.Failure, single bool) error {
	switch {
	case f.Class == fault.Reducer && !single:
		return nil
	case single && f.Message == "" && (f.Class == fault.ToolValidation || f.Class == fault.StructuredOutput):
		return typed.Of(f)
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
	return &fault.RecordedError{Recorded: o.Exhaustion.Failure} // the session that had it is not at hand
}
