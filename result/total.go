package result

import (
	"math"
	"time"
)

// Plus returns what two runs took together; e is the later one. Durations, tokens, calls and cost are added
// up. The timestamp is that of the earlier run, if it has one. Model, provider and retry count are those of
// e, or of the earlier run where e has none. Durations and counts stop at the largest value that fits. A cost
// that does not fit is infinite, which is not a valid amount.
func (e Execution) Plus(earlier Execution) Execution {
	sum := e
	sum.Duration = time.Duration(capped(int64(e.Duration), int64(earlier.Duration)))
	sum.Usage = e.Usage.Plus(earlier.Usage)
	sum.Cost = e.Cost.Plus(earlier.Cost)
	if earlier.Timestamp != "" {
		sum.Timestamp = earlier.Timestamp
	}
	if sum.Model == "" && sum.Provider == "" {
		sum.Model, sum.Provider = earlier.Model, earlier.Provider
	}
	if sum.RetryCount == nil {
		sum.RetryCount = earlier.RetryCount
	}
	return sum
}

// Plus returns the sum of both. The total is given where either gives one.
func (u Usage) Plus(v Usage) Usage {
	sum := Usage{Usage: u.Usage.Add(v.Usage)}
	if u.TotalTokens != 0 || v.TotalTokens != 0 {
		sum.TotalTokens = capped(u.Tokens(), v.Tokens())
	}
	return sum
}

// capped adds two counts, which are not negative.
func capped(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Total returns the outcome of several attempts in a row: the result of the last attempt, with what all of
// them took and the retry count (0 for one attempt). The arguments are not changed. Without attempts it is
// the zero Result, which is invalid.
func Total[T any](attempts ...Result[T]) Result[T] {
	var total Result[T]
	for n, a := range attempts {
		spent := total.Execution
		total = a
		if n > 0 {
			total.Execution = a.Execution.Plus(spent)
		}
		total.Execution.RetryCount = new(n)
	}
	return total
}
