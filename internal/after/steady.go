package after

import (
	"sync"
	"time"
)

// Steady is the time of a clock, and goes on while the clock is set back: what waits until then waits no
// longer for that. It is ahead of such a clock from then on. A clock that is never set back has its own time.
// Safe for concurrent use.
type Steady struct {
	clock Clock

	mu sync.Mutex
	// at is the time, and read what the clock said then.
	at, read time.Time
	// reads counts how often the clock was read.
	reads int
}

// SteadyTime returns the time of a clock.
func SteadyTime(c Clock) *Steady { return &Steady{clock: c} }

// After returns that of the clock. With Now, the time is a [Clock], too.
func (s *Steady) After(d time.Duration) <-chan time.Time { return s.clock.After(d) }

// Now returns the time, which is never earlier than before.
func (s *Steady) Now() time.Time {
	s.look()
	defer s.mu.Unlock()
	return s.at
}

// Reached says that the given time has come, because an After for it has fired.
func (s *Steady) Reached(at time.Time) {
	s.look()
	defer s.mu.Unlock()
	if at.After(s.at) {
		s.at = at
	}
}

// Ahead returns how far the time is ahead of that of the clock.
func (s *Steady) Ahead() time.Duration {
	s.look()
	defer s.mu.Unlock()
	return s.at.Sub(s.read)
}

// look reads the clock, and leaves s locked. What a clock is set to is its wall time alone. The clock is read
// without the lock, because it may call whoever waits for it: one that another has read meanwhile, and later,
// was not set back.
func (s *Steady) look() {
	s.mu.Lock()
	before := s.reads
	s.mu.Unlock()
	read := s.clock.Now().Round(0)
	s.mu.Lock()
	switch {
	case s.reads == 0:
		s.at = read
	case read.After(s.read):
		s.at = read.Add(s.at.Sub(s.read))
	case s.reads != before:
		return
	}
	s.read = read
	s.reads++
}
