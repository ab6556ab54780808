package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// within are the errors of work within a try that gave up.
func within() map[string]func(context.Context) error {
	do := func(err error) func(context.Context) error {
		return func(ctx context.Context) error {
			_, failed := loop.Do(ctx, nil, loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) { return 0, err },
				loop.WithClock(looptest.NewClock()))
			return failed
		}
	}
	return map[string]func(context.Context) error{
		"an answer": func(ctx context.Context) error {
			no := looptest.Say("no")
			_, err := fixture.Generate[receipt](ctx, looptest.NewModel(no, no, no), nil, loop.Input{Prompt: "Write it."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			return err
		},
		"a model": func(ctx context.Context) error {
			down := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				return message.Reply{}, &fault.TransportError{Class: fault.Timeout}
			})
			_, err := fixture.Run(ctx, down, nil, loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			return err
		},
		"an action's arguments": do(&fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Rule: "known", Expected: "a city"}}}),
		"an action's answer":    do(&fault.StructuredOutputError{Issues: []fault.Issue{{Rule: "known", Expected: "a city"}}}),
		"an action's reducer":   do(&fault.ReducerError{Reducer: "sum", Message: "no"}),
		"an action's request":   do(&fault.TransportError{Class: fault.Unavailable}),
		"another tool": func(ctx context.Context) error {
			return tool.New("till", "Open it.", func(context.Context, struct{}) (string, error) {
				return "", tool.TryLater(errors.New("the till is closed"), 0)
			}).Invoke(ctx, []byte(`{}`)).Err
		},
	}
}

// What a run or an action within a try gave up on has had its attempts. The try is not made again for it,
// since it may have paid, unless the caller's classifier says so.
func TestATryIsNotMadeAgainForWhatGaveUpWithinIt(t *testing.T) {
	for how, made := range waysToTry(t) {
		for name, inner := range within() {
			for _, action := range []string{"", "pay"} {
				t.Run(how+"/"+name+"/"+action, func(t *testing.T) {
					tries := 0
					try := func(ctx context.Context) error {
						tries++
						err := inner(ctx)
						require.Error(t, err)
						return fmt.Errorf("paying: %w", err)
					}
					a := loop.ToolCall(action)
					a.Transport.ClassifyWords = true
					err := made(a, try)
					var e *loop.RetryExhaustedError
					require.ErrorAs(t, err, &e)
					assert.Equal(t, 1, tries)
					assert.Equal(t, fault.Unknown, e.Failure.Class)
					assert.Empty(t, e.Failure.Issues)
					assert.ErrorContains(t, err, "what gave up within the try is not tried again")

					tries = 0
					again := loop.WithClassifier(func(error) fault.Verdict { return fault.Verdict{Class: fault.Unavailable, Retryable: true} })
					require.Error(t, made(loop.ToolCall(action), try, again))
					assert.Equal(t, loop.ToolCall("").Transport.MaxAttempts, tries)
				})
			}
		}
	}
}
