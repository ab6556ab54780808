package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
)

func TestATableGivesTheDelaysOfItsStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAny(t)
		key := backoff.NewKey(rapid.SampledFrom([]string{"", "a", "order-42"}).Draw(t, "seed"), "stream")
		attempt := rapid.OneOf(rapid.IntRange(-2, 70), rapid.SampledFrom([]int{math.MinInt, 1000, math.MaxInt})).Draw(t, "attempt")
		assert.Equal(t, s.After(attempt, key), s.Table().After(attempt, key))
	})
}

func TestDrawGivesTheBoundsToo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAny(t)
		attempt := rapid.OneOf(rapid.IntRange(-2, 70), rapid.Int()).Draw(t, "attempt")
		delay, least, most := s.Draw(attempt, backoff.Key{})
		assert.Equal(t, delay, least, "no key, no jitter")
		assert.Equal(t, delay, most)
		key := backoff.NewKey("order-42", "stream")
		delay, least, most = s.Draw(attempt, key)
		assert.Equal(t, s.After(attempt, key), delay)
		lo, hi := s.Bounds(attempt)
		assert.Equal(t, lo, least)
		assert.Equal(t, hi, most)
	})
}

func TestTheQuickValidationPassesNothingThatIsWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawAny(t)
		factor, fraction := (*time.Duration)(&s.Factor), (*time.Duration)(&s.Jitter.Fraction)
		for _, field := range []*time.Duration{&s.Delay, &s.Base, &s.Step, &s.Cap, factor, fraction} {
			if rapid.Bool().Draw(t, "unset") {
				*field = 0
			}
		}
		if rapid.Bool().Draw(t, "no delays") {
			s.Delays = nil
		}
		if s.Good() {
			assert.NoError(t, s.Check())
		} else if s.Kind != backoff.KindList {
			assert.Error(t, s.Check())
		}
	})
}

// drawAny draws a strategy, good or bad.
func drawAny(t *rapid.T) backoff.BackoffStrategy {
	span := rapid.OneOf(
		rapid.Int64Range(-1, 60), rapid.Int64Range(0, int64(time.Hour)), rapid.Just(int64(math.MaxInt64)),
	)
	draw := func(name string) time.Duration { return time.Duration(span.Draw(t, name)) }
	s := backoff.BackoffStrategy{
		Kind: rapid.SampledFrom([]backoff.Kind{
			backoff.KindConstant, backoff.KindLinear, backoff.KindExponential, backoff.KindList, "",
		}).Draw(t, "kind"),
		Delay: draw("delay"), Base: draw("base"), Step: draw("step"),
		Factor: backoff.Dec(rapid.SampledFrom([]string{"1", "1.1", "1.5", "2", "3", "1000000"}).Draw(t, "factor")),
		Cap:    draw("cap"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "delays") {
		s.Delays = append(s.Delays, draw("entry"))
	}
	s.Jitter.Kind = rapid.SampledFrom([]backoff.JitterKind{
		backoff.NoJitter, backoff.Proportional, backoff.Full, backoff.Equal,
	}).Draw(t, "jitter")
	if s.Jitter.Kind == backoff.Proportional {
		s.Jitter.Fraction = backoff.Decimal(rapid.Int64Range(1, int64(backoff.One)).Draw(t, "fraction"))
		s.Jitter.AfterCap = rapid.Bool().Draw(t, "after cap")
	}
	return s
}

func TestDelaysAllocateNothing(t *testing.T) {
	key, s := backoff.NewKey("order-42", "book_room"), jittered()
	table := s.Table()
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for attempt := 1; attempt <= 10; attempt++ {
			sinkDelay += s.After(attempt, key) + table.After(attempt, key)
		}
	}))
}

// jittered is the strategy that is measured.
func jittered() backoff.BackoffStrategy {
	s := backoff.Exponential(500*time.Millisecond, 2*backoff.One)
	s.Cap, s.Jitter = 30*time.Second, backoff.Jitter{Kind: backoff.Full}
	return s
}

// BenchmarkTable is ten jittered delays, one by one.
func BenchmarkTable(b *testing.B) {
	b.ReportAllocs()
	key, table := backoff.NewKey("order-42", "book_room"), jittered().Table()
	for b.Loop() {
		sum := time.Duration(0)
		for attempt := 1; attempt <= 10; attempt++ {
			sum += table.After(attempt, key)
		}
		sinkDelay = sum
	}
}
