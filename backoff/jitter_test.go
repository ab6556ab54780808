package backoff_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	fifth := backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")}
	afterCap := fifth
	afterCap.AfterCap = true
	provider := backoff.Exponential(s, 2*backoff.One)
	for _, c := range []struct {
		name    string
		s       backoff.BackoffStrategy
		attempt int
		lo, hi  time.Duration
	}{
		{"none", provider, 3, 4 * s, 4 * s},
		{"full", with(provider, 0, backoff.Jitter{Kind: backoff.Full}), 3, 0, 4 * s},
		{"equal", with(provider, 0, backoff.Jitter{Kind: backoff.Equal}), 3, 2 * s, 4 * s},
		{"equal_odd", with(backoff.Constant(5), 0, backoff.Jitter{Kind: backoff.Equal}), 1, 2, 5},
		{"proportional", with(provider, 0, fifth), 3, 3200 * ms, 4800 * ms},
		{"proportional_below_the_cap", with(provider, 10*s, fifth), 3, 3200 * ms, 4800 * ms},
		{"proportional_meets_the_cap", with(provider, 9*s, fifth), 4, 6400 * ms, 9 * s},
		{"proportional_at_the_cap", with(provider, 10*s, fifth), 9, 8 * s, 10 * s},
		{"after_cap_exceeds_it", with(provider, 10*s, afterCap), 9, 8 * s, 12 * s},
		{"full_at_the_cap", with(provider, 10*s, backoff.Jitter{Kind: backoff.Full}), 9, 0, 10 * s},
		{"equal_at_the_cap", with(provider, 10*s, backoff.Jitter{Kind: backoff.Equal}), 9, 5 * s, 10 * s},
		{"whole", with(provider, 0, backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.One}), 1, 0, 2 * s},
		{"of_the_longest", with(backoff.Constant(longest), 0, fifth), 1, longest - longest/5, longest},
		{"of_nothing", with(backoff.Constant(0), 0, fifth), 1, 0, 0},
		{"of_too_little_to_divide", with(backoff.Constant(4), 0, fifth), 1, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, c.s.Validate())
			lo, hi := c.s.Bounds(c.attempt)
			assert.Equal(t, [2]time.Duration{c.lo, c.hi}, [2]time.Duration{lo, hi})
		})
	}
}

func TestPartOfADuration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part        backoff.Decimal
		whole, want time.Duration
	}{
		{backoff.Dec("0.2"), 10 * s, 2 * s},
		{backoff.Dec("0.3"), 9, 2},
		{0, longest, 0},
		{-1, longest, 0},
		{1, s, 1},
		{backoff.One, longest, longest},
		{2 * backoff.One, s, s},
		{backoff.Dec("0.999999999"), longest, 9_223_372_027_631_403_770},
	} {
		assert.Equal(t, c.want, c.part.Of(c.whole), "%v of %v", c.part, c.whole)
	}
}

// Delays reach both ends of the range and never leave it.
func TestDrawsFillTheirBounds(t *testing.T) {
	t.Parallel()
	for _, j := range []backoff.Jitter{
		{Kind: backoff.Full},
		{Kind: backoff.Equal},
		{Kind: backoff.Proportional, Fraction: backoff.Dec("0.5")},
		{Kind: backoff.Proportional, Fraction: backoff.Dec("0.5"), AfterCap: true},
	} {
		for _, delay := range []time.Duration{6, 9, 20} {
			b := with(backoff.Constant(delay), 10, j)
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				lo, hi := b.Bounds(1)
				seen := map[time.Duration]bool{}
				for attempt := 1; attempt <= 2000; attempt++ {
					seen[b.After(attempt, backoff.NewKey("seed", "bounds"))] = true
				}
				for d := lo; d <= hi; d++ {
					assert.True(t, seen[d], "%d never drawn", d)
				}
				assert.Len(t, seen, int(hi-lo)+1)
			})
		}
	}
}

func TestDrawsStayWithinBoundsAndCap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := anyStrategy().Draw(t, "strategy")
		key := backoff.NewKey(rapid.StringN(1, 5, -1).Draw(t, "seed"), rapid.String().Draw(t, "stream"))
		attempt := rapid.IntRange(1, 10_000).Draw(t, "attempt")
		d, unjittered := b.After(attempt, key), b.After(attempt, backoff.Key{})
		lo, hi := b.Bounds(attempt)
		assert.True(t, lo <= d && d <= hi, "%v not in %v..%v", d, lo, hi)
		assert.True(t, lo <= unjittered && unjittered <= hi, "%v not in %v..%v", unjittered, lo, hi)
		if b.Cap > 0 && !b.Jitter.AfterCap {
			assert.LessOrEqual(t, hi, b.Cap)
		}
		if b.Jitter.Kind == backoff.NoJitter {
			assert.Equal(t, unjittered, d)
		}
	})
}

func TestProportionalBoundsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		delay := time.Duration(rapid.Int64Min(0).Draw(t, "delay"))
		fraction := backoff.Decimal(rapid.Int64Range(1, int64(backoff.One)).Draw(t, "fraction"))
		b := with(backoff.Constant(delay), 0, backoff.Jitter{Kind: backoff.Proportional, Fraction: fraction})
		part := new(big.Int).Mul(big.NewInt(int64(delay)), big.NewInt(int64(fraction)))
		part.Quo(part, big.NewInt(int64(backoff.One)))
		lo, hi := b.Bounds(1)
		assert.Equal(t, delay-time.Duration(part.Int64()), lo)
		assert.Equal(t, capped(new(big.Rat).SetInt(part.Add(part, big.NewInt(int64(delay)))), 0), hi)
	})
}

// Clients that failed together do not come back together, even at the cap.
func TestClientsAtTheCapSpread(t *testing.T) {
	t.Parallel()
	b := with(backoff.Exponential(s, 2*backoff.One), 10*s, backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")})
	seen := map[time.Duration]bool{}
	for client := range 1000 {
		d := b.After(20, backoff.NewKey(fmt.Sprint("client-", client), "model"))
		assert.LessOrEqual(t, d, 10*s)
		seen[d] = true
	}
	assert.Greater(t, len(seen), 990)
}
