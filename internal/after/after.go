// Package after waits by clocks. A clock cannot take back an After.
package after

import (
	"slices"
	"time"
)

// Clock tells the time and waits. It must be safe for concurrent use.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// After is the channel of a clock's After, made for a time.
type After struct {
	At    time.Time
	Fired <-chan time.Time
}

// Pending are the Afters of a clock that have not fired, the next last. The zero value has none.
type Pending []After

// Until returns the After that fires next, at the given time or before. It makes one, by the clock, only if
// there is none. If the time is reached already, it fires at once: a clock that was moved by hand between its
// Now and its After would fire only at its next move.
func (p *Pending) Until(at time.Time, c Clock) After {
	if n := len(*p); n == 0 || (*p)[n-1].At.After(at) {
		fired := c.After(at.Sub(c.Now()))
		if now := c.Now(); !now.Before(at) {
			reached := make(chan time.Time, 1)
			reached <- now
			fired = reached
		}
		*p = append(*p, After{at, fired})
	}
	return (*p)[len(*p)-1]
}

// Fired drops an After that has fired.
func (p *Pending) Fired(f After) {
	*p = slices.DeleteFunc(*p, func(a After) bool { return a.Fired == f.Fired })
}

// Sooner returns the earlier of two times, of which zero is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
