package backoff

import (
	"math"
	"slices"
	"time"
)

// Kind names how the delay grows with the attempt. The zero value is invalid.
type Kind string

// The kinds of backoff.
const (
	// KindConstant is Delay, always.
	KindConstant Kind = "constant"
	// KindLinear is Base + Step·(n-1) after attempt n.
	KindLinear Kind = "linear"
	// KindExponential is Base·Factor^(n-1) after attempt n.
	KindExponential Kind = "exponential"
	// KindList is Delays[n-1] after attempt n; beyond the end the last entry repeats.
	KindList Kind = "list"
)

// BackoffStrategy says how long to wait after each attempt (seed 002). It is plain data: its kind decides which of the
// other fields are used, and Validate refuses those that are not. The zero value is invalid; no delay at all is
// Constant(0). A strategy is safe for concurrent use as long as nobody writes to it.
type BackoffStrategy struct {
	// Kind decides which of the next five fields are used.
	Kind Kind
	// Delay is the constant delay: 0 or more.
	Delay time.Duration
	// Base is the first delay: 0 or more for linear, above 0 for exponential.
	Base time.Duration
	// Step is what a linear delay grows by with each attempt: 0 or more, above 0 where Base is 0.
	Step time.Duration
	// Factor is what an exponential delay is multiplied by with each attempt: 1 to 1,000,000.
	Factor Decimal
	// Delays are the delays of a list, each 0 or more: 1 to 1,000 of them.
	Delays []time.Duration
	// Cap bounds the delays computed above. 0 is no cap; files spell it by leaving the field out, and 0 is refused there.
	Cap time.Duration
	// Jitter spreads the delays. The zero value spreads none.
	Jitter Jitter
}

// Constant is the same delay after every attempt (seed 002, ConstantBackoff).
func Constant(delay time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindConstant, Delay: delay}
}

// Linear is base after the first attempt and step more after each further one (seed 002, LinearBackoff).
func Linear(base, step time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindLinear, Base: base, Step: step}
}

// Exponential is base after the first attempt and factor times as much after each further one (seed 002,
// ExponentialBackoff).
func Exponential(base time.Duration, factor Decimal) BackoffStrategy {
	return BackoffStrategy{Kind: KindExponential, Base: base, Factor: factor}
}

// List is an explicit schedule; beyond its end the last entry repeats. The delays are copied.
func List(delays ...time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindList, Delays: slices.Clone(delays)}
}

// Equal reports whether two strategies are the same in every field.
func (s BackoffStrategy) Equal(t BackoffStrategy) bool {
	return s.Kind == t.Kind && s.Delay == t.Delay && s.Base == t.Base && s.Step == t.Step && s.Factor == t.Factor &&
		slices.Equal(s.Delays, t.Delays) && s.Cap == t.Cap && s.Jitter == t.Jitter
}

// After is the wait after the given attempt, which counts from 1; an attempt below 1 is taken as 1. It is pure, never
// negative, saturates at the largest duration, and returns at once for every attempt an int can hold. With the zero key
// there is no jitter. A strategy that Validate refuses gives some delay of 0 or more, and never a panic.
func (s BackoffStrategy) After(attempt int, k Key) time.Duration {
	delay, _, _ := s.Draw(attempt, k)
	return delay
}

// Draw is [BackoffStrategy.After] for a strategy where it stands, without copying it, and the least and the most that the delay
// could have been under another key: the delay itself where there is no key.
func (s *BackoffStrategy) Draw(attempt int, k Key) (delay, least, most time.Duration) {
	delay = s.plain(uint64(max(attempt, 1)-1), s.limit())
	if k.none() {
		return delay, delay, delay
	}
	least, most = s.spread(delay)
	return k.Between(attempt, least, most), least, most
}

// Append appends the waits after attempts 1 to n to dst: what After gives for each, in one go and in less time.
// An n below 1 appends nothing.
func (s BackoffStrategy) Append(dst []time.Duration, n int, k Key) []time.Duration {
	from := len(dst)
	dst = slices.Grow(dst, max(n, 0))[:from+max(n, 0)]
	s.fill(dst[from:])
	if !k.none() {
		s.shake(dst[from:], k)
	}
	return dst
}

// Bounds is the smallest and the largest delay that jitter can make of the wait after the given attempt. Without jitter
// both are the delay itself. Without a key there is no jitter whatever the strategy says: the delay is then that of
// After(attempt, Key{}), which lies within the bounds.
func (s BackoffStrategy) Bounds(attempt int) (lo, hi time.Duration) {
	d := s.plain(uint64(max(attempt, 1)-1), s.limit())
	return s.spread(d)
}

// limit is the largest delay before jitter.
func (s *BackoffStrategy) limit() time.Duration {
	if s.Cap > 0 {
		return s.Cap
	}
	return math.MaxInt64
}

// fill sets the delays after attempts 1, 2, 3, … without jitter.
func (s *BackoffStrategy) fill(delays []time.Duration) {
	limit := s.limit()
	if s.doubles() {
		d, half := min(s.Base, limit), limit/2
		for n := range delays {
			delays[n] = d
			if d <= half {
				d *= 2
			} else {
				d = limit
			}
		}
		return
	}
	for n := range delays {
		delays[n] = s.plain(uint64(n), limit)
	}
}

// plain is the delay without jitter after n further attempts: between 0 and limit.
func (s *BackoffStrategy) plain(n uint64, limit time.Duration) time.Duration {
	switch s.Kind {
	case KindExponential:
		return exponential(s.Base, s.Factor, n, limit)
	case KindConstant:
		return max(min(s.Delay, limit), 0)
	case KindLinear:
		return linear(s.Base, s.Step, n, limit)
	case KindList:
		if len(s.Delays) == 0 {
			return 0
		}
		return max(min(s.Delays[min(n, uint64(len(s.Delays)-1))], limit), 0)
	}
	return 0
}

// doubles reports whether the delay doubles: the one case worth a way of its own.
func (s *BackoffStrategy) doubles() bool {
	return s.Factor == 2*One && s.Base > 0 && s.Kind == KindExponential
}
