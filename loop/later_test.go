package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A tool that asks for the same call again without a wait does not make the run spin, although its policy has
// neither a bound nor a wait.
func TestACallThatIsAlwaysTriedLaterDoesNotSpin(t *testing.T) {
	for name, c := range map[string]struct {
		attempts int
		base     time.Duration
		bases    map[fault.Class]time.Duration
		after    time.Duration
		each     time.Duration
	}{
		"unlimited, no wait":           {policy.Unlimited, 0, nil, 0, time.Second},
		"unlimited, no wait of a base": {policy.Unlimited, time.Hour, map[fault.Class]time.Duration{fault.Unavailable: 0}, 0, time.Second},
		"unlimited, a short wait":      {policy.Unlimited, time.Millisecond, nil, 0, time.Millisecond},
		"the tool waits":               {policy.Unlimited, 0, nil, time.Millisecond, time.Millisecond},
		"bounded, no wait":             {10, 0, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			tools, err := tool.NewSet(tool.New("print", "Print.", func(context.Context, struct{}) (string, error) {
				if tries++; tries < 5 {
					return "", tool.TryLater(errors.New("paper jam"), c.after)
				}
				return "printed", nil
			}))
			require.NoError(t, err)
			set := policy.DefaultSet()
			wait := backoff.Constant(c.base)
			set.Transport = policy.Layer{MaxAttempts: &c.attempts, Backoff: &wait, Bases: c.bases, MaxTotalDelay: new(time.Duration(policy.Unlimited))}
			result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("print", `{}`)), looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Print."}, loop.Config{Tools: tools, Policy: &set}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, 5, tries)
			assert.GreaterOrEqual(t, result.Waited, 4*c.each)
			assert.LessOrEqual(t, result.Waited, 6*c.each)
		})
	}
}

// A reducer that refuses what it hears of a first attempt ends the run at that attempt.
func TestARefusedNoticeNamesItsAttempt(t *testing.T) {
	stop := policy.DefaultSet()
	stop.Global.OnReducerError = policy.ReducerStopsRun
	for _, event := range []string{session.EventReplied, session.EventAttemptFailed, session.EventToolFailed} {
		t.Run(event, func(t *testing.T) {
			s := hearing(t, func(string) error { return errors.New("no") }, event)
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "", tool.Fail("no money") }))
			require.NoError(t, err)
			_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("pay", `[]`)), looptest.Call(call("pay", `{}`)), looptest.Say("Done.")), s, loop.Input{Prompt: "Hello."}, loop.Config{Policy: &stop, Tools: tools}, loop.WithClock(looptest.NewClock()))
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, 1, exhausted.Attempt)
			assert.ErrorContains(t, err, "attempt 1 of 3")
		})
	}
}
