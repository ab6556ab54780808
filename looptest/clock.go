package looptest

import (
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// Clock is a clock for tests on which waits take no time: a timer moves the time to its end and fires at
// once. It starts at [Epoch]. Make one with [NewClock].
//
// The time limits of calls are different, because a call that returns has none to wait for. Only if nothing
// happens for [Clock.Patience] of real time, the time moves to the next limit. So a call that hangs on
// purpose is timed out, and a call that returns within that time is not. While goroutines of the process
// compute, the clock is forty times as patient. This is for tests that wait on purpose; the tests of a
// program that is slow for other reasons should use package testing/synctest, whose time moves exactly when
// nothing can happen any more.
//
// Only one run at a time may wait on it; otherwise it is safe for concurrent use. For a clock that moves only
// when told to, use the Mock of github.com/benbjohnson/clock.
type Clock struct {
	// Patience is the real time in which no time limit is set, no call returns and no goroutine computes,
	// before the time moves to the next limit. Zero means 50 ms. Set it before the first use.
	Patience time.Duration

	mu  sync.Mutex
	now time.Time
	// limits are the time limits that have not been reached, by time. quiet fires if nothing happens, and
	// patience is what is left before the time moves.
	limits   []*limit
	quiet    *time.Timer
	patience int
	// computes reports whether goroutines other than the calling one have work to do.
	computes func() bool
}

// limit calls a function at a time.
type limit struct {
	at time.Time
	f  func()
}

// Epoch is the start time of a [Clock] and of scenarios.
var Epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

const defaultPatience = 50 * time.Millisecond

// looks is how often the clock looks in the time of its patience. A process that gets no processor does not
// look, so that its calls get their time. A look at a process that computes takes a fortieth of the patience
// that one at an idle process takes.
const (
	looks    = 5
	idleLook = 40
	busyLook = 1
)

// NewClock returns a clock at [Epoch].
func NewClock() *Clock { return &Clock{now: Epoch, computes: othersCompute} }

// move moves the time to what to returns, and calls the functions of the limits that were reached. It returns
// the time.
func (c *Clock) move(to func(now time.Time) time.Time) time.Time {
	c.mu.Lock()
	now := to(c.now)
	c.now = now
	reached := 0
	for reached < len(c.limits) && !c.limits[reached].at.After(now) {
		reached++
	}
	due := c.limits[:reached:reached]
	c.limits = slices.Clone(c.limits[reached:])
	c.watch()
	c.mu.Unlock()
	for _, l := range due {
		l.f()
	}
	return now
}

func by(d time.Duration) func(time.Time) time.Time {
	return func(now time.Time) time.Time { return now.Add(d) }
}

// Timeout calls f once the time is d later, on a goroutine of its own or on that which moves the time, unless
// stop is called before. Drivers set the time limits of calls with it.
func (c *Clock) Timeout(d time.Duration, f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &limit{c.now.Add(d), f}
	at, _ := slices.BinarySearchFunc(c.limits, l, func(a, b *limit) int {
		if a.at.After(b.at) {
			return 1
		}
		return -1
	})
	c.limits = slices.Insert(c.limits, at, l)
	c.watch()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if at := slices.Index(c.limits, l); at >= 0 {
			c.limits = slices.Delete(c.limits, at, at+1)
			c.watch()
		}
	}
}

// watch waits for quiet, from now on, while there is a limit. c.mu is held.
func (c *Clock) watch() {
	c.patience = looks * idleLook
	switch {
	case len(c.limits) == 0 && c.quiet != nil:
		c.quiet.Stop()
	case len(c.limits) == 0:
	case c.quiet == nil:
		c.quiet = time.AfterFunc(c.pause(), c.look)
	default:
		c.quiet.Reset(c.pause())
	}
}

func (c *Clock) pause() time.Duration {
	if c.Patience > 0 {
		return max(c.Patience/looks, 1)
	}
	return defaultPatience / looks
}

// look moves the time to the next limit if nothing happened for long enough.
func (c *Clock) look() {
	cost := idleLook
	if c.computes() {
		cost = busyLook
	}
	c.mu.Lock()
	c.patience -= cost
	patient := c.patience > 0 && len(c.limits) > 0
	if patient {
		c.quiet.Reset(c.pause())
	}
	c.mu.Unlock()
	if patient {
		return
	}
	c.move(func(now time.Time) time.Time {
		if c.patience > 0 || len(c.limits) == 0 || c.limits[0].at.Before(now) {
			return now // something happened in the meantime
		}
		return c.limits[0].at
	})
}

// othersCompute is the computes of a clock in a real process.
func othersCompute() bool {
	found := []metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
	metrics.Read(found)
	busy := uint64(0)
	for _, s := range found {
		if s.Value.Kind() == metrics.KindUint64 {
			busy += s.Value.Uint64()
		}
	}
	return busy > 1
}

// Expire moves the time to the next time limit now, without patience, so that a call is timed out exactly. It
// returns false if there is no limit.
func (c *Clock) Expire() bool {
	limited := false
	c.move(func(now time.Time) time.Time {
		if limited = len(c.limits) > 0; limited && c.limits[0].at.After(now) {
			return c.limits[0].at
		}
		return now
	})
	return limited
}

// After moves the time by d and returns a channel that has received it.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	fired <- c.move(by(d))
	return fired
}

// Add moves the time by d.
func (c *Clock) Add(d time.Duration) { c.move(by(d)) }

// Set moves the time to t.
func (c *Clock) Set(t time.Time) { c.move(func(time.Time) time.Time { return t }) }

// Now returns the current time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Since returns the time since t: since [Epoch], how long everything waited.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
