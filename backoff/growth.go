package backoff

import (
	"math"
	"math/big"
	"math/bits"
	"time"
)

// Sum returns a + b, or the largest duration if that overflows.
func Sum(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// plain returns the delay after the given attempt without jitter: from 0 to the limit.
func (s *BackoffStrategy) plain(attempt int) time.Duration {
	n, limit := uint64(max(attempt, 1)-1), s.limit()
	switch s.Kind {
	case KindConstant:
		return max(min(s.Delay, limit), 0)
	case KindLinear:
		return linear(s.Base, s.Step, n, limit)
	case KindExponential:
		return exponential(s.Base, s.Factor, n, limit)
	case KindList:
		if len(s.Delays) > 0 {
			return max(min(s.Delays[min(n, uint64(len(s.Delays)-1))], limit), 0)
		}
	}
	return 0
}

// linear returns base + step·n, at most limit.
func linear(base, step time.Duration, n uint64, limit time.Duration) time.Duration {
	over, grown := bits.Mul64(uint64(max(step, 0)), n)
	sum, carry := bits.Add64(uint64(max(base, 0)), grown, 0)
	if over|carry != 0 || sum > uint64(limit) {
		return limit
	}
	return time.Duration(sum)
}

// maxPower is the last power by which a fractional factor grows.
const maxPower = 1_000

// exponential returns base·factor^n rounded down to a nanosecond, at most limit.
func exponential(base time.Duration, factor Decimal, n uint64, limit time.Duration) time.Duration {
	switch {
	case base <= 0:
		return 0
	case base >= limit:
		return limit
	case factor <= One || n == 0:
		return base
	case factor%One == 0:
		return multiply(base, uint64(factor/One), n, limit)
	}
	return fractional(base, factor, min(n, maxPower), limit)
}

// multiply returns base·factor^n for a whole factor of 2 or more. It needs at most 63 steps to reach any
// limit.
func multiply(base time.Duration, factor, n uint64, limit time.Duration) time.Duration {
	d := uint64(base)
	for range n {
		over, product := bits.Mul64(d, factor)
		if over != 0 || product >= uint64(limit) {
			return limit
		}
		d = product
	}
	return time.Duration(d)
}

// fractional returns base·factor^n for any factor and n up to maxPower, exactly, with integers of any size.
func fractional(base time.Duration, factor Decimal, n uint64, limit time.Duration) time.Duration {
	power := func(of Decimal) *big.Int {
		return new(big.Int).Exp(big.NewInt(int64(of)), big.NewInt(int64(n)), nil)
	}
	d := power(factor)
	d.Mul(d, big.NewInt(int64(base))).Quo(d, power(One))
	if !d.IsInt64() {
		return limit
	}
	return min(time.Duration(d.Int64()), limit)
}
