package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func benchmarked() map[string]question {
	at := plain()
	asked := plain()
	asked.p, _ = policy.Preset("result-envelope")
	asked.p.Backoff.Jitter = backoff.Jitter{Kind: backoff.Full}
	asked.f = fault.Failure{Class: fault.RateLimit, RetryAfter: time.Second}
	asked.pos.Key, asked.pos.Deadline = backoff.NewKey("seed", "stream"), noon.Add(time.Hour)
	stop := plain()
	stop.pos.Attempt = 3
	return map[string]question{"at_once": at, "jitter_and_retry_after": asked, "stop": stop}
}

func BenchmarkDecide(b *testing.B) {
	for name, q := range benchmarked() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.decide()
			}
		})
	}
}

func BenchmarkPolicy(b *testing.B) {
	s := policy.DefaultSet()
	s.Tools = map[string]policy.Layer{"book_room": {MaxAttempts: new(2)}}
	b.ReportAllocs()
	for b.Loop() {
		s.Policy(policy.Target{Tool: "book_room"})
	}
}

func TestDecideDoesNotAllocate(t *testing.T) {
	for name, q := range benchmarked() {
		assert.Zero(t, testing.AllocsPerRun(100, func() { q.decide() }), name)
	}
}
