package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/contain"
	"github.com/retake-go/retake/internal/typed"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/tool"
)

// Limits are the time limits of a call; 0 means no limit.
type Limits struct {
	// Whole is the limit of the call.
	Whole time.Duration
	// Late is the text of the error when Whole is exceeded: "the model did not reply".
	Late string
	// End ends the context that Call is given, which then is the call's own: Call ends it when the call is
	// over. Nil gives the call another one, under that context.
	End context.CancelCauseFunc

	// first is the limit of the first piece of a streamed reply, and idle of each further piece.
	first, idle time.Duration
}

// LimitsOf returns the limits of a model call.
func LimitsOf(m *machine.ModelCall) Limits {
	return Limits{Whole: m.Timeout, first: m.FirstToken, idle: m.Idle, Late: "the model did not reply"}
}

// Streamed reports whether the limits are about pieces of a reply. If so, the model is asked for a stream.
func (l *Limits) Streamed() bool { return l.first > 0 || l.idle > 0 }

// Tell runs a function that handles one piece of a streamed reply. Pieces are handled one at a time, and none
// begins after the call was left behind.
type Tell func(piece func())

// grace is how long a call that is left behind waits for a piece that is being handled. A function that takes
// longer continues alone.
const grace = 100 * time.Millisecond

// Call calls a function that may ignore its context. If ctx can end, or a limit is set, the call runs on its
// own goroutine. When ctx ends or a limit is exceeded, Call returns the cause of ctx, or a
// [fault.TransportError] of class [fault.Timeout]; what the call returns later is dropped. If the limit was
// exceeded because a piece is still being handled, the class is [fault.Unknown], because the model is not to
// blame. A [context.DeadlineExceeded] that the call returns while ctx lives is a timeout, too: the deadline
// was one of its own. after is the clock. The error of a call that ends its own goroutine is
// [tool.ErrExited].
//
// Call panics if the call does. If the call ran on its own goroutine, the value is an error that wraps a
// [fault.PanicError], with the stack of the call in its text.
func Call[T any](
	ctx context.Context, lim Limits, after tool.After, call func(context.Context, Tell) (T, error),
) (value T, err error) {
	if ctx.Done() == nil && lim.Whole <= 0 && !lim.Streamed() {
		value, err = call(ctx, func(piece func()) { piece() })
		return value, typed.TimedOut(ctx, chain.Bounded(err))
	}
	own, end := ctx, lim.End
	if end == nil {
		own, end = context.WithCancelCause(ctx)
	}
	r := &running[T]{
		watch: watch{after: after, idle: lim.idle, ctx: own, end: end, stop: func() {}}, err: tool.ErrExited,
	}
	if lim.Whole > 0 {
		defer r.within(lim.Whole, lim.Late)()
	}
	r.wait(lim.first)
	go r.run(call)
	<-own.Done() // the end of the call ends it, too
	if !r.isOver() {
		return value, r.abandon()
	}
	r.leave()
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.value, r.cause(r.err)
}

// running is a call on its own goroutine. How it ended is set before [watch.over]: err is [tool.ErrExited]
// unless it returned.
type running[T any] struct {
	watch
	value    T
	err      error
	panicked *panicError
}

func (r *running[T]) run(call func(context.Context, Tell) (T, error)) {
	defer r.ended()
	defer func() {
		if p := recover(); p != nil {
			r.panicked = &panicError{contain.Panicked(p)}
		}
	}()
	value, err := call(r.ctx, r.tell)
	r.value, r.err = value, typed.TimedOut(r.ctx, chain.Bounded(err))
}

// panicError is the value with which Call panics after a panic on the call's own goroutine.
type panicError struct{ *fault.PanicError }

// Error includes the stack, because a program that dies of the panic prints no other stack of the call.
func (p *panicError) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

func (p *panicError) Unwrap() error { return p.PanicError }

// watch ends the context of a call that exceeds its limits.
type watch struct {
	after tool.After
	idle  time.Duration
	ctx   context.Context
	end   context.CancelCauseFunc

	mu sync.Mutex
	// telling is full while a piece is handled; nil before the first.
	telling chan struct{}
	stop    func()
	late    error
	// over reports that the call has ended, whatever else ended its context before.
	over bool
	// left reports that no further piece is handled.
	left bool
}

// ended ends the context of a call that has ended.
func (w *watch) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.end(nil)
}

func (w *watch) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// within ends the call after d.
func (w *watch) within(d time.Duration, late string) (stop func()) {
	return w.after(d, func() { w.expire("%s within %v", late, d) })
}

// expire ends the call because it took too long, unless something else ended it before.
func (w *watch) expire(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf(format, args...)}
	if w.end(late); context.Cause(w.ctx) == error(late) {
		w.late = late
	}
}

// wait ends the call if no piece arrives within d; 0 means no limit.
func (w *watch) wait(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop()
	if w.stop = func() {}; d > 0 && w.late == nil && !w.left {
		w.stop = w.after(d, func() { w.expire("nothing of the model's reply arrived for %v", d) })
	}
}

// tell handles a piece, unless the call was left behind. The time that this takes is not that of the model.
func (w *watch) tell(piece func()) {
	telling := w.begin()
	select {
	case telling <- struct{}{}:
	default:
		select {
		case telling <- struct{}{}:
		case <-w.ctx.Done():
			return
		}
	}
	defer func() { <-telling }()
	if w.wait(0); w.goesOn() {
		defer w.wait(w.idle)
		piece()
	}
}

// begin returns telling.
func (w *watch) begin() chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.telling == nil {
		w.telling = make(chan struct{}, 1)
	}
	return w.telling
}

func (w *watch) goesOn() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.left
}

// leave ends the watch: no further piece is handled. It reports whether one still is after [grace].
func (w *watch) leave() (held bool) {
	w.end(nil)
	w.mu.Lock()
	w.left = true
	telling := w.telling
	w.mu.Unlock()
	w.wait(0)
	if telling == nil {
		return false
	}
	select {
	case telling <- struct{}{}:
		return false
	default:
	}
	over := make(chan struct{})
	defer w.after(grace, func() { close(over) })()
	select {
	case telling <- struct{}{}:
		return false
	case <-over:
		return true
	}
}

// abandon leaves a call that has not returned, and returns why.
func (w *watch) abandon() error {
	why, held := chain.Bounded(context.Cause(w.ctx)), w.leave()
	w.mu.Lock()
	defer w.mu.Unlock()
	if held && w.late != nil {
		return &fault.TransportError{Class: fault.Unknown,
			Cause: errors.New("the function that gets the streamed reply has not returned")}
	}
	return why
}

// cause returns the error of a call that returned err, or that it took too long if that ended it.
func (w *watch) cause(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.late != nil {
		return w.late
	}
	return err
}
