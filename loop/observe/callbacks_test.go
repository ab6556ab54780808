package observe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

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

// told has what callbacks got. The lock is for runs that share the callbacks.
type told struct {
	mu      sync.Mutex
	errors  []observe.ErrorInfo
	traces  []observe.Trace
	retries []observe.Notice
	debug   []observe.DebugInfo
	texts   []string
}

func (o *told) callbacks() *observe.Callbacks {
	return &observe.Callbacks{
		OnError: func(t observe.Trace, e observe.ErrorInfo) {
			defer o.locked()()
			o.errors, o.traces = append(o.errors, e), append(o.traces, t)
		},
		OnRetry: func(_ observe.Trace, n observe.Notice) {
			defer o.locked()()
			o.retries = append(o.retries, n)
		},
		OnDebug: func(text string, d observe.DebugInfo) {
			defer o.locked()()
			o.texts, o.debug = append(o.texts, text), append(o.debug, d)
		},
	}
}

func (o *told) locked() (unlock func()) { o.mu.Lock(); return o.mu.Unlock }

// limited429 is a provider's error as an adapter wraps it.
func limited429() error {
	return fmt.Errorf("asking the model: %w", fault.Typed(fault.ProviderError{
		Class: fault.RateLimit, Provider: "openai", Model: "gpt-4o", StatusCode: 429, Message: "secret sk-123: slow down",
	}))
}

func run(t *testing.T, s *session.Session, c *observe.Callbacks, turns ...looptest.Turn) error {
	t.Helper()
	_, err := fixture.Run(t.Context(), looptest.NewModel(turns...), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: fixture.BookRoom(t, fixture.Booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(c))
	return err
}

func TestOnErrorHasCodeMessageMetadataAndTrace(t *testing.T) {
	var o told
	err := run(t, fixture.NewSession(t), o.callbacks(), fixture.Repeat(looptest.Fail(limited429()), 4)...)
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)

	require.Len(t, o.errors, 1)
	e := o.errors[0]
	assert.Equal(t, "RATE_LIMITED", e.Code.Names().AgentError)
	assert.Equal(t, fault.Metadata{Provider: "openai", Model: "gpt-4o", StatusCode: 429}, e.Metadata)
	assert.Equal(t, fault.UserMessage(fault.RateLimit, e.Metadata), e.Message)
	assert.NotContains(t, e.Message, "sk-123")
	assert.Equal(t, policy.ReasonAttemptsExhausted, e.Reason)
	assert.Equal(t, fault.Transport, e.Plane)
	assert.Equal(t, "order-42", o.traces[0].CorrelationID)
	assert.Regexp(t, "^[0-9a-f]{32}$", o.traces[0].TraceID)
	assert.Len(t, o.retries, 3)
}

func TestOnDebugHasAllTechnicalDetail(t *testing.T) {
	var o told
	require.NoError(t, run(t, fixture.NewSession(t), o.callbacks(), looptest.Fail(limited429()), looptest.Say("done")))
	require.Equal(t, []string{"attempt failed"}, o.texts)
	d := o.debug[0]
	require.ErrorContains(t, d.Err, "secret sk-123: slow down")
	assert.Equal(t, 1, d.Notice.Attempt)
	assert.Equal(t, "openai", d.Metadata.Provider)
	assert.Equal(t, "order-42", d.CorrelationID)
	assert.Contains(t, d.Chain[0], "asking the model")
	assert.Contains(t, d.Chain[1], "*fault.RateLimitError")
}

// The model only reads that a tool failed. Callbacks get the tool and the error.
func TestAToolsOwnErrorIsToldToObservers(t *testing.T) {
	lost := errors.New("the disk is on fire")
	type none struct{}
	tools, err := tool.NewSet(
		tool.New("well", "", func(context.Context, none) (int, error) { return 1, nil }),
		tool.New("badly", "", func(context.Context, none) (int, error) { return 0, lost }),
		tool.New("worse", "", func(context.Context, none) (int, error) { panic("a tool") }),
		tool.New("sorry", "", func(context.Context, none) (int, error) { return 0, tool.Fail("no room") }),
	)
	require.NoError(t, err)
	var o told
	var log strings.Builder
	model := looptest.NewModel(looptest.Call(fixture.Call("well", `{}`), fixture.Call("badly", `{}`), fixture.Call("worse", `{}`), fixture.Call("sorry", `{}`)), looptest.Say("done"))
	_, err = fixture.Run(t.Context(), model, fixture.NewSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools}, loop.WithObserver(o.callbacks()), loop.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(&log, nil)))))
	require.NoError(t, err)
	require.Equal(t, []string{"attempt failed", "attempt failed"}, o.texts)
	assert.Equal(t, "badly", o.debug[0].Notice.Action)
	require.ErrorIs(t, o.debug[0].Err, lost)
	assert.Equal(t, "worse", o.debug[1].Notice.Action)
	assert.Contains(t, o.debug[1].Stack, "TestAToolsOwnErrorIsToldToObservers")
	assert.Contains(t, log.String(), `level=WARN msg="tool failed" correlation_id=order-42 error="the disk is on fire" action=badly`)
	assert.Equal(t, 2, strings.Count(log.String(), "tool failed"))
}

func TestTheTraceIDMayComeFromTheContext(t *testing.T) {
	type key struct{}
	var o told
	c := o.callbacks()
	c.TraceID = func(ctx context.Context) string { id, _ := ctx.Value(key{}).(string); return id }
	ctx := context.WithValue(t.Context(), key{}, "4bf92f3577b34da6a3ce929d0e0e4736")
	_, err := fixture.Run(ctx, looptest.NewModel(looptest.Fail(fixture.Refused{Class: fault.Auth})), fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithObserver(c))
	require.Error(t, err)
	assert.Equal(t, "4bf92f3577b34da6a3ce929d0e0e4736", o.traces[0].TraceID)
}

func TestACallbackThatPanicsChangesNothing(t *testing.T) {
	var o told
	c := o.callbacks()
	c.OnRetry = func(observe.Trace, observe.Notice) { panic("a callback") }
	require.NoError(t, run(t, fixture.NewSession(t), c, looptest.Fail(limited429()), looptest.Say("done")))
	require.Equal(t, []string{"attempt failed", "callback OnRetry panicked"}, o.texts)
	assert.Contains(t, o.debug[1].Stack, "TestACallbackThatPanicsChangesNothing")

	c = o.callbacks()
	c.OnError = func(observe.Trace, observe.ErrorInfo) { panic("a callback") }
	c.OnDebug = func(string, observe.DebugInfo) { panic("another") }
	require.ErrorIs(t, run(t, fixture.NewSession(t), c, looptest.Fail(fixture.Refused{Class: fault.Auth})), policy.ReasonNotRetryable)
	require.NoError(t, run(t, fixture.NewSession(t), &observe.Callbacks{}, looptest.Fail(limited429()), looptest.Say("done")))
}

func TestConcurrentEmissions(t *testing.T) {
	var (
		o  told
		wg sync.WaitGroup
	)
	c := o.callbacks()
	const runs = 16
	for n := range runs {
		wg.Go(func() {
			s, err := session.New(session.Config{ID: fmt.Sprint("order-", n)})
			if assert.NoError(t, err) {
				assert.Error(t, run(t, s, c, fixture.Repeat(looptest.Fail(limited429()), 4)...))
			}
		})
	}
	wg.Wait()
	assert.Len(t, o.errors, runs)
	assert.Len(t, o.retries, 3*runs)
	assert.Len(t, o.debug, 4*runs)
}

// A callback may make a run of its own, with the same callbacks, and holds no other run.
func TestACallbackMayMakeARun(t *testing.T) {
	runs := 0
	var c *observe.Callbacks
	c = &observe.Callbacks{OnRetry: func(observe.Trace, observe.Notice) {
		if runs++; runs < 3 {
			require.NoError(t, run(t, nil, c, looptest.Say(""), looptest.Say("Done.")))
		}
	}}
	require.NoError(t, run(t, nil, c, looptest.Say(""), looptest.Say("Done.")))
	assert.Equal(t, 3, runs)
}

// An attempt that was cancelled has not passed, and is not counted.
func TestACancelledAttemptIsNotCounted(t *testing.T) {
	for _, why := range []error{context.Canceled, context.DeadlineExceeded} {
		t.Run(why.Error(), func(t *testing.T) {
			metrics := &observe.Metrics{}
			ctx, cancel := context.WithCancelCause(t.Context())
			result, err := fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				cancel(why)
				return message.Reply{}, ctx.Err()
			}), nil, loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithObserver(metrics))
			require.ErrorIs(t, err, why)
			require.Len(t, result.Attempts, 1)
			assert.False(t, result.Attempts[0].Passed())
			assert.Zero(t, metrics.Counts().Attempts.Count)
		})
	}
}

func TestErrorDuringStreaming(t *testing.T) {
	var (
		o    told
		seen string
	)
	broken := loop.ModelFunc(func(_ context.Context, req loop.Request) (r message.Reply, err error) {
		req.Stream(loop.Delta{Call: -1, Text: "Booking"})
		r.Calls = append(r.Calls, fixture.Call("book_room", fixture.Lisbon))
		return r, fault.AsError(fault.Response{Provider: "anthropic", Status: 200, Body: []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")})
	})
	_, err := fixture.Run(t.Context(), broken, fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: fixture.BookRoom(t, func(context.Context, fixture.Booking) (fixture.Receipt, error) {
		t.Error("the tool was run")
		return fixture.Receipt{}, nil
	})}, loop.WithClock(looptest.NewClock()), loop.WithObserver(o.callbacks()), loop.WithStream(func(d loop.Delta) { seen += d.Text }))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, "BookingBookingBookingBooking", seen, "each try streams from its beginning")
	require.Len(t, o.errors, 1)
	assert.Equal(t, fault.Overloaded, o.errors[0].Code)
}

func TestChainOfWrappedErrors(t *testing.T) {
	var o told
	root := errors.New("connection reset by peer")
	wrapped := fmt.Errorf("agent: %w", errors.Join(errors.New("cleanup failed"), fmt.Errorf("model: %w", fault.Typed(fault.ProviderError{
		Class: fault.Network, Provider: "mistral", Cause: root,
	}))))
	err := run(t, fixture.NewSession(t), o.callbacks(), fixture.Repeat(looptest.Fail(wrapped), 4)...)
	require.ErrorIs(t, err, root)
	var provider *fault.ProviderError
	require.ErrorAs(t, err, &provider)
	assert.Equal(t, "mistral", o.errors[0].Metadata.Provider)
	chain := o.debug[0].Chain
	assert.Contains(t, chain[len(chain)-1], "connection reset by peer")
	assert.Contains(t, fmt.Sprint(chain), "cleanup failed")
}

func TestEmptyErrorMessages(t *testing.T) {
	var o told
	require.Error(t, run(t, fixture.NewSession(t), o.callbacks(), looptest.Fail(errors.New(""))))
	require.Len(t, o.errors, 1)
	assert.Equal(t, fault.Unknown, o.errors[0].Code)
	assert.NotEmpty(t, o.errors[0].Message)
	assert.NotEmpty(t, o.debug[0].Chain)
}

func TestMissingMetadata(t *testing.T) {
	var o told
	require.Error(t, run(t, fixture.NewSession(t), o.callbacks(), looptest.Fail(fixture.Refused{Class: fault.Auth})))
	require.Len(t, o.errors, 1)
	assert.Zero(t, o.errors[0].Metadata)
	assert.Equal(t, "AUTHENTICATION_ERROR", o.errors[0].Code.Names().AgentError)
	assert.NotEmpty(t, o.errors[0].Message)

	var alone told
	_, err := loop.Do(t.Context(), nil, loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) {
		return 0, fixture.Refused{Class: fault.Auth}
	}, loop.WithObserver(alone.callbacks()))
	require.Error(t, err)
	require.Len(t, alone.errors, 1)
	assert.NotEmpty(t, alone.traces[0].CorrelationID, "that of the session that the action has then")
}

func TestMaxIterationsExceeded(t *testing.T) {
	var o told
	set := policy.DefaultSet()
	set.MaxTurns = 1
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(fixture.Call("book_room", fixture.Lisbon))), fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: fixture.BookRoom(t, fixture.Booked), Policy: &set}, loop.WithObserver(o.callbacks()))
	require.ErrorIs(t, err, policy.ReasonTurnLimit)
	require.Len(t, o.errors, 1)
	assert.Equal(t, "MAX_ITERATIONS_EXCEEDED", o.errors[0].Code.Names().AgentError)
	assert.Zero(t, o.errors[0].Metadata)
}

func TestCorrectionsAreToldToUsersOnlyWhenTheyAreExhausted(t *testing.T) {
	var o told
	bad := looptest.Call(fixture.Call("book_room", `{}`))
	require.NoError(t, run(t, fixture.NewSession(t), o.callbacks(), bad, looptest.Call(fixture.Call("book_room", fixture.Lisbon)), looptest.Say("done")))
	assert.Empty(t, o.errors)
	assert.Len(t, o.retries, 1)
	require.Error(t, run(t, fixture.NewSession(t), o.callbacks(), bad, bad, bad))
	require.Len(t, o.errors, 1)
	assert.Equal(t, fault.ToolValidation, o.errors[0].Code)
	assert.Equal(t, "book_room", o.errors[0].Action)
}
