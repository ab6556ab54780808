package tool

import (
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
)

// TryLater is what a tool returns if it did nothing and the same call is to be made again, after a wait of at
// least after (0 or more). The transport policy decides, whatever the tool declares. The model hears nothing
// of it until the tries are used up. If the policy's tries are unlimited, and it waits no time either, the
// call is made again after 1 s. err says why, for operators, and may be nil. The error is a [*LaterError]. A
// negative wait is a mistake of the tool: the error is then an ordinary one.
func TryLater(err error, after time.Duration) error {
	if after < 0 {
		return errors.Join(fmt.Errorf("tool.TryLater: after is %v: give 0 or more", after), err)
	}
	return &LaterError{After: after, Cause: err}
}

// LaterError asks for the same call again; see [TryLater]. Safe for concurrent reading.
type LaterError struct {
	// After is the least wait before the next try; a negative one counts as 0.
	After time.Duration
	// Cause says why, for operators; may be nil.
	Cause error
}

// Error says that the call is to be made later, and why.
func (e *LaterError) Error() string {
	if e.Cause == nil {
		return "try later"
	}
	return "try later: " + canon.Visible(e.Cause.Error())
}

// Unwrap returns the cause.
func (e *LaterError) Unwrap() error { return e.Cause }

// ErrUnknown is what a tool may return, wrapped or not, where it cannot tell whether the call had its effect.
// Drivers use it for calls that began and have no outcome: after a crash, for example. Such a call is not run
// again, and the model is told that its effect may have happened.
var ErrUnknown = errors.New("the outcome of the call is not known")

// own returns the error without the mark of its call, and the tool of the mark.
func (o *Outcome) own() (tool string, err error) {
	if call, ok := o.Err.(*callError); ok {
		return call.tool, call.error
	}
	return "", o.Err
}

// Later is the error of [TryLater], if the call returned one.
func (o *Outcome) Later() (*LaterError, bool) { return chain.Own[*LaterError](o.own()) }

// Unknown reports whether nobody knows how the call ended: see [ErrUnknown].
func (o *Outcome) Unknown() bool {
	tool, err := o.own()
	return chain.OwnIs(tool, err, ErrUnknown)
}

// Failure is the error of a call as the core sees it, by its types alone; zero if there is none. A panic, an
// error of a run or an action within the tool, and one of a class for what models write
// ([fault.ToolValidation] and its kind) are failures of the tool.
func (o *Outcome) Failure() fault.Failure {
	if later, ok := o.Later(); ok {
		message := fault.TypedFailure(later).Message
		return fault.Failure{
			Plane: fault.Transport, Class: fault.Unavailable, Message: message,
			RetryAfter: max(later.After, 0),
		}
	}
	_, err := o.own()
	f := fault.TypedFailure(err)
	if f.Class.Plane() == fault.Correction {
		f = fault.Failure{Plane: fault.Transport, Class: fault.ToolExecution, Message: f.Message}
	}
	return f
}
