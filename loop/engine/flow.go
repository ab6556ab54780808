package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
)

// Flow cancels a model call whose reply does not arrive in time, piece by piece. It is safe for concurrent
// use.
type Flow struct {
	after func(time.Duration, func()) (stop func())
	idle  time.Duration
	end   context.CancelCauseFunc

	mu   sync.Mutex
	stop func()
	late error
}

// NewFlow returns the flow of a call that begins now, and its context. after calls a function after a time,
// unless stop is called first.
func NewFlow(ctx context.Context, call *machine.ModelCall, after func(time.Duration, func()) (stop func())) (context.Context, *Flow) {
	ctx, end := context.WithCancelCause(ctx)
	f := &Flow{after: after, idle: call.Idle, end: end, stop: func() {}}
	f.wait(call.FirstToken)
	return ctx, f
}

// Flows reports whether a call has a flow. If so, the model is asked for a stream.
func Flows(call *machine.ModelCall) bool { return call.FirstToken > 0 || call.Idle > 0 }

// wait cancels the call if no piece arrives within d; 0 means no limit.
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
		f.late = &fault.TransportError{Class: fault.Timeout, Cause: fmt.Errorf("nothing of the model's reply arrived for %v", d)}
		f.end(f.late)
	})
}

// Piece reports that a piece arrived.
func (f *Flow) Piece() { f.wait(f.idle) }

// Over ends the flow. It returns the error of the call, or that the reply was too slow.
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
