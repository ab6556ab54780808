package backoff

import (
	"math"
	"time"
)

// Sum is the sum of two durations. It stops at the largest one.
func Sum(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
