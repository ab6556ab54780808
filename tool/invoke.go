package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/internal/typed"
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

// Ended is the outcome of a call of the named tool whose function returned err, which is not nil. It is for
// engines that run tools without [Tool.Invoke]. What the tool says counts ([AskAgain], [Fail], [TryLater],
// [ErrUnknown]), even if it is wrapped. What a run, an action or another tool within it said does not: see
// [fault.Sealed].
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

// Invoke checks arguments, decodes them into a fresh value and runs the tool under ctx, which may carry an
// [Invocation]. It returns when the tool does; a tool that is to be interrupted must heed ctx. It never
// panics.
func (t *Tool) Invoke(ctx context.Context, args []byte) Outcome {
	return t.InvokeWithin(ctx, args, 0, nil)
}

// After calls f once d has passed, on a goroutine of its own, unless stop is called before.
type After func(d time.Duration, f func()) (stop func())

// InvokeWithin is [Tool.Invoke] for at most d, measured by after; 0 is any time. After d, ctx ends and the
// outcome is a [fault.TransportError] of class [fault.Timeout]. A tool that ignores its context goes on
// alone, and what it returns then is dropped. A [context.DeadlineExceeded] that the tool returns while ctx
// lives is a timeout, too: the deadline was one of its own.
func (t *Tool) InvokeWithin(ctx context.Context, args []byte, d time.Duration, after After) Outcome {
	rec := &recorder{report: invocationOf(ctx).Report}
	ctx = context.WithValue(ctx, recorderKey{}, rec)
	var out Outcome
	if d <= 0 {
		out = t.safely(ctx, args)
	} else {
		out = t.within(ctx, args, d, after)
	}
	rec.close()
	out.Err = typed.TimedOut(ctx, out.Err)
	out.Progress, out.Usage, out.Cost = rec.last, rec.usage, rec.cost
	out.InDoubt = out.InDoubt || rec.doubt
	if out.Result != nil {
		out.Events = rec.events
	}
	if out.Result != nil || out.Failed != "" {
		out.Parts = rec.parts
	}
	return out
}

func (t *Tool) within(ctx context.Context, args []byte, d time.Duration, after After) (out Outcome) {
	late := &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf("%s did not return within %v",
		t.name, d)}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	fired, done := make(chan struct{}), make(chan Outcome, 1)
	defer after(d, func() { end(late); close(fired) })()
	go func() {
		out := Outcome{Err: ErrExited}
		defer func() { done <- out }()
		out = t.safely(ctx, args)
	}()
	select {
	case out = <-done:
	case <-fired:
		return Outcome{Err: late}
	}
	if out.Err != nil && context.Cause(ctx) == error(late) {
		out.Err = late
	}
	return out
}

// ErrExited is the error of a tool, or of another call of user code, that ended the goroutine it ran on, as
// the FailNow of a test does.
var ErrExited = errors.New("the call ended its goroutine (runtime.Goexit)")

// safely is Invoke without events and progress. A panic becomes the tool's error.
func (t *Tool) safely(ctx context.Context, args []byte) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			own := contain.Panicked(known(p))
			own.Tool = t.name
			out = Outcome{Err: own}
		}
	}()
	checked := invocationOf(ctx).Checked.take(t, args)
	if checked == nil {
		var issues []fault.Issue
		if checked, issues = t.schema.Decode(args); issues != nil {
			return Outcome{Issues: issues}
		}
	}
	result, err := t.run(ctx, args, checked)
	if err != nil {
		return Ended(t.name, err)
	}
	return Outcome{Result: result}
}

// ask calls all methods of an error that others will call. An error that panics, such as a nil pointer, does
// so here.
func ask(err error) {
	_ = err.Error()
	(&Outcome{Err: err}).Failure()
}

// known is the value that a tool panicked with. If it is an error whose own methods panic, a text stands for
// it.
func known(value any) (kept any) {
	defer func() {
		if recover() != nil {
			kept = fmt.Sprintf("an error of type %T, which panics when it is asked what it is", value)
		}
	}()
	if err, ok := value.(error); ok {
		ask(err)
	}
	return value
}
