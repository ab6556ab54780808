package loop_test

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// stepped is a clock that moves only when it is set.
type stepped struct{ now atomic.Int64 }

func (c *stepped) Now() time.Time { return time.Unix(0, c.now.Load()).UTC() }

// After returns a channel on which nothing comes: who drives the pool asks it when to go on.
func (*stepped) After(time.Duration) <-chan time.Time { return nil }

// queued is a pool whose runs wait for a limiter, which grants a call in a millisecond.
type queued struct {
	pool  *loop.Pool
	clock stepped
	// called are the sessions in the order of their calls.
	called []string
}

func newQueued(t testing.TB, n int) *queued {
	q := new(queued)
	l, err := limiter.New(limiter.Config{
		Clock: &q.clock, Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Millisecond}}},
	})
	require.NoError(t, err)
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		q.called = append(q.called, req.Session)
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
	lost := func(_ *session.Session, _ loop.Result, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	q.pool, err = loop.NewPool(loop.PoolConfig{
		Model: model, Done: lost, Options: []loop.Option{loop.WithClock(&q.clock), loop.WithLimiter(l)},
	})
	require.NoError(t, err)
	for n := range n {
		s, err := session.New(session.Config{ID: strconv.Itoa(n)})
		require.NoError(t, err)
		_, err = q.pool.Add(s, loop.Input{Prompt: "go"})
		require.NoError(t, err)
	}
	return q
}

// next goes on with what is due next, and returns how many runs that were.
func (q *queued) next() int {
	if at, _ := q.pool.Next(); at.After(q.clock.Now()) {
		q.clock.now.Store(at.UnixNano())
	}
	return q.pool.Due(q.clock.Now())
}

func TestSessionsThatWaitForALimiterWakeOneByOneInTheirOrder(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 200
	}
	q := newQueued(t, n)
	assert.Equal(t, n, q.next(), "all ask, and the first one is granted its call")
	for made := 1; made < n; made++ {
		require.Len(t, q.called, made)
		require.Equal(t, 1, q.next(), "nobody wakes but who was granted a call")
	}
	for n, id := range q.called {
		require.Equal(t, strconv.Itoa(n), id)
	}
	assert.Zero(t, q.pool.Len())
}

// BenchmarkCrowd has so many sessions wait for a limiter, and wakes each. Of four times as many each costs
// what it did: compare ns/asked and ns/woken.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{25_000, 50_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var asked, woken time.Duration
			for b.Loop() {
				b.StopTimer()
				q := newQueued(b, n)
				b.StartTimer()
				begun := time.Now()
				q.next()
				waiting := time.Now()
				for q.pool.Len() > 0 {
					q.next()
				}
				asked, woken = asked+waiting.Sub(begun), woken+time.Since(waiting)
				require.Len(b, q.called, n)
			}
			b.ReportMetric(float64(asked.Nanoseconds())/float64(b.N)/float64(n), "ns/asked")
			b.ReportMetric(float64(woken.Nanoseconds())/float64(b.N)/float64(n), "ns/woken")
		})
	}
}
