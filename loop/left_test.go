package loop_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// ignoring is a model that ignores its context. Each call runs first, and replies after released is closed.
func ignoring(released <-chan struct{}, first func(loop.Request)) loop.Model {
	return loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		first(req)
		<-released
		req.Stream(loop.Delta{Call: -1, Text: "too late"})
		return message.Reply{Text: "too late"}, nil
	})
}

func TestAModelThatIgnoresItsContextDoesNotHoldTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		ends  error
	}{
		"cancelled": {cause: errors.New("closing time"), ends: policy.ReasonCancelled},
		"suspended": {cause: loop.ErrSuspended, ends: loop.ErrSuspended},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancelCause(t.Context())
				released := make(chan struct{})
				model := ignoring(released, func(req loop.Request) {
					req.Stream(loop.Delta{Call: -1, Text: "Hel"})
					leave(c.cause)
				})
				var shown []string
				j := recorded(t, journal.Dir(t.TempDir()))
				_, err := fixture.Run(ctx, model, fixture.In(newSession(t), j), loop.Input{Prompt: "Hello."}, loop.Config{}, loop.WithStream(func(d loop.Delta) { shown = append(shown, d.Text) }))
				require.ErrorIs(t, err, c.ends)
				require.ErrorIs(t, err, c.cause)
				assert.Equal(t, errors.Is(err, loop.ErrSuspended), j.Unfinished())
				close(released)
				synctest.Wait()
				assert.Equal(t, []string{"Hel"}, shown, "what comes later is not shown")
			})
		})
	}
}

func TestAModelThatIgnoresItsContextIsAskedAgainWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		released := make(chan struct{})
		first := ignoring(released, func(loop.Request) {})
		model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
			if asked.Add(1) == 1 {
				return first.Reply(ctx, req)
			}
			req.Stream(loop.Delta{Call: -1, Text: "Hello."})
			return message.Reply{Text: "Hello."}, nil
		})
		var shown []string
		result, err := fixture.Run(context.Background(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: within30s()}, loop.WithStream(func(d loop.Delta) { shown = append(shown, d.Text) }))
		require.NoError(t, err)
		assert.Equal(t, "Hello.", result.Text)
		assert.Equal(t, fault.Timeout, result.Attempts[0].Class)
		close(released)
		synctest.Wait()
		assert.Equal(t, []string{"", "Hello."}, shown, "a mark that takes back, and the reply that stands")
	})
}

func TestATryThatIgnoresItsContextIsLeftBehindWhenItsTimeIsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		released := make(chan struct{})
		a := loop.ToolCall("pay")
		a.Transport.ModelTimeout = 30 * time.Second
		value, err := loop.Do(t.Context(), nil, a, func(_ context.Context, at loop.Attempt) (int, error) {
			if at.Transport == 1 {
				<-released
			}
			return at.Transport, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, value)
		close(released)
	})
}

// panicsOfModel expects the panic of a model: its value "no model" and its place.
func panicsOfModel(t *testing.T, run func()) {
	t.Helper()
	defer func() {
		t.Helper()
		err, _ := recover().(error)
		var panicked *fault.PanicError
		require.ErrorAs(t, err, &panicked)
		assert.Equal(t, "no model", panicked.Value)
		assert.Contains(t, panicked.Stack, "loop_test.Test")
		assert.Contains(t, err.Error(), panicked.Stack, "a program that dies of it prints the stack")
	}()
	run()
}
