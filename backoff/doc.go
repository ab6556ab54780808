// Package backoff says how long to wait after an attempt: the same strategy, attempt and key give the same
// delay on every machine, in every process, forever.
//
// A [BackoffStrategy] is a struct of data: constant, linear, exponential or
// an explicit list, with an optional cap and jitter. It can be printed, compared, put in a file and
// journaled. Attempts count from 1: After(1, key) is the wait between the first attempt and the second.
//
//	s := backoff.Exponential(500*time.Millisecond, backoff.Dec("1.5"))
//	s.Cap = 30 * time.Second
//	s.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")}
//	key := backoff.NewKey("order-42", "book_room")
//	wait := s.After(attempt, key)
//
// All arithmetic is integer and saturates at the largest duration; a [Decimal] factor is exact. Jitter is a
// hash of (seed, stream, attempt) and not a generator: it holds no state, does not depend on the order of
// calls, and without a seed there is none. The package knows nothing of a server's retry-after, which is the
// policy's.
package backoff
