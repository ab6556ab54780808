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

// Limits are the time limits of a call; 0 means no limit.
type Limits struct {
	// Whole is the limit of the call, First of the first piece of a streamed reply, and Idle of each further
	// piece.
	Whole, First, Idle time.Duration
	// Late is the text of the error when Whole is exceeded: "the model did not reply".
	Late string
}

// LimitsOf returns the limits of a model call.
func LimitsOf(m *machine.ModelCall) Limits {
	return Limits{Whole: m.Timeout, First: m.FirstToken, Idle: m.Idle, Late: "the model did not reply"}
}

// Streamed reports whether the limits are about pieces of a reply. If so, the model is asked for a stream.
func (l *Limits) Streamed() bool { return l.First > 0 || l.Idle > 0 }

// ErrExited is the error of a call that ended its goroutine, like the FailNow of a test.
var ErrExited = errors.New("the call ended its goroutine (runtime.Goexit)")

// Tell runs a function that handles one piece of a streamed reply. It runs one at a time, and none after the
// call was left behind.
type Tell func(piece func())

// Call calls a function that may ignore its context. If ctx can end, or a limit is set, the call runs on its
// own goroutine. When ctx ends or a limit is exceeded, Call returns the cause of ctx, or a
// [fault.TransportError] of class [fault.Timeout]; what the call returns later is dropped. after is the
// clock.
//
// Call panics if the call does. If the call ran on its own goroutine, the value is an error that wraps a
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

// run makes a call and sends how it ended.
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

// panicError is the value with which Call panics after a panic on the call's own goroutine.
type panicError struct{ fault.PanicError }

// Error includes the stack, because a program that dies of the panic prints no other stack of the call.
func (p *panicError) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

func (p *panicError) Unwrap() error { return &p.PanicError }

// watch ends the context of a call that exceeds its limits.
type watch struct {
	after tool.After
	idle  time.Duration
	ctx   context.Context
	end   context.CancelCauseFunc

	// telling is held while a piece is handled, and guards left.
	telling sync.Mutex
	left    bool

	mu   sync.Mutex
	stop func()
	late error
}

// expire ends the call because it took too long.
func (w *watch) expire(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf(format, args...)}
	w.end(w.late)
}

// wait ends the call if no piece arrives within d; 0 means no limit.
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

// leave ends the watch: no further piece is handled.
func (w *watch) leave() {
	w.end(nil)
	w.telling.Lock()
	defer w.telling.Unlock()
	w.left = true
	w.wait(0)
}

// cause returns the error of a call that returned err, or that it took too long if that ended it.
func (w *watch) cause(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.late != nil && context.Cause(w.ctx) == w.late {
		return w.late
	}
	return err
}
