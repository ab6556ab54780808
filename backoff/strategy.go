package backoff

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// BackoffStrategy says how long to wait after each attempt. It is plain data: its kind decides which of the
// other fields are used, and Validate refuses those that are not. The zero value is invalid; no delay at all
// is Constant(0). A strategy is safe for concurrent use as long as nobody writes to it.
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
	// Cap bounds the delays computed above. 0 is no cap; files spell it by leaving the field out, and 0 is
	// refused there.
	Cap time.Duration
	// Jitter spreads the delays. The zero value spreads none.
	Jitter Jitter
}

// Constant is the same delay after every attempt.
func Constant(delay time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindConstant, Delay: delay}
}

// Linear is base after the first attempt and step more after each further one.
func Linear(base, step time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindLinear, Base: base, Step: step}
}

// Exponential is base after the first attempt and factor times as much after each further one.
func Exponential(base time.Duration, factor Decimal) BackoffStrategy {
	return BackoffStrategy{Kind: KindExponential, Base: base, Factor: factor}
}

// List is an explicit schedule; beyond its end the last entry repeats. The delays are copied.
func List(delays ...time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindList, Delays: slices.Clone(delays)}
}

// After is the wait after the given attempt, which counts from 1; an attempt below 1 is taken as 1. It is
// pure, never negative, saturates at the largest duration, and returns at once for every attempt an int can
// hold. With the zero key there is no jitter. A strategy that Validate refuses gives some delay of 0 or more,
// and never a panic.
func (s BackoffStrategy) After(attempt int, k Key) time.Duration {
	d := s.plain(uint64(max(attempt, 1)-1), s.limit())
	if k == (Key{}) {
		return d
	}
	low, high := s.spread(d)
	return k.Between(attempt, low, high)
}

// Bounds is the smallest and the largest delay that jitter can make of the wait after the given attempt.
// Without jitter both are the delay itself. Without a key there is no jitter whatever the strategy says: the
// delay is then that of After(attempt, Key{}), which lies within the bounds.
func (s BackoffStrategy) Bounds(attempt int) (lo, hi time.Duration) {
	return s.spread(s.plain(uint64(max(attempt, 1)-1), s.limit()))
}

// limit is the largest delay before jitter.
func (s *BackoffStrategy) limit() time.Duration {
	if s.Cap > 0 {
		return s.Cap
	}
	return math.MaxInt64
}

// String is the strategy on one line for people: "exponential 500ms ×2, cap 30s, jitter ±20%".
func (s BackoffStrategy) String() string {
	var text string
	switch s.Kind {
	case KindConstant:
		text = fmt.Sprintf("constant %v", s.Delay)
	case KindLinear:
		text = fmt.Sprintf("linear %v +%v", s.Base, s.Step)
	case KindExponential:
		text = fmt.Sprintf("exponential %v ×%v", s.Base, s.Factor)
	case KindList:
		text = "list " + listed(s.Delays)
	case "":
		text = "no backoff"
	default:
		text = fmt.Sprintf("unknown backoff %q", string(s.Kind))
	}
	if s.Cap != 0 {
		text += fmt.Sprintf(", cap %v", s.Cap)
	}
	if s.Jitter != (Jitter{}) {
		text += ", jitter " + s.Jitter.String()
	}
	return text
}

// listed is the first of the delays.
func listed(delays []time.Duration) string {
	const most = 12
	text := strings.Trim(fmt.Sprint(delays[:min(len(delays), most)]), "[]")
	if more := len(delays) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
