package loop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

var _ loop.Clock = (*clock.Mock)(nil)

// stopped is a mock clock that counts the Afters that have not fired.
type stopped struct {
	*clock.Mock
	mu  sync.Mutex
	all []<-chan time.Time
}

func (c *stopped) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	after := c.Mock.After(d)
	c.all = append(c.all, after)
	return after
}

// asked returns how often the clock was asked to wait.
func (c *stopped) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

func timeLimits(model, tools time.Duration) *policy.Set {
	set := policy.DefaultSet()
	set.Transport = policy.Layer{ModelTimeout: new(model), ToolTimeout: new(tools), MaxAttempts: new(1)}
	return &set
}

// A clock cannot take an After back. However many calls have limits, few are asked for, and no goroutine is
// left.
func TestCallsWithLimitsDoNotAddUpOnTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it fails if a goroutine is left
		const turns, calls = 1250, 7
		note := tool.New("note", "Note.", func(context.Context, struct{}) (string, error) { return "noted", nil },
			tool.WithPolicy(policy.Layer{EqualInReply: policy.EqualRun, Progress: &policy.Progress{Stop: policy.Unlimited}}))
		tools, err := tool.NewSet(note)
		require.NoError(t, err)
		turn := 0
		model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			if turn++; turn == turns {
				return looptest.Say("Done.").Reply, nil
			}
			var all []message.Call
			for n := range calls {
				all = append(all, message.Call{ID: fmt.Sprint(turn, "-", n), Name: "note", Arguments: `{}`})
			}
			return looptest.Call(all...).Reply, nil
		})
		c := &stopped{Mock: clock.NewMock()}
		cfg := loop.Config{Tools: tools, Policy: timeLimits(time.Minute, 10*time.Second)}
		cfg.Policy.MaxTurns = turns
		result, err := fixture.Run(t.Context(), model, nil, loop.Input{Prompt: "Go."}, cfg, loop.WithClock(c))
		looptest.AssertAnswer(t, result, err, "Done.")
		assert.LessOrEqual(t, c.asked(), 2, "one After for models, and one for tools, whose limit comes sooner")
	})
}

// A pool asks again only for a run that is due before all others.
func TestAPoolAsksTheClockForTheNextRunOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, called := &stopped{Mock: clock.NewMock()}, 0
		busy := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			called++
			wait := time.Minute + time.Duration(called)*time.Second
			return message.Reply{}, &fault.TransportError{Class: fault.RateLimit, RetryAfter: wait}
		})
		p, _ := pooled(t, loop.PoolConfig{Model: busy, Options: []loop.Option{loop.WithClock(c)}})
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- p.Serve(ctx, 1) }()
		for range 500 {
			_, err := p.Add(newSession(t), loop.Input{Prompt: "Hello."})
			require.NoError(t, err)
			synctest.Wait()
		}
		assert.Equal(t, 500, called)
		assert.Equal(t, 1, c.asked())
		stop()
		require.ErrorIs(t, <-over, context.Canceled)
	})
}

// A limit is reached on a mock clock that is moved by hand.
func TestALimitIsReachedOnAMockClock(t *testing.T) {
	mock, called := clock.NewMock(), make(chan struct{})
	hangs := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		close(called)
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	go func() {
		<-called
		mock.Add(time.Minute)
	}()
	_, err := fixture.Run(t.Context(), hangs, nil, loop.Input{Prompt: "Go."}, loop.Config{Policy: timeLimits(time.Minute, time.Minute)}, loop.WithClock(mock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	require.ErrorContains(t, err, "the model did not reply within 1m0s")
}

// The context of a call ends at the deadline by the clock, and so do contexts that the call makes from it. If
// the caller's context ends before, its cause passes through.
func TestContextsEndAtTheDeadlineOfTheClock(t *testing.T) {
	gone := errors.New("gone")
	for name, end := range map[string]error{"deadline": context.DeadlineExceeded, "caller": gone} {
		t.Run(name, func(t *testing.T) {
			c := looptest.NewClock()
			ctx, leave := context.WithCancelCause(t.Context())
			defer leave(nil)
			ended := make(chan []error, 1) // the run does not wait for the model
			model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				at, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.Equal(t, looptest.Epoch.Add(time.Hour), at)
				inner, free := context.WithCancel(ctx)
				defer free()
				if end == gone {
					leave(gone)
				} else {
					c.Add(time.Hour)
				}
				<-inner.Done()
				ended <- []error{ctx.Err(), inner.Err(), context.Cause(inner)}
				return message.Reply{}, ctx.Err()
			})
			_, runErr := fixture.Run(ctx, model, nil, loop.Input{Prompt: "Go.", Deadline: looptest.Epoch.Add(time.Hour)}, loop.Config{}, loop.WithClock(c))
			require.Error(t, runErr)
			want := context.DeadlineExceeded
			if end == gone {
				want = context.Canceled
			}
			assert.Equal(t, []error{want, want, end}, <-ended)
		})
	}
}
