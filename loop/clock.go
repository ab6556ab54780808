package loop

import (
	"context"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/limit/limiter"
)

// Clock tells the time and waits. That of github.com/benbjohnson/clock satisfies it, and so do its Mock and
// other fake clocks. It must be safe for concurrent use.
//
// A clock may also have a method Timeout(d time.Duration, f func()) (stop func()). Then it is asked for the
// time limits of calls, which are seldom reached, and After for waits alone: on a
// [github.com/retake-go/retake/looptest.Clock] a wait takes no time, and a call has its limit.
type Clock = limiter.Clock

// alarms end what takes too long.
type alarms struct{ after.Alarms }

// set calls f once d has passed, unless stop is called before.
func (a *alarms) set(d time.Duration, f func()) (stop func()) {
	if c, ok := a.Clock.(interface {
		Timeout(d time.Duration, f func()) (stop func())
	}); ok {
		return c.Timeout(d, f)
	}
	own := after.NewAlarm(f)
	a.Set(own, a.Clock.Now().Add(d))
	return func() { a.Set(own, time.Time{}) }
}

// bounded returns ctx with a deadline by the clock, and a function that frees it. It is ctx itself if the
// deadline is zero or ctx ends by then.
func (a *alarms) bounded(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if own, ok := ctx.Deadline(); deadline.IsZero() || ok && !deadline.Before(own) {
		return ctx, func() {}
	}
	d := &deadlined{Context: ctx, at: deadline}
	d.over, d.end = context.WithCancelCause(context.Background())
	unhook := context.AfterFunc(ctx, func() { d.end(ctx.Err()) })
	stop := func() {}
	switch left := deadline.Sub(a.Clock.Now()); {
	case ctx.Err() != nil:
		d.end(ctx.Err())
	case left > 0:
		stop = a.set(left, func() { d.end(context.DeadlineExceeded) })
	default:
		d.end(context.DeadlineExceeded)
	}
	return d, func() { unhook(); stop(); d.end(context.Canceled) }
}

// deadlined is a context that ends at a time of a clock.
type deadlined struct {
	context.Context
	at time.Time
	// over ends with it, by end. Its cause is the error.
	over context.Context
	end  context.CancelCauseFunc
}

func (d *deadlined) Deadline() (time.Time, bool) { return d.at, true }

func (d *deadlined) Done() <-chan struct{} { return d.over.Done() }

// Err returns that of the parent at once, whose hook may come later.
func (d *deadlined) Err() error {
	if err := d.Context.Err(); err != nil {
		d.end(err)
	}
	return context.Cause(d.over)
}

// AfterFunc calls f on its own goroutine when the context ends. With it, package context needs no goroutine
// for each context that is made from this one.
func (d *deadlined) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(d.over, f) }
