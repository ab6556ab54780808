package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func preset(t *testing.T, name string) policy.RetryPolicy {
	t.Helper()
	p, ok := policy.Preset(name)
	require.True(t, ok)
	require.NoError(t, p.Validate())
	return p
}

// waits returns the decisions after attempts 1 to n, without any bound but the schedule's own.
func waits(p policy.RetryPolicy, f fault.Failure, key backoff.Key, n int) []time.Duration {
	p.MaxAttempts = policy.Unlimited
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = policy.Decide(&p, &policy.Position{Attempt: i + 1, Key: key}, &f).Delay
	}
	return all
}

func transport(class fault.Class) fault.Failure {
	return fault.Failure{Plane: fault.Transport, Class: class}
}

func TestPresetsAreNamedAndValid(t *testing.T) {
	assert.Equal(t, []string{"correction", "transport", "result-envelope", "rate-limit", "provider"}, policy.Presets())
	for _, name := range policy.Presets() {
		preset(t, name)
	}
	_, ok := policy.Preset("nope")
	assert.False(t, ok)
}

// The specification of retries: max_attempts is 3 and counts the first attempt, feedback is on, and
// validation errors are retried.
func TestTheDefaultsOfTheCorrectionPlane(t *testing.T) {
	p := preset(t, "correction")
	assert.Equal(t, policy.Correction(), p)
	assert.Equal(t, 3, p.MaxAttempts)
	assert.True(t, p.EmitFeedback)
	for _, class := range []fault.Class{fault.ToolValidation, fault.StructuredOutput, fault.UnknownTool, fault.NoOutput} {
		assert.True(t, p.Retries(class), class)
	}
	for _, class := range append(fault.Transport.Classes(), fault.Truncated, fault.Refusal, fault.Reducer) {
		assert.False(t, p.Retries(class), class)
	}
	for _, delay := range waits(p, fault.Failure{Class: fault.ToolValidation}, backoff.NewKey("seed", "s"), 200) {
		assert.Zero(t, delay)
	}
}

// docs/policy-keys.md names them.
func TestTheDefaultsOfProgress(t *testing.T) {
	type progress = policy.Progress
	assert.Equal(t, progress{Nudge: 4, Planner: 7, Stop: 10, Window: 32}, progress{}.For(false))
	assert.Equal(t, progress{Nudge: 10, Planner: 30, Stop: 50, Window: 32}, progress{}.For(true))
	assert.Equal(t, progress{Nudge: 4, Planner: policy.Unlimited, Stop: 2, Window: 32}, progress{Planner: policy.Unlimited, Stop: 2}.For(false))
}

// Result envelopes: Math.min(baseDelay * Math.pow(2, attempt), 30000), attempt from 0; at most 5 attempts.
func TestTheScheduleOfResultEnvelopes(t *testing.T) {
	p := preset(t, "result-envelope")
	assert.Equal(t, 5, p.MaxAttempts)
	bases := map[string]int{
		"llm-rate-limit": 5000, "llm-timeout": 1000, "llm-unavailable": 10000, "event-timeout": 2000, "event-unavailable": 5000,
	}
	for _, class := range append(fault.Transport.Classes(), fault.Correction.Classes()...) {
		base := bases[class.Names().ResultEnvelope]
		if !class.Transient() || class == fault.InvalidResponse {
			assert.False(t, p.Retries(class), class)
			continue
		}
		assert.True(t, p.Retries(class), class)
		assert.NotZero(t, base, class)
		for i, delay := range waits(p, transport(class), backoff.NewKey("seed", "s"), 200) {
			want := 30_000
			if i < 5 {
				want = min(base<<i, 30_000)
			}
			assert.Equal(t, time.Duration(want)*time.Millisecond, delay, "%s, attempt %d", class, i+1)
		}
	}
	f := transport(fault.RateLimit)
	f.RetryAfter = time.Minute
	for _, delay := range waits(p, f, backoff.NewKey("seed", "s"), 200) {
		assert.Equal(t, time.Minute, delay, "nothing is added to the server's word")
	}
	assert.Equal(t, 2*time.Second, p.BackoffOf("another").After(1, backoff.Key{}), "?? 2000")
}

// Agent results: 2, 8, 16, 35 s ±10 %, at most 5 attempts, never less than the server asks.
func TestTheScheduleOfAgentResults(t *testing.T) {
	p := preset(t, "rate-limit")
	assert.Equal(t, 5, p.MaxAttempts)
	table := []time.Duration{2 * time.Second, 8 * time.Second, 16 * time.Second, 35 * time.Second}
	for i, delay := range waits(p, transport(fault.RateLimit), backoff.Key{}, 200) {
		assert.Equal(t, table[min(i, 3)], delay, "attempt %d", i+1)
	}
	for _, seed := range []string{"a", "b", "c"} {
		key := backoff.NewKey(seed, "s")
		for i, delay := range waits(p, transport(fault.RateLimit), key, 200) {
			assert.InDelta(t, float64(table[min(i, 3)]), float64(delay), float64(table[min(i, 3)])/10)
		}
		f := transport(fault.RateLimit)
		f.RetryAfter = 20 * time.Second
		for i, delay := range waits(p, f, key, 200) {
			if i < 3 {
				assert.Equal(t, 20*time.Second, delay, "attempt %d: what the server asks for, exactly", i+1)
			}
			assert.GreaterOrEqual(t, delay, 20*time.Second)
		}
	}
}

// Agent errors: baseDelay·2^n up to 10 s, then times 0.8 to 1.2; maxRetries 3; a retry-after is exact.
func TestTheScheduleOfAgentErrors(t *testing.T) {
	p := preset(t, "provider")
	assert.Equal(t, 4, p.MaxAttempts)
	table := []time.Duration{1, 2, 4, 8, 10}
	for i, delay := range waits(p, transport(fault.Network), backoff.Key{}, 200) {
		assert.Equal(t, table[min(i, 4)]*time.Second, delay, "attempt %d", i+1)
	}
	beyond := false
	for i, delay := range waits(p, transport(fault.Network), backoff.NewKey("seed", "s"), 200) {
		base := table[min(i, 4)] * time.Second
		assert.InDelta(t, float64(base), float64(delay), float64(base)/5, "attempt %d", i+1)
		beyond = beyond || delay > 10*time.Second
	}
	assert.True(t, beyond, "the jitter comes after the cap")

	f := transport(fault.RateLimit)
	for _, asked := range []time.Duration{time.Millisecond, 42 * time.Second} {
		f.RetryAfter = asked
		for _, delay := range waits(p, f, backoff.NewKey("seed", "s"), 200) {
			assert.Equal(t, asked, delay)
		}
	}
}

func TestTheBackoffOfAClassIsWhatDecideWaits(t *testing.T) {
	key := backoff.NewKey("seed", "s")
	linear := policy.Transport()
	linear.Backoff, linear.Bases = backoff.Linear(time.Second, time.Second), map[fault.Class]time.Duration{fault.RateLimit: time.Minute}
	assert.Equal(t, backoff.Linear(time.Minute, time.Second), linear.BackoffOf(fault.RateLimit))
	for _, name := range policy.Presets()[1:] {
		p := preset(t, name)
		delays := waits(p, transport(fault.RateLimit), key, 200)
		s := p.BackoffOf(fault.RateLimit)
		for i, delay := range delays {
			least, most := s.Bounds(i + 1)
			assert.Equal(t, delay, s.After(i+1, key))
			assert.LessOrEqual(t, least, delay)
			assert.GreaterOrEqual(t, most, delay)
		}
	}
}

func TestPresetsShareNothing(t *testing.T) {
	for _, name := range policy.Presets() {
		changed := preset(t, name)
		changed.RetryableErrors[0] = "changed"
		changed.Bases["changed"] = 1
		if len(changed.Backoff.Delays) > 0 {
			changed.Backoff.Delays[0] = 1
		}
		assert.NotEqual(t, changed, preset(t, name))
	}
}

// A response that cannot be read is the provider's fault, as a cut stream is. The documents do not retry it.
func TestAResponseThatCannotBeReadIsRetriedByDefault(t *testing.T) {
	for _, name := range policy.Presets() {
		p := preset(t, name)
		assert.Equal(t, name == "transport", p.Retries(fault.InvalidResponse), name)
	}
}

// docs/contracts.md says which presets wait longer than their cap.
func TestPresetsThatDrawAfterTheirCap(t *testing.T) {
	for _, name := range policy.Presets() {
		_, longest := preset(t, name).Backoff.Bounds(20)
		above := map[string]time.Duration{"transport": 12500 * time.Millisecond, "provider": 12 * time.Second}
		if strategy := preset(t, name).Backoff; strategy.Cap > 0 {
			assert.Equal(t, max(strategy.Cap, above[name]), longest, name)
		}
	}
}
