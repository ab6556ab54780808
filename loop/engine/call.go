package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// Limits are how long a call may take; 0 is any time.
type Limits struct {
	// Whole is for the call, First for the first piece of a streamed reply, and Idle for each further piece.
	Whole, First, Idle time.Duration
	// Late says what was not done when Whole is over: "the model did not reply".
	Late string
}

// LimitsOf are the limits of a call of a model.
func LimitsOf(m *machine.ModelCall) Limits {
	return Limits{Whole: m.Timeout, First: m.FirstToken, Idle: m.Idle, Late: "the model did not reply"}
}

// Streamed reports whether the limits need to know of each piece of a reply: the call is to be streamed then.
func (l *Limits) Streamed() bool { return l.First > 0 || l.Idle > 0 }

// ErrExited is the error of a call that ended its goroutine, as the FailNow of a test does.
var ErrExited = errors.New("the call ended its goroutine (runtime.Goexit)")

// Tell runs a function that handles one piece of a streamed reply: one at a time, and none once the call was
// left behind.
type Tell func(piece func())

// Call makes a call of a function that may ignore its context. Where ctx may end, or a limit is set, the call
// has a goroutine of its own, and is left behind once ctx ends or a limit is exceeded: the error is then the
// cause of ctx, or a [fault.TransportError] of class [fault.Timeout]. What the call returns later is dropped.
//
// after is the clock.
//
// A panic of the call is one of Call: on a goroutine of its own its value is an error that wraps a
// [fault.PanicError], with the stack of the call in its text.
func Call[T any](
	ctx context.Context, lim Limits, after tool.After, call func(context.Context, Tell) (T, error),
) (value T, err error) {
	if ctx.Done() == nil && lim.Whole <= 0 && !lim.Streamed() {
		return call(ctx, func(piece func()) { piece() })
	}
	w := &watch{after: after, idle: lim.Idle, stop: func() {}}
	ctx, w.end = context.WithCancelCause(ctx)
	w.ctx = ctx
	defer w.leave()
	if lim.Whole > 0 {
		defer after(lim.Whole, func() { w.expire("%s within %v", lim.Late, lim.Whole) })()
	}
	w.wait(lim.First)
	done := make(chan ended[T], 1)
	go run(done, func() (T, error) { return call(ctx, w.tell) })
	var got ended[T]
	select {
	case got = <-done:
	case <-ctx.Done():
		select {
		case got = <-done: // both at once: it has returned
		default:
			return value, context.Cause(ctx)
		}
	}
	if got.panicked != nil {
		panic(got.panicked)
	}
	return got.value, w.cause(got.err)
}

// ended is how a call ended.
type ended[T any] struct {
	value    T
	err      error
	panicked *panicError
}

// run makes a call, and says how it ended.
func run[T any](done chan<- ended[T], call func() (T, error)) {
	out := ended[T]{err: ErrExited} // unless it returns
	defer func() {
		if p := recover(); p != nil {
			out.panicked = &panicError{fault.PanicError{Value: p, Stack: string(debug.Stack())}}
		}
		done <- out
	}()
	out.value, out.err = call()
}

// panicError is what a call panics with again that panicked on a goroutine of its own.
type panicError struct{ fault.PanicError }

// Error has the stack too: a program that dies of the panic prints no other of the call.
func (p *panicError) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

func (p *panicError) Unwrap() error { return &p.PanicError }

// watch ends the context of a call that exceeds its limits.
type watch struct {
	after tool.After
	idle  time.Duration
	ctx   context.Context
	end   context.CancelCauseFunc

	// telling is held while a piece is told, and guards left.
	telling sync.Mutex
	left    bool

	mu   sync.Mutex
	stop func()
	late error
}

// expire ends the call, for it took too long.
func (w *watch) expire(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf(format, args...)}
	w.end(w.late)
}

// wait ends the call unless there is a piece within d; 0 is any time.
func (w *watch) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	if w.stop = func() {}; d > 0 && w.late == nil {
		w.stop = w.after(d, func() { w.expire("nothing of the model's reply arrived for %v", d) })
	}
}

// tell handles a piece, unless the call was left behind.
func (w *watch) tell(piece func()) {
	w.telling.Lock()
	defer w.telling.Unlock()
	if !w.left {
		w.wait(w.idle)
		piece()
	}
}

// leave ends the watch: no piece is told from then on.
func (w *watch) leave() {
	w.end(nil)
	w.telling.Lock()
	defer w.telling.Unlock()
	w.left = true
	w.wait(0)
}

// cause is the error of a call that returned err: that it took too long, where that ended it.
func (w *watch) cause(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.late != nil && context.Cause(w.ctx) == w.late {
		return w.late
	}
	return err
}
