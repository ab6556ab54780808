package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// Under the default policy, a used-up window is waited for like a retry-after. A window that lasts longer
// than the maximum for a server's wait ends the run at once.
func TestAUsedUpWindowIsAFloorAsARetryAfterIs(t *testing.T) {
	cases := map[string]struct {
		headers map[string][]string
		least   time.Duration
		stops   error
	}{
		"a reset":              {map[string][]string{"X-Ratelimit-Remaining-Requests-Minute": {"0"}, "X-Ratelimit-Reset-Requests-Minute": {"48.5"}}, 48500 * time.Millisecond, nil},
		"the last of several":  {map[string][]string{"X-Ratelimit-Remaining-Requests-Minute": {"0"}, "X-Ratelimit-Reset-Requests-Minute": {"5"}, "X-Ratelimit-Remaining-Tokens-Hour": {"0"}, "X-Ratelimit-Reset-Tokens-Hour": {"100"}}, 100 * time.Second, nil},
		"a period without one": {map[string][]string{"X-Ratelimit-Remaining-Tokens-Minute": {"0"}}, time.Minute, nil},
		"asked for outright":   {map[string][]string{"Retry-After": {"7"}, "X-Ratelimit-Remaining-Tokens-Minute": {"0"}}, 7 * time.Second, nil},
		"a day":                {map[string][]string{"X-Ratelimit-Remaining-Tokens-Day": {"0"}}, 0, policy.ReasonRetryAfterTooLong},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			model := looptest.NewModel(looptest.Fail(windows(c.headers)), looptest.Say("done"))
			clock := looptest.NewClock()
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithClock(clock))
			if c.stops != nil {
				require.ErrorIs(t, err, c.stops)
				return
			}
			require.NoError(t, err)
			waited := clock.Now().Sub(looptest.Epoch)
			assert.GreaterOrEqual(t, waited, c.least)
			assert.LessOrEqual(t, waited, c.least*3/2, "jitter adds at most half")
		})
	}
}
