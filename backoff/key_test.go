package backoff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/backoff"
)

// widest is full jitter of the longest delay. It shows 63 of the 64 bits of a hash.
var widest = with(backoff.Constant(longest), 0, backoff.Jitter{Kind: backoff.Full})

// These values must never change, because journals contain delays drawn from them. They were computed by
// another implementation in another language, from this description: SHA-256 over the length-prefixed
// version, seed and stream; its first two words are the start and the (odd) secret; then wyrand's step at
// each attempt.
func TestHashNeverChanges(t *testing.T) {
	t.Parallel()
	attempts := []int{1, 2, 3, 10, 1000, math.MaxInt32}
	for _, c := range []struct {
		seed, stream string
		want         []time.Duration
	}{
		{"s", "t", []time.Duration{1833628311041823249, 1308497870750523146, 8230599995186776835, 2115108352722433997,
			717714984237116416, 706035197572926396}},
		{"order-42", "book_room", []time.Duration{5064997328199312737, 8796755926014428333, 2550020744927906659,
			1619726848275230126, 8015140060718098599, 8610829690314709402}},
		{"seed", "", []time.Duration{172957090749900556, 6668366704426704326, 201438826047977615, 2382718886671728989,
			278945306261934178, 9156045904261578917}},
	} {
		t.Run(c.seed+"_"+c.stream, func(t *testing.T) {
			t.Parallel()
			key := backoff.NewKey(c.seed, c.stream)
			for i, attempt := range attempts {
				assert.Equal(t, c.want[i], widest.After(attempt, key), "attempt %d", attempt)
			}
		})
	}
}

func TestJitteredScheduleNeverChanges(t *testing.T) {
	t.Parallel()
	b := with(backoff.Exponential(500*ms, backoff.Dec("1.5")), 30*s,
		backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")})
	assert.Equal(t, []time.Duration{
		509829622, 886123857, 1024413211, 1827399086, 2514522414, 4035879827, 5148436329, 8244572090, 15225940046,
		16727560158, 24849182552, 26742461980, 24880705143, 27027325756,
	}, waits(b, 14, backoff.NewKey("order-42", "book_room")))
}

func TestEmptySeedIsNoJitter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, backoff.Key{}, backoff.NewKey("", ""))
	assert.Equal(t, backoff.Key{}, backoff.NewKey("", "stream"))
	for _, kind := range []backoff.JitterKind{backoff.Full, backoff.Equal, backoff.Proportional} {
		b := with(backoff.Linear(s, s), 0, backoff.Jitter{Kind: kind, Fraction: backoff.One})
		assert.Equal(t, []time.Duration{s, 2 * s, 3 * s}, waits(b, 3, backoff.NewKey("", "stream")))
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	key := backoff.NewKey("seed", "stream")
	for _, c := range []struct {
		name      string
		key       backoff.Key
		low, high time.Duration
		want      [2]time.Duration // from and to
	}{
		{"no_seed", backoff.Key{}, 3, 9, [2]time.Duration{3, 3}},
		{"one_value", key, 3, 3, [2]time.Duration{3, 3}},
		{"high_below_low", key, 9, 3, [2]time.Duration{9, 9}},
		{"both_ends", key, 3, 9, [2]time.Duration{3, 9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var drawn []time.Duration
			for attempt := 1; attempt <= 200; attempt++ {
				drawn = append(drawn, c.key.Between(attempt, c.low, c.high))
			}
			assert.Equal(t, c.want, [2]time.Duration{slices.Min(drawn), slices.Max(drawn)})
			assert.Equal(t, c.key.Between(1, c.low, c.high), c.key.Between(-1, c.low, c.high), "counted as the first attempt")
		})
	}
}

func TestKeysDiffer(t *testing.T) {
	t.Parallel()
	keys := map[backoff.Key]string{{}: "no seed"}
	for _, pair := range [][2]string{
		{"a", "bc"}, {"ab", "c"}, {"abc", ""}, {"a", "b"}, {"b", "a"}, {"a", ""}, {"a", "\x00"}, {"a\x00", ""}, {" ", ""},
	} {
		key := backoff.NewKey(pair[0], pair[1])
		assert.Empty(t, keys[key], "%q has the key of another", pair)
		assert.Equal(t, key, backoff.NewKey(pair[0], pair[1]))
		keys[key] = fmt.Sprint(pair)
	}
}

func TestStreamsDoNotMoveTogether(t *testing.T) {
	t.Parallel()
	const streams, attempts = 200, 20
	seen := map[time.Duration]int{}
	for i := range streams {
		for _, d := range waits(widest, attempts, backoff.NewKey("seed", fmt.Sprint(i))) {
			seen[d]++
		}
	}
	assert.Len(t, seen, streams*attempts, "no delay stands twice")
}

func TestOrderOfCallsDoesNotMatter(t *testing.T) {
	t.Parallel()
	key, other := backoff.NewKey("seed", "a"), backoff.NewKey("seed", "b")
	forward := waits(widest, 50, key)
	var backward []time.Duration
	for attempt := 50; attempt >= 1; attempt-- {
		widest.After(attempt, other)
		backward = append(backward, widest.After(attempt, key))
	}
	slices.Reverse(backward)
	assert.Equal(t, forward, backward)
}

// Chi-square over 64 boxes has 63 degrees of freedom. It is above 130 about once in 500,000 times, and below
// 20 as rarely. The keys are fixed, so every run of the test has the same result.
func TestDrawsAreUniform(t *testing.T) {
	t.Parallel()
	const boxes, draws = 64, 64_000
	key := func(i int) backoff.Key { return backoff.NewKey("seed", fmt.Sprint(i)) }
	one := backoff.NewKey("uniform", "attempts")
	for _, c := range []struct {
		name string
		draw func(i int) time.Duration
	}{
		{"over_the_attempts_of_a_key", func(i int) time.Duration { return widest.After(i+1, one) }},
		{"over_keys_at_the_first_attempt", func(i int) time.Duration { return widest.After(1, key(i)) }},
		{"over_keys_at_the_third_attempt", func(i int) time.Duration { return widest.After(3, key(i)) }},
		{"low_bits", func(i int) time.Duration { return widest.After(i+1, one) << 57 >> 1 & longest }},
		{"from_one_attempt_to_the_next", func(i int) time.Duration {
			k := key(i)
			return (widest.After(2, k) - widest.After(1, k)) & longest
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var count [boxes]int
			for i := range draws {
				count[uint64(c.draw(i))>>57]++
			}
			sum := 0
			for _, n := range count {
				off := n - draws/boxes
				sum += off * off
			}
			square := sum / (draws / boxes)
			assert.Less(t, square, 130)
			assert.Greater(t, square, 20)
		})
	}
}
