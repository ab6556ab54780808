package backoff

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// JitterKind names how a delay is spread. The zero value spreads no delay of the strategy's own, and leaves
// it open what a policy adds above a wait that a server asked for.
type JitterKind string

// The kinds of jitter. Each draws uniformly, both ends included.
const (
	// NoJitter is a promise: no delay is spread, and a policy adds nothing to a wait that a server asked for.
	NoJitter JitterKind = "none"
	// Proportional draws from d·(1-Fraction) to d·(1+Fraction), the upper end bounded by the cap.
	Proportional JitterKind = "proportional"
	// Full draws from 0 to d.
	Full JitterKind = "full"
	// Equal draws from d/2 to d.
	Equal JitterKind = "equal"
)

// Jitter spreads delays, so that clients that failed together do not come back together. The zero value
// spreads none; in files "jitter: none" says so outright (see [NoJitter]). It takes effect only with a [Key]:
// without a seed there is no randomness.
type Jitter struct {
	// Kind is how the delay is spread.
	Kind JitterKind
	// Fraction is the part of the delay that proportional jitter adds or takes at most: above 0, at most 1.
	// Only for proportional.
	Fraction Decimal
	// AfterCap applies the cap first and the jitter to its result, which may then exceed the cap by the
	// fraction: the order that some documents of agents fix. Without it no delay exceeds the cap, and those
	// at the cap are still spread below it. Only for proportional, and only with a cap.
	AfterCap bool
}

// spread is the range that jitter draws from around the delay d.
func (s *BackoffStrategy) spread(d time.Duration) (lo, hi time.Duration) {
	switch s.Jitter.Kind {
	case Proportional:
		part := s.Jitter.Fraction.Of(d)
		return d - part, d + min(part, s.jitterLimit()-d)
	case Full:
		return 0, d
	case Equal:
		return d / 2, d
	}
	return d, d
}

// jitterLimit is the largest delay after proportional jitter.
func (s *BackoffStrategy) jitterLimit() time.Duration {
	if s.Jitter.AfterCap {
		return math.MaxInt64
	}
	return s.limit()
}

// Of is the part d of a duration, rounded down. A part below 0 counts as 0, one above 1 as 1.
func (d Decimal) Of(whole time.Duration) time.Duration {
	part := uint64(min(max(d, 0), One))
	if over, product := bits.Mul64(uint64(whole), part); over == 0 {
		return time.Duration(product / uint64(One))
	}
	// The whole seconds and the rest give whole products.
	seconds, rest := uint64(whole)/uint64(One), uint64(whole)%uint64(One)
	return time.Duration(seconds*part + rest*part/uint64(One))
}

// String is the jitter for people: "±20%", "±20% after the cap", "full"; "none" for the zero value.
func (j Jitter) String() string {
	if j.Kind != Proportional {
		return cmp.Or(string(j.Kind), string(NoJitter))
	}
	text := "±" + j.Fraction.shifted(decimals-2) + "%"
	if j.AfterCap {
		text += " after the cap"
	}
	return text
}
