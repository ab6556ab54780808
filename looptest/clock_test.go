package looptest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// limited is a policy with a time limit of half a minute for models and tools.
func limited() *policy.Set {
	set := policy.DefaultSet()
	set.Transport = policy.Layer{
		ModelTimeout: new(30 * time.Second), ToolTimeout: new(30 * time.Second), MaxAttempts: new(1),
	}
	return &set
}

// A model that never returns is timed out, even though nothing moves the clock.
func TestAModelThatHangsIsTimedOutOnTheClock(t *testing.T) {
	clock := looptest.NewClock()
	hangs := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	_, err := fixture.Run(t.Context(), hangs, nil, loop.Input{Prompt: "Hello."}, loop.Config{Policy: limited()}, loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	require.ErrorContains(t, err, "the model did not reply within 30s")
	assert.Equal(t, 30*time.Second, clock.Since(looptest.Epoch))
}

// Each return and each new limit begins the patience anew, so that calls that return are never timed out.
func TestACallThatReturnsIsNotTimedOutByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := func(name string, d time.Duration) *tool.Tool {
			return tool.New(name, "Wait.", func(context.Context, struct{}) (string, error) {
				time.Sleep(d)
				return name, nil
			})
		}
		tools, err := tool.NewSet(takes("fast", 45*time.Millisecond), takes("slow", 90*time.Millisecond))
		require.NoError(t, err)
		model := looptest.NewModel(looptest.Call(
			message.Call{ID: "1", Name: "fast", Arguments: `{}`},
			message.Call{ID: "2", Name: "slow", Arguments: `{}`},
		), looptest.Say("Done."))
		clock := looptest.NewClock()
		clock.Computes(false)
		result, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: limited()}, loop.WithClock(clock))
		looptest.AssertAnswer(t, result, err, "Done.")
		assert.Empty(t, result.Warnings)
		assert.Equal(t, looptest.Epoch, clock.Now())
	})
}

// A tool that computes for longer than the clock's patience is not timed out.
func TestACallThatComputesIsNotTimedOutByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := looptest.NewClock()
		clock.Computes(true)
		began, reached := time.Now(), make(chan time.Duration)
		clock.Timeout(time.Minute, func() { reached <- time.Since(began) })
		assert.Equal(t, 2*time.Second, <-reached, "one that computes for ever is")
	})
	clock := looptest.NewClock()
	clock.Patience = 5 * time.Millisecond
	computes := tool.New("compute", "Compute.", func(context.Context, struct{}) (string, error) {
		steps := 0
		for began := time.Now(); time.Since(began) < 4*clock.Patience; {
			steps++
		}
		return fmt.Sprint(steps, " steps"), nil
	})
	tools, err := tool.NewSet(computes)
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(message.Call{ID: "1", Name: "compute", Arguments: `{}`}), looptest.Say("Done."))
	result, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: limited()}, loop.WithClock(clock))
	looptest.AssertAnswer(t, result, err, "Done.")
	assert.Equal(t, looptest.Epoch, clock.Now())
}

// The time moves to one limit after the other, each after the patience.
func TestLimitsOnTheClockAreReachedInOrder(t *testing.T) {
	for _, patience := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			clock := looptest.NewClock()
			clock.Patience = patience
			clock.Computes(false)
			wait := max(patience, 50*time.Millisecond)
			all := make(chan string, 3)
			at := func(name string) func() {
				return func() { all <- name + " " + clock.Since(looptest.Epoch).String() }
			}
			clock.Timeout(2*time.Minute, at("second"))
			stop := clock.Timeout(90*time.Second, at("stopped"))
			clock.Timeout(time.Minute, at("first"))
			time.Sleep(wait - 1)
			stop()
			time.Sleep(wait - 1)
			synctest.Wait()
			assert.Empty(t, all, "a limit was taken away in between")
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			require.Len(t, all, 1)
			assert.Equal(t, "first 1m0s", <-all)
			time.Sleep(wait)
			synctest.Wait()
			require.Len(t, all, 1)
			assert.Equal(t, "second 2m0s", <-all)
		})
	}
}

// A wait that goes over a limit reaches it.
func TestAWaitReachesTheLimitsOnItsWay(t *testing.T) {
	clock, reached := looptest.NewClock(), 0
	for _, d := range []time.Duration{time.Second, time.Minute, time.Hour} {
		defer clock.Timeout(d, func() { reached++ })()
	}
	clock.Add(time.Minute)
	assert.Equal(t, 2, reached)
}

func TestATimeLimitExpiresAtOnceWhenToldTo(t *testing.T) {
	c := looptest.NewClock()
	assert.False(t, c.Expire(), "there is none")
	fired := false
	c.Timeout(time.Minute, func() { fired = true })
	assert.True(t, c.Expire())
	assert.True(t, fired)
	assert.Equal(t, time.Minute, c.Since(looptest.Epoch))
}
