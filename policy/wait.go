package policy

import (
	"math"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
)

// wait is the delay before the next attempt, and what it comes from. A server's retry-after moves the whole range of
// the jittered wait up until its lower end is the retry-after: no wait is shorter, and clients that were all told the
// same second still spread out.
func wait(p *RetryPolicy, pos *Position, f *fault.Failure) (time.Duration, Reason) {
	asked := max(f.RetryAfter, 0)
	if asked > 0 && p.RetryAfter == First {
		return asked, ServerAsked
	}
	delay, low := time.Duration(0), time.Duration(0)
	if len(p.Bases) > 0 {
		delay, low = based(p, pos, f.Class)
	} else if s := &p.Backoff; s.Delay != 0 || s.Kind != backoff.KindConstant || s.Jitter.Kind != backoff.NoJitter {
		delay, low = s.Draw(pos.Attempt, pos.Key)
	}
	switch {
	case asked > low:
		return saturatingAdd(delay, asked-low), ServerAsked
	case delay == 0:
		return 0, Immediate
	}
	return delay, Backoff
}

// based is the wait of the strategy with the base of the class in place, and the least it could be under another key.
func based(p *RetryPolicy, pos *Position, class fault.Class) (delay, low time.Duration) {
	s := p.strategy(class)
	return s.Draw(pos.Attempt, pos.Key)
}

// strategy is the policy's backoff with the base of the class in place.
func (p *RetryPolicy) strategy(class fault.Class) backoff.BackoffStrategy {
	s := p.Backoff
	base, own := p.Bases[class]
	if !own {
		return s
	}
	switch s.Kind {
	case backoff.KindConstant:
		s.Delay = base
	case backoff.KindLinear, backoff.KindExponential:
		s.Base = base
	}
	return s
}

func saturatingAdd(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Planned is one row of a schedule: the wait after a failed attempt.
type Planned struct {
	// Attempt is the attempt after which is waited, 1-based.
	Attempt int
	// Delay is the wait under the given key.
	Delay time.Duration
	// Min and Max bound the wait under any key.
	Min, Max time.Duration
}

// MaxSchedule is the largest number of rows that [Schedule] returns.
const MaxSchedule = 10_000

// Schedule returns the waits of policy p after each of the attempts 1..attempts that fails with class, whatever
// p.MaxAttempts says; attempts below 1 give none and more than [MaxSchedule] count as that. No retry-after plays into it.
func Schedule(p RetryPolicy, class fault.Class, key backoff.Key, attempts int) []Planned {
	s := p.strategy(class)
	rows := make([]Planned, 0, max(0, min(attempts, MaxSchedule)))
	for n := range cap(rows) {
		low, high := s.Bounds(n + 1)
		rows = append(rows, Planned{Attempt: n + 1, Delay: s.After(n+1, key), Min: low, Max: high})
	}
	return rows
}
