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

// Preset returns the named policy, a fresh value each time:
//
//	correction       3 attempts at once, the default of the correction plane; see [Correction]
//	transport        1 s doubled up to 10 s, then ±25 %, 4 attempts, the default of the transport plane; see [Transport]
//	result-envelope  a base per class, doubled up to 30 s, exactly; 5 attempts
//	rate-limit       2, 8, 16, 35 s ±10 %, never less than the server asks, and exactly that where it is longer; 5 attempts
//	provider         1 s doubled up to 10 s, then ±20 %; the server's wait comes first, exactly; 4 attempts
//
// The last three reproduce documents that docs/contracts.md names.
func Preset(name string) (RetryPolicy, bool) {
	for _, p := range presets {
		if p.name == name {
			return p.make(), true
		}
	}
	return RetryPolicy{}, false
}

// Transport is the default policy of the transport plane: 4 attempts, 1 s doubled up to 10 s, and a quarter
// more or less. The server's wait is a floor. So the waits of clients that failed together spread over half
// of what is waited, whether it is the server that says how long or the backoff.
func Transport() RetryPolicy {
	p := provider()
	p.Backoff.Jitter.Fraction = oneQuarter
	p.RetryAfter, p.RetryAfterJitter = Floor, Correction().RetryAfterJitter
	return p
}

// healing is what the presets of the transport plane share: the model hears nothing, only those faults are
// retried that time can heal, and nothing is added to a wait that the server asks for. The documents that the
// presets reproduce name exact waits; the spread is the default's own.
func healing() RetryPolicy {
	p := Correction()
	p.EmitFeedback, p.RetryAfterJitter = false, 0
	p.RetryableErrors = []fault.Class{
		fault.RateLimit, fault.Timeout, fault.Unavailable, fault.Overloaded, fault.Network,
	}
	return p
}

// resultEnvelope is BACKOFF_DELAYS and withRetry of the result envelope, where attempts count from 0: the
// first wait is the base. What has one name there has one base: llm-unavailable is three classes here.
func resultEnvelope() RetryPolicy {
	p := healing()
	p.MaxAttempts = 5
	p.Backoff = backoff.Exponential(2*time.Second, two)
	p.Backoff.Cap = 30 * time.Second
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

// rateLimit is the schedule that goes with the rate limit state of the agent result.
func rateLimit() RetryPolicy {
	p := healing()
	p.MaxAttempts = 5
	p.Backoff = backoff.List(2*time.Second, 8*time.Second, 16*time.Second, 35*time.Second)
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: oneTenth}
	return p
}

// provider is the retry strategy of agent errors: maxRetries 3 is 4 attempts.
func provider() RetryPolicy {
	p := healing()
	p.MaxAttempts = 4
	p.Backoff = backoff.Exponential(time.Second, two)
	p.Backoff.Cap = 10 * time.Second
	p.Backoff.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: oneFifth, AfterCap: true}
	p.RetryAfter = First
	return p
}
