package backoff_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/retake-go/retake/backoff"
)

// The sinks keep the compiler from removing the measured code.
var (
	sinkDelay time.Duration
	sinkHash  uint64
)

func splitMix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// BenchmarkFloor makes ten hashes only, the least that jitter of this quality can cost.
func BenchmarkFloor(b *testing.B) {
	b.ReportAllocs()
	start := uint64(0x243f6a8885a308d3)
	for b.Loop() {
		sum := uint64(0)
		for attempt := range uint64(10) {
			sum += splitMix64(start + attempt*0x9e3779b97f4a7c15)
		}
		sinkHash = sum
	}
}

func BenchmarkTenDelays(b *testing.B) {
	exponential := func(factor string, j backoff.Jitter) backoff.BackoffStrategy {
		s := backoff.Exponential(500*time.Millisecond, backoff.Dec(factor))
		s.Cap, s.Jitter = 30*time.Second, j
		return s
	}
	proportional := backoff.Jitter{Kind: backoff.Proportional, Fraction: backoff.Dec("0.2")}
	for _, c := range []struct {
		name string
		s    backoff.BackoffStrategy
	}{
		{"exponential_2_proportional", exponential("2", proportional)},
		{"exponential_2_full", exponential("2", backoff.Jitter{Kind: backoff.Full})},
		{"exponential_2_no_jitter", exponential("2", backoff.Jitter{})},
		{"exponential_3_proportional", exponential("3", proportional)},
		{"exponential_1.5_proportional", exponential("1.5", proportional)},
		{"exponential_1.1_proportional", exponential("1.1", proportional)},
		{"linear", backoff.Linear(time.Second, time.Second)},
		{"constant", backoff.Constant(time.Second)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			key := backoff.NewKey("order-42", "book_room")
			for b.Loop() {
				sum := time.Duration(0)
				for attempt := 1; attempt <= 10; attempt++ {
					sum += c.s.After(attempt, key)
				}
				sinkDelay = sum
			}
		})
	}
}

// BenchmarkSlowWay computes one delay with a decimal factor: with integers up to attempt 64, with 1024-bit
// floats beyond.
func BenchmarkSlowWay(b *testing.B) {
	s := backoff.Exponential(500*time.Millisecond, backoff.Dec("1.1"))
	for _, attempt := range []int{50, 150} {
		b.Run(strconv.Itoa(attempt), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sinkDelay = s.After(attempt, backoff.Key{})
			}
		})
	}
}
