package tool

import (
	"cmp"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/reducer"
)

// Outcome is how a call of a tool ended. Exactly one of Result, Issues, Failed and Err is set.
type Outcome struct {
	// Result is the tool's result as canonical JSON.
	Result []byte
	// Parts are the media of its result, in the order in which they were attached; none unless it succeeded
	// or said [Fail].
	Parts []message.Part
	// Events are what it emitted, in order; none unless it succeeded.
	Events []reducer.Event
	// Progress is the last progress it reported, as canonical JSON; nil where it reported none.
	Progress []byte
	// Issues say why the model is to be asked again, in canonical order: the arguments are wrong, or the tool
	// said [AskAgain].
	Issues []fault.Issue
	// Failed is what the model is told where the tool said [Fail].
	Failed string
	// InDoubt says that the call may have had an effect that nobody knows of: see [Doubt], [FailedError].
	InDoubt bool
	// Whole is that of the [FailedError], where the tool said [Fail].
	Whole bool
	// Err is any other error of the tool. errors.As finds a [*LaterError] in it where the tool said
	// [TryLater], and a [*fault.PanicError] where it panicked; errors.Is finds [ErrUnknown] where nobody
	// knows how the call ended. Its text is for operators and not for prompts.
	Err error
	// Usage is what models consumed within the call: see [AddUsage].
	// Cost is what that cost, as far as the runs within the call know it: see [AddCost]; nil if none does.
	Usage message.Usage
	Cost  *int64
	// said is the error that said [Fail], if that is not all it says.
	said error
}

// Cause returns the Go error behind a call that failed: what the tool returned, with everything that it
// wraps. It is nil if the call succeeded or asks for another one. If the call was made in another process and
// said [Fail], it is a [*FailedError] with the same text.
func (o *Outcome) Cause() error {
	switch _, err := o.own(); {
	case err != nil:
		return err
	case o.said != nil:
		return o.said
	case o.Failed != "":
		return &FailedError{Text: o.Failed, InDoubt: o.InDoubt, Whole: o.Whole}
	}
	return nil
}

// Ended returns the outcome of a call of the named tool whose function returned err, which is not nil. It is
// for engines that run tools without [Tool.Invoke]. What the tool says counts ([AskAgain], [Fail],
// [TryLater], [ErrUnknown]), even if it is wrapped. What a run, an action or another tool within it said does
// not: see [fault.Sealed].
func Ended(tool string, err error) (out Outcome) {
	err = chain.Bounded(err)
	if again, ok := chain.Own[*AskAgainError](tool, err); ok {
		out.Issues = said(again.Issues)
	} else if failed, ok := chain.Own[*FailedError](tool, err); ok {
		out.Failed, out.InDoubt, out.Whole = cmp.Or(failed.Text, wordless), failed.InDoubt, failed.Whole
		if err != error(failed) {
			out.said = err
		}
	} else {
		ask(err)
		_, inner := err.(*callError)
		_, later := chain.Own[*LaterError](tool, err)
		if out.Err = err; inner || later || chain.OwnIs(tool, err, ErrUnknown) {
			out.Err = &callError{err, tool}
		}
	}
	return out
}

// callError is the error of a call that said [TryLater] or [ErrUnknown], so that it is no word of another
// tool that made the call and returns the error.
type callError struct {
	error
	tool string
}

func (e *callError) Unwrap() error { return e.error }

func (e *callError) Sealed(tool string) bool { return tool != e.tool }

// own returns the error without the mark of its call, and the tool of the mark.
func (o *Outcome) own() (tool string, err error) {
	if call, ok := o.Err.(*callError); ok {
		return call.tool, call.error
	}
	return "", o.Err
}

// Later returns the error of [TryLater], if the call returned one.
func (o *Outcome) Later() (*LaterError, bool) { return chain.Own[*LaterError](o.own()) }

// Unknown reports whether nobody knows how the call ended: see [ErrUnknown].
func (o *Outcome) Unknown() bool {
	tool, err := o.own()
	return chain.OwnIs(tool, err, ErrUnknown)
}

// Failure returns the error of a call as the core sees it, by its types alone; zero if there is none. A
// panic, an error of a run or an action within the tool, and one of a class for what models write
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
