package backoff

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Kind is how the delay grows with the attempt. The zero value is invalid.
type Kind string

// The kinds of backoff.
const (
	// KindConstant always waits Delay.
	KindConstant Kind = "constant"
	// KindLinear waits Base + Step·(n-1) after attempt n.
	KindLinear Kind = "linear"
	// KindExponential waits Base·Factor^(n-1) after attempt n. With a Factor that is no whole number the wait
	// stays the same after attempt 1001.
	KindExponential Kind = "exponential"
	// KindList waits Delays[n-1] after attempt n. The last delay repeats.
	KindList Kind = "list"
)

// BackoffStrategy is how long to wait after each attempt. It is plain data. Its kind decides which other
// fields are used; Validate refuses the others. The zero value is invalid; use Constant(0) for no delay. It
// is safe for concurrent use if nobody writes to it.
type BackoffStrategy struct {
	// Kind decides which of the next five fields are used.
	Kind Kind `policy:"kind,words=constant|linear|exponential|list"`
	// Delay is the constant delay: 0 or more.
	Delay time.Duration `policy:"delay"`
	// Base is the first delay: 0 or more for linear, above 0 for exponential.
	Base time.Duration `policy:"base"`
	// Step is how much a linear delay grows with each attempt: 0 or more, above 0 if Base is 0.
	Step time.Duration `policy:"step"`
	// Factor multiplies an exponential delay with each attempt: 1 to 1,000,000.
	Factor Decimal `policy:"factor"`
	// Delays are the delays of a list, each 0 or more: 1 to 1,000 of them.
	Delays []time.Duration `policy:"delays"`
	// Cap is the largest delay. 0 means no cap; files leave the field out for that, and may not say 0.
	Cap time.Duration `policy:"cap"`
	// Jitter spreads the delays. The zero value spreads none.
	Jitter Jitter `policy:"jitter"`
}

// Constant returns a strategy with the same delay after every attempt.
func Constant(delay time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindConstant, Delay: delay}
}

// Linear returns a strategy that waits base after the first attempt, and step longer after each further one.
func Linear(base, step time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindLinear, Base: base, Step: step}
}

// Exponential returns a strategy that waits base after the first attempt, and factor times as long after each
// further one.
func Exponential(base time.Duration, factor Decimal) BackoffStrategy {
	return BackoffStrategy{Kind: KindExponential, Base: base, Factor: factor}
}

// List returns a strategy with an explicit schedule, whose last delay repeats. It copies the delays.
func List(delays ...time.Duration) BackoffStrategy {
	return BackoffStrategy{Kind: KindList, Delays: slices.Clone(delays)}
}

// After returns the wait after the given attempt, which counts from 1; an attempt below 1 counts as 1. It is
// a pure function. The wait is never negative and at most the largest duration. The zero key means no jitter.
// An invalid strategy gives some delay of 0 or more and does not panic.
func (s BackoffStrategy) After(attempt int, k Key) time.Duration {
	d := s.plain(attempt)
	if k == (Key{}) {
		return d
	}
	low, high := s.spread(d)
	return k.Between(attempt, low, high)
}

// Bounds returns the smallest and the largest delay of the wait after the given attempt, under any key.
// Without jitter both are the delay itself. The delay of the zero key lies within the bounds.
func (s BackoffStrategy) Bounds(attempt int) (lo, hi time.Duration) {
	return s.spread(s.plain(attempt))
}

// limit returns the largest delay before jitter.
func (s *BackoffStrategy) limit() time.Duration {
	if s.Cap > 0 {
		return s.Cap
	}
	return math.MaxInt64
}

// String returns the strategy on one line: "exponential 500ms ×2, cap 30s, jitter ±20%".
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

// listed returns the first delays as text.
func listed(delays []time.Duration) string {
	const most = 12
	text := strings.Trim(fmt.Sprint(delays[:min(len(delays), most)]), "[]")
	if more := len(delays) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
