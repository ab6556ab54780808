package limiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// What a limiter says of a provider that is down, it says whether processes share it or not: the breaker is
// told, calls that wait are given up in the end, and no call waits for ever.
func TestAProviderThatIsDownForLongIsGivenUp(t *testing.T) {
	for name, shared := range map[string]bool{"one process": false, "with a store": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told notices
				c := limiter.Config{
					Limit:  limit.Config{Failures: 1, GiveUp: time.Minute, Start: 1000},
					Notice: told.add,
				}
				if shared {
					c.Store = newMemory()
				}
				l := newLimiter(t, c)
				begun, denied := time.Now(), make(chan error)
				for range 3 { // each is made again and again, as long as it is granted
					go func() {
						for {
							grant, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
							if err != nil {
								denied <- err
								return
							}
							time.Sleep(10 * time.Millisecond)
							l.Settle(grant, limiter.Use{Outcome: limit.Down})
							if time.Since(begun) > time.Hour {
								denied <- nil
								return
							}
						}
					}()
				}
				for range 3 {
					require.ErrorIs(t, <-denied, limiter.ErrDenied)
				}
				assert.Less(t, time.Since(begun), 2*time.Minute)

				var grant limiter.Grant
				for err := limiter.ErrDenied; err != nil; { // one that comes later may probe
					time.Sleep(500 * time.Millisecond)
					grant, err = l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
				}
				l.Settle(grant, limiter.Use{Outcome: limit.Served})
				for range 2 { // it is back for all
					grant, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
					require.NoError(t, err)
					l.Settle(grant, limiter.Use{Outcome: limit.Served})
				}
				require.NoError(t, l.Flush(t.Context()))
				time.Sleep(time.Second)
				assert.Equal(t, []limiter.NoticeKind{limiter.BreakerOpened, limiter.BreakerClosed}, told.all())
			})
		})
	}
}
