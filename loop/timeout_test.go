package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// within30s is a policy with a timeout of half a minute for models and the tool pay.
func within30s() *policy.Set {
	set := policy.DefaultSet()
	set.Transport = policy.Layer{ModelTimeout: new(30 * time.Second), MaxAttempts: new(2)}
	set.ToolTransport = map[string]policy.Layer{"pay": {ToolTimeout: new(30 * time.Second), MaxAttempts: new(2)}}
	return &set
}

func tookTooLong(t *testing.T, err error, text string) {
	t.Helper()
	var late *fault.TransportError
	require.ErrorAs(t, err, &late)
	assert.Equal(t, fault.Timeout, late.Class)
	assert.Equal(t, text, late.Error())
}

func TestAModelThatTakesTooLongIsAskedAgain(t *testing.T) {
	clock := looptest.NewClock()
	model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		clock.Add(time.Minute)
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: within30s()}, loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	tookTooLong(t, err, "timeout: the model did not reply within 30s")
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, fault.Transport, exhausted.Plane)
	assert.Len(t, exhausted.Attempts, 2)
}

// A tool that ignores its context continues alone, and the run continues. Its declaration decides whether
// it runs again, as after any other failure.
func TestAToolThatTakesTooLongDoesNotHoldItsRun(t *testing.T) {
	for name, c := range map[string]struct {
		opts []tool.Option
		told string
	}{
		"undeclared": {nil, "The call failed, and its effect may or may not have happened."},
		"idempotent": {[]tool.Option{tool.Idempotent()}, "The call failed 2 times, and its effect may or may not have happened."},
	} {
		t.Run(name, func(t *testing.T) {
			clock, ignores := looptest.NewClock(), make(chan struct{})
			defer close(ignores)
			tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) {
				clock.Add(time.Minute)
				<-ignores
				return "too late", nil
			}, c.opts...))
			require.NoError(t, err)
			model := looptest.NewModel(looptest.Call(call("pay", `{}`)), looptest.Say("Sorry."))
			s := newSession(t)
			_, err = fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: within30s()}, loop.WithClock(clock))
			require.NoError(t, err)
			told := model.Requests()[1].Last()
			assert.Equal(t, c.told, told.Text)
			assert.Equal(t, fault.Timeout, s.State().Attempts()[0].Class)
		})
	}
}

func TestATryThatTakesTooLongIsMadeAgain(t *testing.T) {
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		t.Run(name, func(t *testing.T) {
			clock := looptest.NewClock()
			a := loop.ToolCall("pay")
			a.Transport.ModelTimeout, a.Transport.MaxAttempts = 30*time.Second, 2
			tries := 0
			_, err := loop.Do(t.Context(), s, a, func(ctx context.Context, at loop.Attempt) (int, error) {
				tries++
				assert.Equal(t, 30*time.Second, at.Timeout)
				clock.Add(time.Minute)
				<-ctx.Done()
				return 0, ctx.Err()
			}, loop.WithClock(clock))
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			tookTooLong(t, err, "timeout: the try did not return within 30s")
			assert.Equal(t, 2, tries)
		})
	}
}

// A call within its time is not disturbed.
func TestWhatIsInTimeHasNoTimeout(t *testing.T) {
	model := looptest.NewModel(looptest.Call(call("pay", `{"sum":1}`)), looptest.Say("Paid."))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: pay(t, nil), Policy: within30s()})
	require.NoError(t, err)
	assert.Equal(t, "Paid.", result.Text)
}

func TestAReplyThatStandsStillIsAskedForAgain(t *testing.T) {
	for name, c := range map[string]struct {
		pieces int
		text   string
	}{
		"before the first piece": {0, "timeout: nothing of the model's reply arrived for 20s"},
		"after it":               {2, "timeout: nothing of the model's reply arrived for 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			clock, asked := looptest.NewClock(), 0
			model := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
				if asked++; asked > 1 {
					return message.Reply{Text: "Hello."}, nil
				}
				for range c.pieces {
					clock.Add(4 * time.Second)
					req.Stream(loop.Delta{Call: -1, Text: "H"})
				}
				clock.Add(30 * time.Second)
				<-ctx.Done()
				return message.Reply{}, ctx.Err()
			})
			set := policy.DefaultSet()
			set.Transport = policy.Layer{FirstTokenTimeout: new(20 * time.Second), IdleTimeout: new(5 * time.Second)}
			var broke error
			see := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
				if n.Err != nil {
					broke = n.Err
				}
			})
			result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: &set}, loop.WithClock(clock), loop.WithObserver(see))
			require.NoError(t, err)
			assert.Equal(t, "Hello.", result.Text)
			tookTooLong(t, broke, c.text)
		})
	}
}
