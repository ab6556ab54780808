package backoff

import (
	"math/bits"
	"time"
)

// tableRows is how many delays a [Table] holds: all that differ, for a doubled nanosecond.
const tableRows = 64

// Table is a strategy with its first 64 delays computed once, for who asks for many of them one by one: [Table.After] is
// [BackoffStrategy.After] in a fraction of its time. Make it with [BackoffStrategy.Table]; the zero value waits for nothing.
// It is read-only, and safe for concurrent use.
type Table struct {
	// Jitter draws one of so many values from low on.
	low    [tableRows]time.Duration
	values [tableRows]uint64
	plain  [tableRows]time.Duration
	s      BackoffStrategy
}

// Table computes the first delays of a strategy. The table keeps no slice of the strategy's.
func (s BackoffStrategy) Table() *Table {
	s.Delays = append([]time.Duration(nil), s.Delays...)
	t := &Table{s: s}
	limit := s.limit()
	for n := range t.plain {
		t.plain[n] = s.plain(uint64(n), limit)
		lo, hi := s.spread(t.plain[n])
		t.low[n], t.values[n] = lo, uint64(hi-lo)+1
	}
	return t
}

// After is [BackoffStrategy.After]: the wait after the given attempt, which counts from 1.
func (t *Table) After(attempt int, k Key) time.Duration {
	if n := uint(attempt - 1); n < tableRows && !k.none() {
		offset, _ := bits.Mul64(t.values[n], k.hash(uint64(attempt)))
		return t.low[n] + time.Duration(offset)
	}
	return t.rare(attempt, k)
}

// rare is After without a key, below the first attempt, and beyond the table.
func (t *Table) rare(attempt int, k Key) time.Duration {
	if n := uint(max(attempt, 1) - 1); n < tableRows && k.none() {
		return t.plain[n]
	}
	return t.s.After(attempt, k)
}
