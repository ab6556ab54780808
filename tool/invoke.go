package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/internal/typed"
)

// Invoke checks arguments, decodes them into a fresh value and runs the tool under ctx, which may carry an
// [Invocation]. It returns when the tool does; a tool that is to be interrupted must heed ctx. A panic of the
// tool is its error. Nobody is asked for approval: that, and what a policy says, are a run's.
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

// known returns the value that a tool panicked with. If it is an error whose own methods panic, a text stands
// for it.
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
