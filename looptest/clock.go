package looptest

import (
	"context"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
)

// Clock is a clock on which no wait takes time: whoever asks for a timer finds the time moved to its end.
// It starts at [Epoch]. One run at a time waits on it; it is otherwise safe for concurrent use. Its other
// methods are those of a mock clock, which moves only when told to. Make one with [NewClock], and use the
// mock through the methods of the Clock: it does not move with those waits that it need not know of.
type Clock struct {
	*clock.Mock

	mu sync.Mutex
	// now is the time while alone is set: as long as nothing but the waits of a run was asked for, which
	// need no mock. A mock sleeps each time that it is moved.
	now   time.Time
	alone bool
}

// Epoch is the time at which a [Clock] starts, and at which scenarios begin.
var Epoch = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// NewClock returns a clock that stands at [Epoch].
func NewClock() *Clock { return &Clock{Mock: clock.NewMock(), now: Epoch, alone: true} }

// mock is the mock clock, which holds the time from now on.
func (c *Clock) mock() *clock.Mock {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone {
		c.Mock.Set(c.now)
		c.alone = false
	}
	return c.Mock
}

// pass moves the time by d, and returns it; ok is false where that is for the mock to do.
func (c *Clock) pass(d time.Duration) (now time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alone {
		c.now = c.now.Add(d)
	}
	return c.now, c.alone
}

// Timer returns a timer that has fired already, at the end of its wait. Time stands there from then on.
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

// After is as [Clock.Timer].
func (c *Clock) After(d time.Duration) <-chan time.Time { return c.Timer(d).C }

// Sleep moves the time by d.
func (c *Clock) Sleep(d time.Duration) { c.Add(d) }

// Add moves the time by d.
func (c *Clock) Add(d time.Duration) {
	if _, ok := c.pass(d); !ok {
		c.Mock.Add(d)
	}
}

// Now is the time.
func (c *Clock) Now() time.Time {
	if now, ok := c.pass(0); ok {
		return now
	}
	return c.Mock.Now()
}

// Since is the time since t.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Until is the time until t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Set moves the time to t.
func (c *Clock) Set(t time.Time) { c.mock().Set(t) }

// WaitForAllTimers is that of the mock clock.
func (c *Clock) WaitForAllTimers() time.Time { return c.mock().WaitForAllTimers() }

// AfterFunc is that of the mock clock, and so are those below.
func (c *Clock) AfterFunc(d time.Duration, f func()) *clock.Timer { return c.mock().AfterFunc(d, f) }

// Tick is that of the mock clock.
func (c *Clock) Tick(d time.Duration) <-chan time.Time { return c.mock().Tick(d) }

// Ticker is that of the mock clock.
func (c *Clock) Ticker(d time.Duration) *clock.Ticker { return c.mock().Ticker(d) }

// WithDeadline is that of the mock clock.
func (c *Clock) WithDeadline(parent context.Context, d time.Time) (context.Context, context.CancelFunc) {
	return c.mock().WithDeadline(parent, d)
}

// WithTimeout is that of the mock clock.
func (c *Clock) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return c.mock().WithTimeout(parent, d)
}
