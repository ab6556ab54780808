package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

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

// Two layers of retries multiply; here there is one. The model gets exactly as many calls as the policy
// allows.
func TestADoubleRetryIsImpossible(t *testing.T) {
	for _, attempts := range []int{1, 2, 4, 7} {
		set := policy.DefaultSet()
		set.Transport.MaxAttempts = &attempts
		calls := 0
		model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			calls++
			return message.Reply{}, refused{Class: fault.Overloaded}
		})
		_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: &set}, loop.WithClock(looptest.NewClock()))
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		assert.Equal(t, attempts, calls)

		tries := 0
		a := loop.FinalAnswer()
		a.Transport.MaxAttempts = attempts
		_, err = loop.Do(t.Context(), nil, a, func(context.Context, loop.Attempt) (int, error) {
			tries++
			return 0, refused{Class: fault.Overloaded}
		}, loop.WithClock(looptest.NewClock()))
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		assert.Equal(t, attempts, tries)
	}
}

func TestAWaitThatOutlastsTheDeadlineStopsAtOnceWithCauseAndReason(t *testing.T) {
	clock := looptest.NewClock()
	cause := fault.Typed(fault.ProviderError{Class: fault.RateLimit, Provider: "openai", RetryAfter: 10 * time.Second})
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(cause)), newSession(t), loop.Input{Prompt: "Hello.", Deadline: looptest.Epoch.Add(5 * time.Second)}, loop.Config{}, loop.WithClock(clock))
	assert.Equal(t, looptest.Epoch, clock.Now().UTC(), "it stops at 0 s")
	require.ErrorIs(t, err, policy.ReasonDeadline)
	var limited *fault.RateLimitError
	require.ErrorAs(t, err, &limited)
	require.EqualError(t, err, "answer: attempt 1 of 4 on the transport plane: the deadline leaves no time (wait 10s, room 5s): rate_limit from openai")
}

func TestExhaustionNamesItsPlane(t *testing.T) {
	bad := looptest.Call(call("book_room", `{}`))
	busy := looptest.Fail(refused{Class: fault.Overloaded})
	for _, tt := range []struct {
		name  string
		turns []looptest.Turn
		want  fault.Plane
		class fault.Class
	}{
		{"corrections_with_faults_between", []looptest.Turn{bad, busy, busy, bad, busy, bad}, fault.Correction, fault.ToolValidation},
		{"faults_with_corrections_before", []looptest.Turn{bad, bad, busy, busy, busy, busy}, fault.Transport, fault.Overloaded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := fixture.Run(t.Context(), looptest.NewModel(tt.turns...), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()))
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, tt.want, exhausted.Plane)
			assert.Equal(t, tt.class, exhausted.Failure.Class)
			require.ErrorContains(t, err, "on the "+string(tt.want)+" plane")
		})
	}
}

// A stream that breaks off is a transport fault. Nothing of it is run.
func TestABrokenStreamIsAFaultOfTransport(t *testing.T) {
	for name, broken := range map[string]error{
		"unexpected_end": io.ErrUnexpectedEOF,
		"reset":          errors.New("read tcp: connection reset by peer"),
		"error_in_stream": fault.AsError(fault.Response{Provider: "anthropic", Status: 200,
			Body: []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")}),
	} {
		t.Run(name, func(t *testing.T) {
			partial := looptest.Turn{Reply: message.Reply{Text: "Booking", Calls: []message.Call{call("book_room", lisbon)}}, Err: broken}
			model := looptest.NewModel(partial, looptest.Say("done"))
			r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, unbookable(t))}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, fault.Transport, r.Attempts[0].Plane)
			assert.Equal(t, 1, len(model.Requests()[1].Messages), "nothing of it is in the prompt")
		})
	}
}

func TestWhatAProviderSaysOfTheModelsWordsIsACorrection(t *testing.T) {
	for code, class := range map[string]fault.Class{"tool_use_failed": fault.ToolValidation, "json_validate_failed": fault.StructuredOutput} {
		t.Run(code, func(t *testing.T) {
			refusal := fault.AsError(fault.Response{
				Provider: "groq", Status: 400,
				Body: []byte(`{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"` + code + `","failed_generation":"<function=book_room>"}}`),
			})
			r, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(refusal), looptest.Say("done")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{})
			require.NoError(t, err)
			assert.Equal(t, fault.Correction, r.Attempts[0].Plane)
			assert.Equal(t, class, r.Attempts[0].Class)
			assert.Equal(t, 2, r.Attempts[1].Attempt)
		})
	}
}

func TestCancelledDeadlineAndTimeoutAreToldApart(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cause error
		class fault.Class
		calls int
	}{
		{"a_providers_timeout", fault.Typed(fault.ProviderError{Class: fault.Timeout, Provider: "openai"}), fault.Timeout, 4},
		{"an_inner_deadline", context.DeadlineExceeded, fault.Timeout, 4},
		{"a_wrapped_inner_deadline", fmt.Errorf("post: %w", context.DeadlineExceeded), fault.Timeout, 4},
		{"an_inner_cancellation", context.Canceled, fault.Cancelled, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := looptest.NewModel(slicesOf(looptest.Fail(tt.cause), 4)...)
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, tt.class, exhausted.Failure.Class)
			assert.Len(t, model.Requests(), tt.calls)
			require.ErrorIs(t, err, tt.cause)

			model = looptest.NewModel(slicesOf(looptest.Fail(tt.cause), 4)...)
			p, ends := pooled(t, loop.PoolConfig{Model: model, Options: []loop.Option{loop.WithClock(looptest.NewClock())}})
			_, err = p.Add(newSession(t), loop.Input{Prompt: "Hello."})
			require.NoError(t, err)
			require.NoError(t, p.Run(t.Context(), 1))
			require.ErrorAs(t, ends()[0].err, &exhausted)
			assert.Equal(t, tt.class, exhausted.Failure.Class)
			assert.Len(t, model.Requests(), tt.calls, "in a pool")
		})
	}
}

// A tool that gives its own request less time than the run has is a tool whose call timed out. It is called
// again if that is harmless.
func TestADeadlineOfAToolsOwnIsATimeout(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  []tool.Option
		calls int
	}{
		{"read_only", []tool.Option{tool.ReadOnly()}, 4},
		{"undeclared", nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			search := tool.New("search", "Search.", func(ctx context.Context, _ struct{}) (string, error) {
				calls++
				own, release := context.WithDeadline(ctx, time.Unix(0, 0))
				defer release()
				return "", fmt.Errorf("search: %w", own.Err())
			}, tt.opts...)
			tools, err := tool.NewSet(search)
			require.NoError(t, err)
			model := looptest.NewModel(looptest.Call(call("search", `{}`)), looptest.Say("Nothing."))
			r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Search."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, tt.calls, calls)
			require.NotEmpty(t, r.ToolFailures)
			assert.Equal(t, fault.Timeout, r.ToolFailures[0].Class)
			require.ErrorIs(t, r.ToolFailures[0].Err, context.DeadlineExceeded)
		})
	}
}

func TestAServersNoIsFinal(t *testing.T) {
	no := fault.AsError(fault.Response{Provider: "openai", Status: 429, Headers: map[string][]string{"X-Should-Retry": {"false"}}})
	model := looptest.NewModel(looptest.Fail(no))
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
	require.ErrorIs(t, err, policy.ReasonNotRetryable)
	assert.Len(t, model.Requests(), 1)
}

// A listed class of the program's own makes an attempt, whoever returned it. Its issues are in the records
// and in the error.
func TestAClassOfYourOwnWorksInRunAsInDo(t *testing.T) {
	issues := []fault.Issue{{Pointer: "/city", Rule: "available", Expected: "a city with a free room", Source: fault.FromTool}}
	soldOut := &fault.ClassError{Class: "sold_out", Issues: issues}
	set := policy.DefaultSet()
	set.Global.RetryableErrors = []fault.Class{"sold_out"}
	run := func(tools *tool.Set, turns ...looptest.Turn) error {
		_, err := fixture.Run(t.Context(), looptest.NewModel(turns...), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: tools, Policy: &set})
		return err
	}
	full := bookRoom(t, func(context.Context, booking) (receipt, error) { return receipt{}, soldOut })
	good := looptest.Call(call("book_room", `{"city":"Lisbon","nights":2,"room":"single"}`))
	for name, do := range map[string]func() error{
		"run_model": func() error { return run(nil, looptest.Fail(soldOut), looptest.Fail(soldOut), looptest.Fail(soldOut)) },
		"run_tool":  func() error { return run(full, good, good, good) },
		"do": func() error {
			a := loop.ToolCall("book_room")
			a.Policy.RetryableErrors = set.Global.RetryableErrors
			_, err := loop.Do(t.Context(), newSession(t), a, func(context.Context, loop.Attempt) (int, error) { return 0, soldOut })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := do()
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			var own *fault.ClassError
			require.ErrorAs(t, err, &own)
			assert.Equal(t, issues, own.Issues)
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Len(t, exhausted.Attempts, 3)
			for _, a := range exhausted.Attempts {
				assert.Equal(t, fault.Class("sold_out"), a.Class)
				assert.Equal(t, issues, a.Issues)
			}
		})
	}
}

// A class of the transport plane is of that plane, whatever error carries it: the model hears nothing, and no
// correction is charged.
func TestAClassErrorIsOfThePlaneOfItsClass(t *testing.T) {
	slow := &fault.ClassError{Class: fault.RateLimit, Cause: errors.New("slow down")}
	model := looptest.NewModel(looptest.Fail(slow), looptest.Say("Hello."))
	r, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.Len(t, r.Attempts, 2)
	assert.Equal(t, fault.Transport, r.Attempts[0].Plane)
	assert.Len(t, model.Requests()[1].Messages, 1)

	_, err = loop.Do(t.Context(), nil, loop.FinalAnswer(), func(_ context.Context, a loop.Attempt) (int, error) {
		if a.Transport == 1 {
			return 0, slow
		}
		return a.Number, nil
	}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)

	runs := 0
	for name, declared := range map[string][]tool.Option{"read_only": {tool.ReadOnly()}, "nothing": nil} {
		runs = 0
		book := func(context.Context, booking) (receipt, error) {
			if runs++; runs == 1 {
				return receipt{}, slow
			}
			return receipt{}, nil
		}
		tools, err := tool.NewSet(tool.New("book_room", "Books a room.", book, declared...))
		require.NoError(t, err)
		good := looptest.Call(call("book_room", `{"city":"Lisbon","nights":2,"room":"single"}`))
		_, err = fixture.Run(t.Context(), looptest.NewModel(good, looptest.Say("Done.")), newSession(t), loop.Input{Prompt: "Book."},
			loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
		require.NoError(t, err)
		assert.Equal(t, map[string]int{"read_only": 2, "nothing": 1}[name], runs, name)
	}
}
