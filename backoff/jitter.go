package backoff

import (
	"cmp"
	"math"
	"math/bits"
	"time"
)

// JitterKind names how jitter spreads a delay. The zero value spreads no delay of the strategy, but lets a
// policy add jitter to a server's retry-after.
type JitterKind string

// The kinds of jitter. Each draws uniformly, both ends included.
const (
	// NoJitter spreads no delay, and a policy adds nothing to a server's retry-after either.
	NoJitter JitterKind = "none"
	// Proportional draws from d·(1-Fraction) to d·(1+Fraction), but at most the cap.
	Proportional JitterKind = "proportional"
	// Full draws from 0 to d.
	Full JitterKind = "full"
	// Equal draws from d/2 to d.
	Equal JitterKind = "equal"
)

// Jitter spreads delays, so that clients that failed together do not retry together. The zero value spreads
// none; "jitter: none" in a file is [NoJitter]. Jitter needs a [Key]: without a seed there is no randomness.
type Jitter struct {
	// Kind is how the delay is spread.
	Kind JitterKind `policy:"kind,words=none|proportional|full|equal"`
	// Fraction is the largest part of the delay that proportional jitter adds or subtracts: above 0, at most
	// 1. Only for Proportional.
	Fraction Decimal `policy:"fraction"`
	// AfterCap applies the cap first and then the jitter, so that a delay may exceed the cap by the fraction.
	// Some documents define it so. Otherwise no delay exceeds the cap, and delays at the cap are spread below
	// it. Only for Proportional, and only with a cap.
	AfterCap bool `policy:"after_cap"`
}

// spread returns the range of the jitter around the delay d.
func (s *BackoffStrategy) spread(d time.Duration) (lo, hi time.Duration) {
	switch s.Jitter.Kind {
	case Proportional:
		part, most := s.Jitter.Fraction.Of(d), s.limit()
		if s.Jitter.AfterCap {
			most = math.MaxInt64
		}
		return d - part, d + min(part, most-d)
	case Full:
		return 0, d
	case Equal:
		return d / 2, d
	}
	return d, d
}

// Of returns the fraction d of a duration, rounded down. A fraction below 0 counts as 0, one above 1 as 1.
func (d Decimal) Of(whole time.Duration) time.Duration {
	high, low := bits.Mul64(uint64(whole), uint64(min(max(d, 0), One)))
	part, _ := bits.Div64(high, low, uint64(One)) // it is at most the whole
	return time.Duration(part)
}

// String returns the jitter as text: "±20%", "±20% after the cap", "full"; "none" for the zero value.
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
