package loop_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// setBack refuses the first three calls of each session, and sets the clock back a second after the first.
func setBack(c *fixture.Wall) loop.Model {
	var set sync.Once
	var mu sync.Mutex
	calls := map[string]int{}
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		set.Do(func() { time.AfterFunc(time.Second, func() { c.Move(-2 * time.Hour) }) })
		mu.Lock()
		defer mu.Unlock()
		if calls[r.Session]++; calls[r.Session] <= 3 {
			return message.Reply{}, &fault.TransportError{Class: fault.RateLimit, RetryAfter: 3 * time.Second}
		}
		return looptest.Say("Done.").Reply, nil
	})
}

// The sessions of a pool wait no longer because the clock was set back, be they there then or added later,
// nor any shorter.
func TestAPoolWaitsNoLongerAfterAClockWasSetBack(t *testing.T) {
	most := map[string]time.Duration{"limiter": 20 * time.Minute, "no_limiter": 14 * time.Second} // it slows who is refused
	for name, options := range map[string][]loop.Option{"limiter": nil, "no_limiter": {loop.WithLimiter(nil)}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := new(fixture.Wall)
				p, err := loop.NewPool(loop.PoolConfig{Model: setBack(c), Options: append(options, loop.WithClock(c))})
				require.NoError(t, err)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go func() { _ = p.Serve(ctx, 2) }()
				var all sync.WaitGroup
				for n := range 6 {
					all.Go(func() {
						time.Sleep(time.Duration(n) * 700 * time.Millisecond)
						begun := time.Now()
						r, err := p.Await(ctx, newSessionNamed(t, fmt.Sprint("s", n)), loop.Input{Prompt: "Hello."})
						looptest.AssertAnswer(t, r, err, "Done.")
						assert.Less(t, time.Since(begun), most[name])
						assert.GreaterOrEqual(t, time.Since(begun), 9*time.Second)
					})
				}
				all.Wait()
			})
		})
	}
}
