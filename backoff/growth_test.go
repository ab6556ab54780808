package backoff_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

// capped returns v rounded down, at most limit. 0 means no limit.
func capped(v *big.Rat, limit time.Duration) time.Duration {
	if limit == 0 {
		limit = longest
	}
	whole := new(big.Int).Quo(v.Num(), v.Denom())
	if !whole.IsInt64() || whole.Int64() > int64(limit) {
		return limit
	}
	return time.Duration(whole.Int64())
}

// power returns base·factor^n as a rational: slow and exact.
func power(base time.Duration, factor backoff.Decimal, n int) *big.Rat {
	f := big.NewRat(int64(factor), int64(backoff.One))
	exponent := big.NewInt(int64(n))
	p := new(big.Rat).SetFrac(new(big.Int).Exp(f.Num(), exponent, nil), new(big.Int).Exp(f.Denom(), exponent, nil))
	return p.Mul(p, new(big.Rat).SetInt64(int64(base)))
}

func TestExponentialIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.OneOf(
			rapid.Int64Range(1, 1e12),
			rapid.Int64Min(1),
			rapid.Map(rapid.IntRange(0, 62), func(shift int) int64 { return 1 << shift }),
			rapid.Map(rapid.IntRange(0, 27), func(n int) int64 { return new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(n)), nil).Int64() }),
		).Draw(t, "base")
		b := backoff.Exponential(time.Duration(base), anyFactor().Draw(t, "factor"))
		b.Cap = time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1e13)).Draw(t, "cap"))
		n := rapid.IntRange(0, 400).Draw(t, "n")
		require.Equal(t, capped(power(b.Base, b.Factor, n), b.Cap), b.After(n+1, backoff.Key{}))
	})
}

// The delays of attempts 1 to 1001 are those of exact integers, multiplied step by step. A factor that is no
// whole number ends there.
func TestExponentialIsExactAtEveryAttempt(t *testing.T) {
	t.Parallel()
	for _, factor := range []string{"1", "1.000000001", "1.001", "1.0625", "1.1", "1.5", "1.7", "2", "3", "10", "1000000"} {
		t.Run(factor, func(t *testing.T) {
			t.Parallel()
			b := backoff.Exponential(500*ms, backoff.Dec(factor))
			f := big.NewRat(int64(b.Factor), int64(backoff.One))
			num, den := big.NewInt(int64(b.Base)), big.NewInt(1)
			want, saturated := b.Base, false
			for attempt := 1; attempt <= 10_000; attempt++ {
				if got := b.After(attempt, backoff.Key{}); got != want {
					require.Equal(t, want, got, "attempt %d", attempt)
				}
				if saturated || attempt > 1000 {
					continue
				}
				num.Mul(num, f.Num())
				den.Mul(den, f.Denom())
				whole := new(big.Int).Quo(num, den)
				if saturated = !whole.IsInt64(); saturated {
					want = longest
				} else {
					want = time.Duration(whole.Int64())
				}
			}
		})
	}
}

func TestLinearConstantAndListAtEveryAttempt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		s          backoff.BackoffStrategy
		base, step int64
	}{
		{"linear", backoff.Linear(s, 250*ms), int64(s), int64(250 * ms)},
		{"linear_that_saturates", backoff.Linear(s, 1<<52), int64(s), 1 << 52},
		{"linear_from_nearly_the_longest", backoff.Linear(longest-5000, 1), int64(longest - 5000), 1},
		{"constant", backoff.Constant(s), int64(s), 0},
		{"list", backoff.List(s), int64(s), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum := big.NewInt(c.base)
			for attempt := 1; attempt <= 10_000; attempt++ {
				require.Equal(t, capped(new(big.Rat).SetInt(sum), 0), c.s.After(attempt, backoff.Key{}), "attempt %d", attempt)
				sum.Add(sum, big.NewInt(c.step))
			}
		})
	}
}

func TestLinearIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base, step := rapid.Int64Min(0).Draw(t, "base"), rapid.Int64Min(0).Draw(t, "step")
		attempt := rapid.IntRange(1, math.MaxInt).Draw(t, "attempt")
		b := backoff.Linear(time.Duration(base), time.Duration(step))
		want := new(big.Int).Mul(big.NewInt(step), big.NewInt(int64(attempt-1)))
		want.Add(want, big.NewInt(base))
		assert.Equal(t, capped(new(big.Rat).SetInt(want), 0), b.After(attempt, backoff.Key{}))
	})
}

func TestSumNeverOverflows(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3*s, backoff.Sum(s, 2*s))
	assert.Equal(t, longest, backoff.Sum(longest-1, 1))
	assert.Equal(t, longest, backoff.Sum(longest, 1))
	assert.Equal(t, longest-1, backoff.Sum(longest, -1))
}

// The delay of attempt 201 was computed by another library with 400 decimal digits.
func TestExponentialAtHugeAttempts(t *testing.T) {
	t.Parallel()
	slow := backoff.Exponential(500*ms, backoff.Dec("1.1"))
	assert.Equal(t, time.Duration(94_952_638_230_230_912), slow.After(201, backoff.Key{}))
	for _, factor := range []string{"1", "1.000000001", "1.00001", "1.1", "1.999999999", "2", "999999.5"} {
		b := backoff.Exponential(500*ms, backoff.Dec(factor))
		for _, attempt := range []int{1002, 10_001, math.MaxInt} {
			assert.Equal(t, b.After(1001, backoff.Key{}), b.After(attempt, backoff.Key{}), factor)
		}
	}
}
