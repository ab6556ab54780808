package retry

import (
	"testing"
	"time"

	"github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	sethvargo "github.com/sethvargo/go-retry"

	ours "github.com/retake-go/retake/backoff"
)

// The sinks keep the compiler from removing the measured code.
var (
	sinkDelay time.Duration
	sinkHash  uint64
)

const (
	delays = 10
	base   = 500 * time.Millisecond
	most   = 30 * time.Second
)

func splitMix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// BenchmarkDelay makes ten jittered exponential delays.
func BenchmarkDelay(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sum := uint64(0)
			for attempt := range uint64(delays) {
				sum += splitMix64(0x243f6a8885a308d3 + attempt*0x9e3779b97f4a7c15)
			}
			sinkHash = sum
		}
	})
	b.Run("ours_after", func(b *testing.B) { benchmarkAfter(b, ours.Full) })
	b.Run("ours_after_proportional", func(b *testing.B) { benchmarkAfter(b, ours.Proportional) })
	b.Run("cenkalti", benchmarkCenkaltiDelay)
	b.Run("avast_full", func(b *testing.B) { benchmarkAvastDelay(b, retry.FullJitterBackoffDelay) })
	b.Run("avast", func(b *testing.B) {
		benchmarkAvastDelay(b, retry.CombineDelay(retry.BackOffDelay, retry.RandomDelay))
	})
	b.Run("sethvargo", benchmarkSethvargoDelay)
}

func benchmarkAfter(b *testing.B, kind ours.JitterKind) {
	key, s := ours.NewKey("order-42", "book_room"), strategy(kind)
	b.ReportAllocs()
	for b.Loop() {
		for attempt := 1; attempt <= delays; attempt++ {
			sinkDelay += s.After(attempt, key)
		}
	}
}

func strategy(kind ours.JitterKind) ours.BackoffStrategy {
	s := ours.Exponential(base, 2*ours.One)
	s.Cap, s.Jitter = most, ours.Jitter{Kind: kind}
	if kind == ours.Proportional {
		s.Jitter.Fraction = ours.Dec("0.2")
	}
	return s
}

func benchmarkCenkaltiDelay(b *testing.B) {
	s := backoff.NewExponentialBackOff()
	s.InitialInterval, s.Multiplier, s.MaxInterval = base, 2, most
	b.ReportAllocs()
	for b.Loop() {
		s.Reset()
		for range delays {
			sinkDelay += s.NextBackOff()
		}
	}
}

// avastContext is the configuration for avast's delay functions.
type avastContext struct{}

func (avastContext) Delay() time.Duration     { return base }
func (avastContext) MaxJitter() time.Duration { return base }
func (avastContext) MaxBackOffN() uint        { return 33 }
func (avastContext) MaxDelay() time.Duration  { return most }

func benchmarkAvastDelay(b *testing.B, delay retry.DelayTypeFunc) {
	var ctx retry.DelayContext = avastContext{}
	b.ReportAllocs()
	for b.Loop() {
		for n := range uint(delays) {
			sinkDelay += min(delay(n+1, nil, ctx), most)
		}
	}
}

// benchmarkSethvargoDelay builds its chain again for every ten delays, because it has no reset.
func benchmarkSethvargoDelay(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := sethvargo.WithCappedDuration(most, sethvargo.WithFullJitter(sethvargo.NewExponential(base)))
		for range delays {
			d, _ := s.Next()
			sinkDelay += d
		}
	}
}
