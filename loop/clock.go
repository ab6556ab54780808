package loop

import (
	"context"
	"slices"
	"sync"
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

// alarms call functions at times by a clock. A clock cannot take back an After, so they keep one for the next
// time and use it for all later ones: calls with time limits do not add up. They have a goroutine while a
// function is due. Safe for concurrent use.
type alarms struct {
	clock Clock

	mu sync.Mutex
	// due are the functions to call, the next first.
	due     []*alarm
	pending after.Pending
	// changed wakes the goroutine; nil while there is none.
	changed chan struct{}
}

// alarm calls a function at a time.
type alarm struct {
	at time.Time
	f  func()
}

// set calls f once d has passed, on a goroutine of its own, unless stop is called before.
func (a *alarms) set(d time.Duration, f func()) (stop func()) {
	if c, ok := a.clock.(interface {
		Timeout(d time.Duration, f func()) (stop func())
	}); ok {
		return c.Timeout(d, f)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	own := &alarm{a.clock.Now().Add(d), f}
	at, _ := slices.BinarySearchFunc(a.due, own, func(x, own *alarm) int {
		if x.at.After(own.at) {
			return 1
		}
		return -1
	})
	a.due = slices.Insert(a.due, at, own)
	switch {
	case a.changed == nil:
		a.changed = make(chan struct{}, 1)
		go a.watch(a.changed)
	case at == 0:
		a.wake()
	}
	return func() { a.stop(own) }
}

func (a *alarms) stop(own *alarm) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at := slices.Index(a.due, own); at >= 0 {
		a.due = slices.Delete(a.due, at, at+1)
		if len(a.due) == 0 {
			a.wake()
		}
	}
}

// wake wakes the goroutine. a.mu is held.
func (a *alarms) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// watch calls the functions that are due until there is none left.
func (a *alarms) watch(changed <-chan struct{}) {
	for next := a.next(); next.Fired != nil; next = a.next() {
		select {
		case now := <-next.Fired:
			a.fire(next, now)
		case <-changed:
		}
	}
}

// next returns the After that fires at the time of the next function or before. Without a function it ends
// the goroutine: the After has no channel.
func (a *alarms) next() after.After {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 {
		a.changed = nil
		return after.After{}
	}
	return a.pending.Until(a.due[0].at, a.clock.Now, a.clock.After)
}

// fire calls the functions that are due when an After has fired. A wall clock may have been set back: what
// the After was made for is due all the same.
func (a *alarms) fire(fired after.After, now time.Time) {
	if now.Before(fired.At) {
		now = fired.At
	}
	a.mu.Lock()
	a.pending.Fired(fired)
	reached := 0
	for reached < len(a.due) && !a.due[reached].at.After(now) {
		reached++
	}
	due := slices.Clone(a.due[:reached])
	a.due = slices.Delete(a.due, 0, reached)
	a.mu.Unlock()
	for _, d := range due {
		d.f()
	}
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
	switch left := deadline.Sub(a.clock.Now()); {
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

// Err is that of the parent at once, whose hook may come later.
func (d *deadlined) Err() error {
	if err := d.Context.Err(); err != nil {
		d.end(err)
	}
	return context.Cause(d.over)
}

// AfterFunc calls f on its own goroutine when the context ends. With it, package context needs no goroutine
// for each context that is made from this one.
func (d *deadlined) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(d.over, f) }
