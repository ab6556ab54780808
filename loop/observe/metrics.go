package observe

import (
	"context"
	"sync"
	"time"
)

// Metrics is an [Observer] that counts retries, reducer errors, waits, attempts, grants of a limiter and
// what failed attempts consumed. The zero value is ready to use. It is safe for concurrent use.
type Metrics struct {
	mu       sync.Mutex
	snapshot Counts
}

// Counts is a copy of the counts of a [Metrics].
type Counts struct {
	// CorrectionRetries counts retries of the correction plane: the metric validation_retry_total.
	CorrectionRetries int64
	// ReducerErrors counts reducer errors: the metric reducer_error_total.
	ReducerErrors int64
	// WastedTokens are the tokens that failed attempts consumed, and WastedCost what they cost, in the unit
	// of a [policy.Price].
	WastedTokens, WastedCost int64
	// Delays is a histogram of the waits before retries, in seconds. Attempts is a histogram of the attempts
	// of actions that passed or were exhausted.
	Delays, Attempts Histogram
	// Grants is a histogram of how long calls waited until a limiter granted them, in seconds, and Denied
	// counts those that it denied.
	Grants Histogram
	Denied int64
}

// delayBounds and attemptBounds are the inclusive upper bounds of the buckets, as in OpenTelemetry. One more
// bucket has the values above the last bound.
var (
	delayBounds   = [...]float64{0, 0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300}
	attemptBounds = [...]float64{1, 2, 3, 5, 8}
)

// Histogram counts values in buckets. It has no buckets before the first value.
type Histogram struct {
	// Bounds are the inclusive upper bounds of the buckets. Counts has one more element, for values above the
	// last bound. Sum is the sum of all values, Count their number.
	Bounds []float64
	Counts []int64
	Sum    float64
	Count  int64
}

func (h *Histogram) add(bounds []float64, v float64) {
	if h.Counts == nil {
		h.Bounds, h.Counts = bounds, make([]int64, len(bounds)+1)
	}
	at := 0
	for at < len(bounds) && v > bounds[at] {
		at++
	}
	h.Counts[at]++
	h.Count++
	h.Sum += v
}

func (h Histogram) clone() Histogram {
	h.Bounds, h.Counts = append([]float64(nil), h.Bounds...), append([]int64(nil), h.Counts...)
	return h
}

// Observe counts one notice.
func (m *Metrics) Observe(_ context.Context, n Notice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.snapshot
	switch n.Kind {
	case Retrying:
		if n.Plane == "correction" {
			c.CorrectionRetries++
		}
		c.Delays.add(delayBounds[:], float64(n.Delay)/float64(time.Second))
	case ReducerFailed:
		c.ReducerErrors++
	case Granted:
		if n.Grant.Denied != "" {
			c.Denied++
		} else {
			c.Grants.add(delayBounds[:], n.Grant.Waited.Seconds())
		}
	case AttemptEnded:
		if n.Class != "" {
			c.WastedTokens += n.Usage.Total()
			c.WastedCost += n.Cost
		}
		if n.Class == "" && !n.Reason.GaveUp() { // nobody waited for a cancelled attempt
			c.Attempts.add(attemptBounds[:], float64(n.Attempt))
		}
	case Exhausted:
		c.Attempts.add(attemptBounds[:], float64(n.Attempt))
	}
}

// Counts returns a copy of the counts.
func (m *Metrics) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.snapshot
	c.Delays, c.Attempts, c.Grants = c.Delays.clone(), c.Attempts.clone(), c.Grants.clone()
	return c
}
