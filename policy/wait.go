package policy

import (
	"math"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
)

// wait returns the delay before the next attempt and its reason. A server's retry-after is a floor: if the
// strategy could wait less, the wait is drawn from the floor upwards, so that clients with the same
// retry-after do not come back together. The part above the floor is limited to the time that is left.
func wait(p *RetryPolicy, pos *Position, f *fault.Failure) (time.Duration, Reason) {
	asked := max(f.RetryAfter, 0)
	if asked > 0 && p.RetryAfter == RetryAfterFirst {
		return asked, ReasonServerAsked
	}
	s := p.BackoffOf(f.Class)
	delay := s.After(pos.Attempt, pos.Key)
	least, most := delay, delay
	if pos.Key != (backoff.Key{}) {
		least, most = s.Bounds(pos.Attempt)
	}
	switch {
	case asked > least && s.Jitter.Kind == backoff.NoJitter:
		return asked, ReasonServerAsked
	case asked > least:
		most = max(most, backoff.Sum(asked, p.RetryAfterJitter.Of(asked)))
		return pos.Key.Between(pos.Attempt, asked, min(most, room(p, pos))), ReasonServerAsked
	case delay == 0:
		return 0, ReasonImmediate
	}
	return delay, ReasonBackoff
}

// room returns the longest wait that fits the total delay and ends before the deadline.
func room(p *RetryPolicy, pos *Position) time.Duration {
	left := time.Duration(math.MaxInt64)
	if p.MaxTotalDelay != Unlimited {
		left = p.MaxTotalDelay - max(pos.Waited, 0)
	}
	if !pos.Deadline.IsZero() {
		left = min(left, max(pos.Deadline.Sub(pos.Now), 0)-1)
	}
	return left
}

// BackoffOf returns the strategy of the waits after failures of a class: Backoff with the base that Bases has
// for the class.
func (p *RetryPolicy) BackoffOf(class fault.Class) backoff.BackoffStrategy {
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
