package limiter_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// busy makes calls that take a tenth of a second, up to ten at once, until the test ends.
func busy(ctx context.Context, l *limiter.Limiter, made *atomic.Int64) {
	for range 10 {
		go func() {
			for {
				g, err := l.Acquire(ctx, limiter.Ask{Scope: "a"})
				if err != nil {
					return
				}
				made.Add(1)
				time.Sleep(time.Second / 10)
				l.Settle(g, limiter.Use{Outcome: limit.Served})
			}
		}()
	}
}

// A limit that a deploy has changed holds for all processes as soon as one of the new ones makes a call,
// though old ones still run, and though the store has the limit of the old ones.
func TestTheLimitOfTheProcessThatWasMadeLastHolds(t *testing.T) {
	for name, c := range map[string]struct {
		config      limit.Config
		least, most int64 // calls in 10 s
	}{
		"lower":            {perSecond(5), 45, 55},
		"higher":           {perSecond(60), 550, 610},
		"the same":         {perSecond(20), 190, 205},
		"another period":   {limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 120, Period: time.Minute}}}, 0, 130},
		"calls at once":    {limit.Config{Windows: perSecond(20).Windows, Concurrency: 1}, 40, 105},
		"none":             {limit.Config{}, 300, 2100},
		"none, empty list": {limit.Config{Windows: []limit.Window{}}, 300, 2100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				var made atomic.Int64
				store := newMemory()
				busy(ctx, newLimiter(t, limiter.Config{Store: store, Limit: perSecond(20)}), &made)
				time.Sleep(5 * time.Second)
				assert.InDelta(t, 100, made.Load(), 25)
				busy(ctx, newLimiter(t, limiter.Config{Store: store, Limit: c.config}), &made)
				time.Sleep(5 * time.Second)
				made.Store(0)
				time.Sleep(10 * time.Second)
				assert.GreaterOrEqual(t, made.Load(), c.least)
				assert.LessOrEqual(t, made.Load(), c.most)
				kept, err := store.Load(t.Context(), "a")
				require.NoError(t, err)
				old, err := limiter.Recorded("a", kept.Value)
				require.NoError(t, err)
				assert.Equal(t, c.config.Concurrency, old.State.Config.Concurrency)
				stop()
				time.Sleep(time.Minute) // until the calls have ended, and what is told of them
			})
		})
	}
}
