package looptest

import (
	"context"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
)

// Clock is a clock for tests on which waits take no time: a timer moves the time to its end and fires at
// once. It starts at [Epoch]. Make one with [NewClock].
//
// Only one run at a time may wait on it; otherwise it is safe for concurrent use. The other methods are those
// of a mock clock, which moves only when told to. Call them on the Clock and not on its Mock, whose time may
// be behind.
type Clock struct {
	*clock.Mock

	mu sync.Mutex
	// now is the time while alone is set. That is as long as only a run waits on the clock; then the mock,
	// which sleeps on each move, is not used.
	now   time.Time
	alone bool
}

// Epoch is the start time of a [Clock] and of scenarios.
var Epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// NewClock returns a clock at [Epoch].
func NewClock() *Clock { return &Clock{Mock: clock.NewMock(), now: Epoch, alone: true} }

// mock returns the mock clock, which keeps the time from now on.
func (c *Clock) mock() *clock.Mock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone {
		c.Mock.Set(c.now)
		c.alone = false
	}
	return c.Mock
}

// pass moves the time by d and returns it. If ok is false, the mock has to move.
func (c *Clock) pass(d time.Duration) (now time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone {
		c.now = c.now.Add(d)
	}
	return c.now, c.alone
}

// Timer moves the time by d and returns a timer that has fired.
func (c *Clock) Timer(d time.Duration) *clock.Timer {
	now, ok := c.pass(d)
	if !ok {
		t := c.Mock.Timer(d)
		c.Mock.Add(d)
		return t
	}
	fired := make(chan time.Time, 1)
	fired <- now
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
func (c *Clock) Add(d time.Duration) {
	if _, ok := c.pass(d); !ok {
		c.Mock.Add(d)
	}
}

// Now returns the current time.
func (c *Clock) Now() time.Time {
	if now, ok := c.pass(0); ok {
		return now
	}
	return c.Mock.Now()
}

// Since returns the time since t.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until returns the time until t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Set moves the time to t.
func (c *Clock) Set(t time.Time) { c.mock().Set(t) }

// WaitForAllTimers calls that of the mock clock.
func (c *Clock) WaitForAllTimers() time.Time { return c.mock().WaitForAllTimers() }

// AfterFunc calls that of the mock clock.
func (c *Clock) AfterFunc(d time.Duration, f func()) *clock.Timer { return c.mock().AfterFunc(d, f) }

// Tick calls that of the mock clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.mock().Tick(d) }

// Ticker calls that of the mock clock.
func (c *Clock) Ticker(d time.Duration) *clock.Ticker { return c.mock().Ticker(d) }

// WithDeadline calls that of the mock clock.
func (c *Clock) WithDeadline(parent context.Context, d time.Time) (context.Context, context.CancelFunc) {
	return c.mock().WithDeadline(parent, d)
}

// WithTimeout calls that of the mock clock.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.mock().WithTimeout(parent, d)
}
