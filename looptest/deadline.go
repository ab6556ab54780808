package looptest

import (
	"context"
	"sync"
	"time"
)

// WithDeadline is [context.WithDeadline] by this clock. The deadline is a time limit: see [Clock].
func (c *Clock) WithDeadline(parent context.Context, at time.Time) (context.Context, context.CancelFunc) {
	if own, ok := parent.Deadline(); ok && own.Before(at) {
		return context.WithCancel(parent)
	}
	ctx := &deadline{Context: parent, at: at, done: make(chan struct{})}
	unhook := context.AfterFunc(parent, func() { ctx.end(parent.Err()) })
	stop := func() {}
	if left := c.Until(at); left > 0 && parent.Err() == nil {
		stop = c.Timeout(left, func() { ctx.end(context.DeadlineExceeded) })
	} else if parent.Err() == nil {
		ctx.end(context.DeadlineExceeded)
	}
	return ctx, func() { ctx.end(context.Canceled); unhook(); stop() }
}

// deadline is a context that ends at a time of a [Clock].
type deadline struct {
	context.Context
	at   time.Time
	done chan struct{}

	mu  sync.Mutex
	err error
}

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

func (d *deadline) Done() <-chan struct{} { return d.done }

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// end ends the context, unless it has ended.
func (d *deadline) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
		close(d.done)
	}
}
