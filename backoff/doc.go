// Package backoff computes how long to wait after an attempt. The same strategy, attempt and key give the
// same delay on every machine and in every process.
//
// A [BackoffStrategy] is plain data: constant, linear, exponential or an explicit list, with an optional cap
// and jitter. You can print, compare and store it. Attempts count from 1: After(1, key) is the wait between
// the first attempt and the second.
//
//	s := backoff.Exponential(500*time.Millisecond, backoff.Dec("1.5"))
//	s.Cap = 30 * time.Second
//	s.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")}
//	key := backoff.NewKey("order-42", "book_room")
//	wait := s.After(attempt, key)
//
// All arithmetic uses integers and saturates at the largest duration; a [Decimal] factor is exact. Jitter is
// a hash of seed, stream and attempt: it has no state and does not depend on the order of calls. Without a
// seed there is no jitter. A server's retry-after is the business of package policy.
package backoff
