package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// Flow ends the context of a call of a model whose reply does not come in, piece by piece, in time. Safe for
// concurrent use.
type Flow struct {
	after func(time.Duration, func()) (stop func())
	idle  time.Duration
	end   context.CancelCauseFunc

	mu   sync.Mutex
	stop func()
	late error
}

// NewFlow is the flow of a call that begins now, and the context for it. after calls a function after a time,
// unless it is stopped.
func NewFlow(ctx context.Context, call *machine.ModelCall, after func(time.Duration, func()) (stop func())) (context.Context, *Flow) {
	ctx, end := context.WithCancelCause(ctx)
	f := &Flow{after: after, idle: call.Idle, end: end, stop: func() {}}
	f.wait(call.FirstToken)
	return ctx, f
}

// Flows reports whether a call has a flow: it is asked for a stream then.
func Flows(call *machine.ModelCall) bool { return call.FirstToken > 0 || call.Idle > 0 }

// wait ends the call unless there is a piece within d; 0 is any time.
func (f *Flow) wait(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop()
	if f.stop = func() {}; d <= 0 || f.late != nil {
		return
	}
	f.stop = f.after(d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.late = &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf("nothing came of the model's reply for %v", d)}
		f.end(f.late)
	})
}

// Piece says that a piece came.
func (f *Flow) Piece() { f.wait(f.idle) }

// Over ends the flow with the error of the call, and returns that, or that the reply came too slowly.
func (f *Flow) Over(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stop()
	f.end(nil)
	if err != nil && f.late != nil {
		return f.late
	}
	return err
}
