package looptest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
)

// Clock is a clock for tests on which waits take no time: a timer moves the time to its end and fires at
// once. It starts at [Epoch]. Make one with [NewClock].
//
// The time limits of calls are different, because a call that returns has none to wait for. Only if nothing
// happens for [Clock.Patience] of real time, the time moves to the next limit. So a call that hangs on
// purpose is timed out, and a call that returns within that time is not. This is for tests that wait on
// purpose; the tests of a program that is slow for other reasons should use package testing/synctest, whose
// time moves exactly when nothing can happen any more.
//
// Only one run at a time may wait on it; otherwise it is safe for concurrent use. The other methods are those
// of a mock clock, which moves only when told to. Call them on the Clock and not on its Mock, whose time may
// be behind.
type Clock struct {
	*clock.Mock
	// Patience is the real time in which no time limit is set and no call returns, before the time moves to
	// the next limit. Zero means [DefaultPatience]. Set it before the first use.
	Patience time.Duration

	mu sync.Mutex
	// now is the time. alone reports that the mock, which sleeps on each move, is not used.
	now   time.Time
	alone bool
	// limits are the time limits that have not been reached, by time. quiet fires if nothing happens, and
	// looks is how often it has to fire before the time moves.
	limits []*limit
	quiet  *time.Timer
	looks  int
}

// limit calls a function at a time.
type limit struct {
	at time.Time
	f  func()
}

// Epoch is the start time of a [Clock] and of scenarios.
var Epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultPatience is the default of [Clock.Patience].
const DefaultPatience = 50 * time.Millisecond

// looks is how often the clock looks in the time of its patience. A process that gets no processor does not
// look, so that its calls get their time.
const looks = 5

// NewClock returns a clock at [Epoch].
func NewClock() *Clock { return &Clock{Mock: clock.NewMock(), now: Epoch, alone: true} }

// mock returns the mock clock, which has the time from now on.
func (c *Clock) mock() *clock.Mock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone {
		c.Mock.Set(c.now)
		c.alone = false
	}
	return c.Mock
}

// move moves the time to what to returns, and the mock if it is used, and calls the functions of the limits
// that were reached. It returns the time.
func (c *Clock) move(to func(now time.Time) time.Time) time.Time {
	c.mu.Lock()
	now := to(c.now)
	c.now = now
	reached := 0
	for reached < len(c.limits) && !c.limits[reached].at.After(now) {
		reached++
	}
	due, alone := c.limits[:reached:reached], c.alone
	c.limits = slices.Clone(c.limits[reached:])
	c.watch()
	c.mu.Unlock()
	for _, l := range due {
		l.f()
	}
	if !alone {
		c.Mock.Set(now)
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
	c.looks = looks
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
	return DefaultPatience / looks
}

// look moves the time to the next limit if nothing happened for long enough.
func (c *Clock) look() {
	c.mu.Lock()
	c.looks--
	patient := c.looks > 0 && len(c.limits) > 0
	if patient {
		c.quiet.Reset(c.pause())
	}
	c.mu.Unlock()
	if patient {
		return
	}
	c.move(func(now time.Time) time.Time {
		if c.looks > 0 || len(c.limits) == 0 || c.limits[0].at.Before(now) {
			return now // something happened in the meantime
		}
		return c.limits[0].at
	})
}

// Timer moves the time by d and returns a timer that has fired.
func (c *Clock) Timer(d time.Duration) *clock.Timer {
	fired := make(chan time.Time, 1)
	fired <- c.move(by(d))
	t := clock.New().Timer(time.Hour)
	t.Stop()
	t.C = fired
	return t
}

// After is [Clock.Timer] without the timer.
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.Timer(d).C }

// Sleep moves the time by d.
func (c *Clock) Sleep(d time.Duration) { c.Add(d) }

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

// Since returns the time since t.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until returns the time until t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// WaitForAllTimers calls that of the mock clock, and moves the time to it.
func (c *Clock) WaitForAllTimers() time.Time {
	end := c.mock().WaitForAllTimers()
	return c.move(func(time.Time) time.Time { return end })
}

// AfterFunc calls that of the mock clock.
func (c *Clock) AfterFunc(d time.Duration, f func()) *clock.Timer { return c.mock().AfterFunc(d, f) }

// Tick calls that of the mock clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.mock().Tick(d) }

// Ticker calls that of the mock clock.
func (c *Clock) Ticker(d time.Duration) *clock.Ticker { return c.mock().Ticker(d) }

// WithTimeout is [Clock.WithDeadline] for a time from now.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.WithDeadline(parent, c.Now().Add(d))
}
