package limiter_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// A clock that is set back, before a call asks or while it waits, delays no call.
func TestAClockThatIsSetBackDelaysNoCall(t *testing.T) {
	for name, waits := range map[string]time.Duration{"before": 0, "meanwhile": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := new(fixture.Wall)
				l := newLimiter(t, limiter.Config{Clock: c, Limit: limit.Config{
					Windows: []limit.Window{{Resource: "requests", Limit: 6, Period: time.Minute}},
				}})
				begun := time.Now()
				for n := range 9 {
					if n == 7 {
						time.AfterFunc(waits, func() { c.Move(-2 * time.Hour) })
						synctest.Wait()
					}
					grant, err := l.Acquire(t.Context(), limiter.Ask{Scope: "x", Deadline: c.Now().Add(3 * time.Minute)})
					require.NoError(t, err)
					l.Settle(grant, limiter.Use{Outcome: limit.Served})
				}
				assert.Less(t, time.Since(begun), 3*time.Minute)
			})
		})
	}
}

// The limiter's next time is by the clock, also after that was set back.
func TestTheNextTimeIsByAClockThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(fixture.Wall)
		l := newLimiter(t, limiter.Config{Clock: c, Limit: limit.Config{
			Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Minute}},
		}})
		_, err := l.Acquire(t.Context(), limiter.Ask{Scope: "x"})
		require.NoError(t, err)
		c.Move(-2 * time.Hour)
		answered := make(chan limiter.Answer, 1)
		_, known := l.Ask(limiter.Ask{Scope: "x"}, func(a limiter.Answer) { answered <- a })
		require.False(t, known)
		next, waits := l.Next()
		require.True(t, waits)
		assert.WithinDuration(t, c.Now().Add(time.Minute), next, time.Second)
		require.NoError(t, (<-answered).Err)
	})
}
