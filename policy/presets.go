package policy

import (
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
)

// The factors and fractions of the presets, in units of 1e-9.
const (
	two        backoff.Decimal = 2_000_000_000
	oneTenth   backoff.Decimal = 100_000_000
	oneFifth   backoff.Decimal = 200_000_000
	oneQuarter backoff.Decimal = 250_000_000
)

var presets = [...]struct {
	name string
	make func() RetryPolicy
}{
	{"correction", Correction},
	{"transport", Transport},
	{"result-envelope", resultEnvelope},
	{"rate-limit", rateLimit},
	{"provider", provider},
}

// Presets returns the names of all presets in a fixed order.
func Presets() []string {
	names := make([]string, len(presets))
	for n, p := range presets {
		names[n] = p.name
	}
	return names
}

// Preset returns the named policy, a new value each time:
//
//	correction       3 attempts at once, the default of the correction plane
//	transport        1 s doubled up to 10 s, then ±25 %, 4 attempts, the default of the transport plane
//	result-envelope  a base per class, doubled up to 30 s, no jitter; 5 attempts
//	rate-limit       2, 8, 16, 35 s ±10 %; a longer wait of the server is waited exactly; 5 attempts
//	provider         1 s doubled up to 10 s, then ±20 %; a wait of the server replaces it exactly; 4 attempts
//
// The last three reproduce the schedules of documents listed in docs/contracts.md.
func Preset(name string) (RetryPolicy, bool) {
	for _, p := range presets {
		if p.name == name {
			return p.make(), true
		}
	}
	return RetryPolicy{}, false
}

// Transport returns the default policy of the transport plane: 4 attempts; 1 s doubled up to 10 s, ±25 %. A
// server's retry-after is a floor, and up to half of it is added. So clients that failed together do not come
// back together, whether the server or the backoff sets the wait. A response that cannot be read is retried
// like a broken connection: the fault is the provider's, and the model said nothing.
func Transport() RetryPolicy {
	p := provider()
	p.RetryableErrors = append(p.RetryableErrors, fault.InvalidResponse)
	p.Backoff.Jitter.Fraction = oneQuarter
	p.RetryAfter, p.RetryAfterJitter = RetryAfterFloor, Correction().RetryAfterJitter
	return p
}

// transportBase returns what the presets of the transport plane share. The model is told nothing. Only
// failures that may pass with time are retried. Nothing is added to a server's retry-after, because the
// reproduced documents ask for exact waits.
func transportBase() RetryPolicy {
	p := Correction()
	p.EmitFeedback, p.RetryAfterJitter = false, 0
	p.RetryableErrors = []fault.Class{
		fault.RateLimit, fault.Timeout, fault.Unavailable, fault.Overloaded, fault.Network,
	}
	return p
}

// resultEnvelope reproduces BACKOFF_DELAYS and withRetry of the result envelope. Attempts count from 0 there,
// so the first wait is the base. Its llm-unavailable is three classes here, with the same base.
func resultEnvelope() RetryPolicy {
	p := transportBase()
	p.MaxAttempts = 5
	p.Backoff = backoff.Exponential(2*time.Second, two)
	p.Backoff.Cap = 30 * time.Second
	p.Backoff.Jitter.Kind = backoff.NoJitter
	p.RetryableErrors = append(p.RetryableErrors, fault.EventTimeout, fault.EventUnavailable)
	p.Bases = map[fault.Class]time.Duration{
		fault.RateLimit:        5 * time.Second,
		fault.Timeout:          time.Second,
		fault.Unavailable:      10 * time.Second,
		fault.Overloaded:       10 * time.Second,
		fault.Network:          10 * time.Second,
		fault.EventTimeout:     2 * time.Second,
		fault.EventUnavailable: 5 * time.Second,
	}
	return p
}

// rateLimit reproduces the schedule for the rate limit state of an agent result.
func rateLimit() RetryPolicy {
	p := transportBase()
	p.MaxAttempts = 5
	p.Backoff = backoff.List(2*time.Second, 8*time.Second, 16*time.Second, 35*time.Second)
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: oneTenth}
	return p
}

// provider reproduces the retry strategy of agent errors; maxRetries 3 is 4 attempts.
func provider() RetryPolicy {
	p := transportBase()
	p.MaxAttempts = 4
	p.Backoff = backoff.Exponential(time.Second, two)
	p.Backoff.Cap = 10 * time.Second
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: oneFifth, AfterCap: true}
	p.RetryAfter = RetryAfterFirst
	return p
}
