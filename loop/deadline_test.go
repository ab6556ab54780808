package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A context that ends by its deadline ends a run with the deadline's reason; a cancelled one ends it as
// cancelled.
func TestADeadlineOfTheContextIsADeadline(t *testing.T) {
	late := errors.New("the user went home")
	ends := map[string]struct {
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want policy.Reason
	}{
		"timeout": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, policy.ReasonDeadline},
		"timeout with cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Minute, late)
		}, policy.ReasonDeadline},
		"cancelled": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return ctx, cancel
		}, policy.ReasonCancelled},
	}
	hangs := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	wait := func(ctx context.Context, _ loop.Attempt) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	ways := map[string]func(ctx context.Context, s *session.Session) error{
		"a run": func(ctx context.Context, s *session.Session) error {
			_, err := fixture.Run(ctx, hangs, s, loop.Input{Prompt: "Go."}, loop.Config{})
			return err
		},
		"one action": func(ctx context.Context, s *session.Session) error {
			_, err := loop.Do(ctx, s, loop.ToolCall("book"), wait)
			return err
		},
		"one action of no session": func(ctx context.Context, _ *session.Session) error {
			_, err := loop.Do(ctx, nil, loop.ToolCall("book"), wait)
			return err
		},
	}
	for name, end := range ends {
		for way, run := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := end.ctx(t.Context())
					defer cancel()
					err := run(ctx, newSession(t))
					require.ErrorIs(t, err, end.want)
					assert.Equal(t, end.want == policy.ReasonDeadline, errors.Is(err, context.DeadlineExceeded))
				})
			})
		}
	}
}

// The error of a class that is not retried names the class and the setting.
func TestAClassThatIsNotRetriedIsNamedWithWhatToSet(t *testing.T) {
	cases := map[string]struct {
		err  *fault.ProviderError
		want string
	}{
		"by its kind":   {&fault.ProviderError{Class: fault.Auth, StatusCode: 401}, "auth is not retried: another try does not help"},
		"by the policy": {&fault.ProviderError{Class: fault.Quota}, "quota is not retried: add it to retryable_errors of the transport policy to have it retried"},
		"by the server": {&fault.ProviderError{Class: fault.RateLimit, Final: true}, "rate_limit is not retried: the other side said that another try does not help"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(c.err)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{})
			require.ErrorIs(t, err, policy.ReasonNotRetryable)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A verdict that somebody made by hand may lack its Retryable. The error does not blame the other side alone.
func TestAVerdictThatIsFinalIsNamed(t *testing.T) {
	byHand := loop.WithClassifier(func(error) fault.Verdict { return fault.Verdict{Class: fault.RateLimit} })
	_, err := loop.Do(t.Context(), nil, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 0, errors.New("slow down") }, byHand)
	require.ErrorContains(t, err, "rate_limit is not retried: the verdict of WithClassifier, or the other side, said that another try does not help (Verdict.Retryable)")
}

// A deadline does not delay the end of the caller's context: a try that returns its error is cancelled, not
// failed.
func TestATryThatEndsWithItsContextIsCancelledUnderADeadline(t *testing.T) {
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := loop.ToolCall("pay")
		a.Deadline = looptest.Epoch.Add(time.Minute)
		tries := loop.Attempts(ctx, nil, a, loop.WithClock(looptest.NewClock()))
		for try := range tries.All() {
			cancel()
			try.End(ctx.Err())
		}
		require.ErrorIs(t, tries.Err(), policy.ReasonCancelled)
	}
}

// A deadline that no journal can hold is refused where there is a journal.
func TestADeadlineHasAYearThatCanBeRecorded(t *testing.T) {
	at := time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600))
	j, err := journal.Open(t.Context(), &looptest.Store{}, "order-42", journal.Settings{})
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Input{Prompt: "Go.", Deadline: at}, loop.Config{})
	require.ErrorContains(t, err, "time at /header/config/deadline cannot be written as JSON: its year must be 0 to 9999")
	require.NoError(t, j.Close())
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Go.", Deadline: at}, loop.Config{})
	require.NoError(t, err)
}
