package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

const (
	ms      = time.Millisecond
	s       = time.Second
	longest = time.Duration(math.MaxInt64)
)

// with returns the strategy with a cap and a jitter.
func with(b backoff.BackoffStrategy, limit time.Duration, j backoff.Jitter) backoff.BackoffStrategy {
	b.Cap, b.Jitter = limit, j
	return b
}

// plain returns the waits after attempts 1 to n without jitter.
func plain(b backoff.BackoffStrategy, n int) []time.Duration {
	var delays []time.Duration
	for attempt := 1; attempt <= n; attempt++ {
		delays = append(delays, b.After(attempt, backoff.Key{}))
	}
	return delays
}

func TestAfterFollowsTheFormulas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		s    backoff.BackoffStrategy
		want []time.Duration
	}{
		{"constant", backoff.Constant(2 * s), []time.Duration{2 * s, 2 * s, 2 * s}},
		{"constant_zero", backoff.Constant(0), []time.Duration{0, 0}},
		{"linear", backoff.Linear(s, 500*ms), []time.Duration{s, 1500 * ms, 2 * s, 2500 * ms}},
		{"linear_without_base", backoff.Linear(0, s), []time.Duration{0, s, 2 * s}},
		{"linear_without_step", backoff.Linear(s, 0), []time.Duration{s, s, s}},
		{"exponential_2", backoff.Exponential(s, 2*backoff.One), []time.Duration{s, 2 * s, 4 * s, 8 * s}},
		{"exponential_3", backoff.Exponential(s, 3*backoff.One), []time.Duration{s, 3 * s, 9 * s, 27 * s}},
		{"exponential_1", backoff.Exponential(s, backoff.One), []time.Duration{s, s, s}},
		{"exponential_half_more", backoff.Exponential(8*s, backoff.Dec("1.5")), []time.Duration{8 * s, 12 * s, 18 * s, 27 * s}},
		{"exponential_rounds_down", backoff.Exponential(3, backoff.Dec("1.5")), []time.Duration{3, 4, 6, 10, 15, 22}},
		{"exponential_capped", with(backoff.Exponential(s, 2*backoff.One), 10*s, backoff.Jitter{}),
			[]time.Duration{s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s}},
		{"base_above_cap", with(backoff.Exponential(s, backoff.Dec("1.5")), 100*ms, backoff.Jitter{}),
			[]time.Duration{100 * ms, 100 * ms}},
		{"constant_capped", with(backoff.Constant(s), 100*ms, backoff.Jitter{}), []time.Duration{100 * ms}},
		{"linear_capped", with(backoff.Linear(s, s), 2500*ms, backoff.Jitter{}), []time.Duration{s, 2 * s, 2500 * ms, 2500 * ms}},
		{"list_repeats_its_last", backoff.List(2*s, 8*s, 16*s, 35*s), []time.Duration{2 * s, 8 * s, 16 * s, 35 * s, 35 * s, 35 * s}},
		{"list_capped", with(backoff.List(2*s, 8*s, 5*s), 6*s, backoff.Jitter{}), []time.Duration{2 * s, 6 * s, 5 * s}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.NoError(t, c.s.Validate())
			assert.Equal(t, c.want, plain(c.s, len(c.want)))
		})
	}
}

func TestAttemptBelowOneIsTheFirst(t *testing.T) {
	t.Parallel()
	b := with(backoff.Linear(s, s), 0, backoff.Jitter{Kind: backoff.Full})
	key := backoff.NewKey("seed", "stream")
	for _, attempt := range []int{0, -1, math.MinInt} {
		assert.Equal(t, s, b.After(attempt, backoff.Key{}))
		assert.Equal(t, b.After(1, key), b.After(attempt, key))
		lo, hi := b.Bounds(attempt)
		assert.Equal(t, []time.Duration{0, s}, []time.Duration{lo, hi})
	}
}

func TestAfterSaturates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		s    backoff.BackoffStrategy
	}{
		{"linear", backoff.Linear(s, time.Hour)},
		{"linear_of_the_longest", backoff.Linear(longest, longest)},
		{"exponential_2", backoff.Exponential(1, 2*backoff.One)},
		{"exponential_whole", backoff.Exponential(1, 7*backoff.One)},
		{"exponential_million", backoff.Exponential(longest, 1_000_000*backoff.One)},
		{"exponential_tiny_growth_of_longest", backoff.Exponential(longest-1, backoff.Dec("1.000000001"))},
		{"exponential_many_digits", backoff.Exponential(1, backoff.Dec("999999.999999999"))},
		{"constant", backoff.Constant(longest)},
		{"list", backoff.List(longest)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, longest, c.s.After(math.MaxInt, backoff.Key{}))
			c.s.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.One}
			jittered := c.s.After(math.MaxInt, backoff.NewKey("seed", "stream"))
			assert.GreaterOrEqual(t, jittered, time.Duration(0))
			lo, hi := c.s.Bounds(math.MaxInt)
			assert.Equal(t, []time.Duration{0, longest}, []time.Duration{lo, hi})
		})
	}
}

func TestAfterOfARefusedStrategy(t *testing.T) {
	t.Parallel()
	for _, b := range []backoff.BackoffStrategy{
		{},
		{Kind: "fibonacci", Base: s},
		backoff.Constant(-s),
		backoff.Linear(-s, -s),
		backoff.Exponential(-s, 2*backoff.One),
		backoff.Exponential(0, 2*backoff.One),
		backoff.Exponential(-s, backoff.Dec("1.5")),
		backoff.List(),
		backoff.List(-s),
	} {
		b.Jitter.Kind = backoff.Full
		for _, attempt := range []int{1, 2, 64, 65, math.MaxInt} {
			assert.Zero(t, b.After(attempt, backoff.Key{}), "%v", b)
			assert.Zero(t, b.After(attempt, backoff.NewKey("seed", "stream")), "%v", b)
		}
	}
	assert.Equal(t, s, backoff.Exponential(s, 0).After(9, backoff.Key{}), "a factor below 1 counts as 1")
}

// An invalid strategy still gives a delay of 0 or more, and never panics.
func TestAfterOfAnyStrategyIsNeverNegative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := backoff.BackoffStrategy{
			Kind:  rapid.SampledFrom([]backoff.Kind{"", "constant", "linear", "exponential", "list", "other"}).Draw(t, "kind"),
			Delay: time.Duration(rapid.Int64().Draw(t, "delay")),
			Base:  time.Duration(rapid.Int64().Draw(t, "base")),
			Step:  time.Duration(rapid.Int64().Draw(t, "step")),
			Factor: rapid.OneOf(anyFactor(), rapid.Map(rapid.Int64(), func(v int64) backoff.Decimal { return backoff.Decimal(v) })).
				Draw(t, "factor"),
			Cap: time.Duration(rapid.Int64().Draw(t, "cap")),
			Jitter: backoff.Jitter{
				Kind:     rapid.SampledFrom([]backoff.JitterKind{"", "proportional", "full", "equal", "other"}).Draw(t, "jitter"),
				Fraction: backoff.Decimal(rapid.Int64().Draw(t, "fraction")),
				AfterCap: rapid.Bool().Draw(t, "after cap"),
			},
		}
		for range rapid.IntRange(0, 3).Draw(t, "delays") {
			b.Delays = append(b.Delays, time.Duration(rapid.Int64().Draw(t, "entry")))
		}
		attempt := rapid.Int().Draw(t, "attempt")
		assert.GreaterOrEqual(t, b.After(attempt, backoff.NewKey("seed", "stream")), time.Duration(0))
		lo, hi := b.Bounds(attempt)
		assert.GreaterOrEqual(t, lo, time.Duration(0))
		assert.GreaterOrEqual(t, hi, lo)
		unjittered := b.After(attempt, backoff.Key{})
		assert.True(t, lo <= unjittered && unjittered <= hi)
		_ = b.String()
	})
}

func TestListCopiesItsDelays(t *testing.T) {
	t.Parallel()
	delays := []time.Duration{s, 2 * s}
	b := backoff.List(delays...)
	delays[0] = 0
	assert.Equal(t, s, b.After(1, backoff.Key{}))
}

// waits returns the waits after attempts 1 to n.
func waits(s backoff.BackoffStrategy, n int, k backoff.Key) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = s.After(i+1, k)
	}
	return all
}

// anyStrategy draws valid strategies.
func anyStrategy() *rapid.Generator[backoff.BackoffStrategy] {
	return rapid.Custom(func(t *rapid.T) backoff.BackoffStrategy {
		duration := func(least int64, name string) time.Duration {
			return time.Duration(rapid.Int64Min(least).Draw(t, name))
		}
		var b backoff.BackoffStrategy
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			b = backoff.Constant(duration(0, "delay"))
		case 1:
			b = backoff.Linear(duration(1, "base"), duration(0, "step"))
		case 2:
			b = backoff.Exponential(duration(1, "base"), anyFactor().Draw(t, "factor"))
		case 3:
			n := rapid.IntRange(1, 5).Draw(t, "n")
			for i := range n {
				b.Delays = append(b.Delays, duration(0, "entry"+string(rune('0'+i))))
			}
			b.Kind = backoff.KindList
		}
		if rapid.Bool().Draw(t, "capped") {
			b.Cap = duration(1, "cap")
		}
		switch rapid.IntRange(0, 4).Draw(t, "jitter") {
		case 4:
			b.Jitter = backoff.Jitter{Kind: backoff.NoJitter}
		case 1:
			b.Jitter = backoff.Jitter{Kind: backoff.Full}
		case 2:
			b.Jitter = backoff.Jitter{Kind: backoff.Equal}
		case 3:
			fraction := backoff.Decimal(rapid.Int64Range(1, int64(backoff.One)).Draw(t, "fraction"))
			after := b.Cap > 0 && rapid.Bool().Draw(t, "after cap")
			b.Jitter = backoff.Jitter{Kind: backoff.Proportional, Fraction: fraction, AfterCap: after}
		}
		return b
	})
}

// anyFactor draws common factors and any others.
func anyFactor() *rapid.Generator[backoff.Decimal] {
	return rapid.OneOf(
		rapid.SampledFrom([]backoff.Decimal{backoff.One, 2 * backoff.One, 3 * backoff.One, 10 * backoff.One,
			backoff.Dec("1.5"), backoff.Dec("1.1"), backoff.Dec("1.7"), backoff.Dec("1.25"), backoff.Dec("2.5"),
			backoff.Dec("1.000000001"), backoff.Dec("1.000976562"), backoff.Dec("1.001953125")}),
		rapid.Map(rapid.Int64Range(1e9, 3e9), func(v int64) backoff.Decimal { return backoff.Decimal(v) }),
		rapid.Map(rapid.Int64Range(1e9, 1e15), func(v int64) backoff.Decimal { return backoff.Decimal(v) }),
	)
}
