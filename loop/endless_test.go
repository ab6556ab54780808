package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// endless wraps itself, and circle does so among others.
type (
	endless struct{}
	circle  struct{}
)

func (e endless) Error() string  { return "endless" }
func (e endless) Unwrap() error  { return e }
func (e circle) Error() string   { return "circle" }
func (e circle) Unwrap() []error { return []error{io.EOF, e, e} }

// unwritable is a store that fails with an error of its own.
type unwritable struct {
	journal.Store
	err error
}

func (u unwritable) Open(context.Context, string) (journal.Log, error) { return nil, u.err }

// looks does with an error what its reader may do: errors.Is of the standard library never returns from one
// that wraps itself.
func looks(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	assert.NotErrorIs(t, err, io.ErrUnexpectedEOF)
	_, _ = errors.AsType[*fault.ProviderError](err)
	_ = fault.FailureOf(err)
	_ = fmt.Sprintf("%v %+v", err, err)
}

// Whatever returns an error that wraps itself, the run or action ends, and whoever looks into its error is
// answered.
func TestAnErrorThatWrapsItselfHangsNothing(t *testing.T) {
	debug := &observe.Callbacks{OnDebug: func(string, observe.DebugInfo) {}, OnError: func(observe.Trace, observe.ErrorInfo) {}}
	ways := map[string]func(t *testing.T, err error) error{
		"model": func(t *testing.T, err error) error {
			_, ended := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(err)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithObserver(debug), loop.WithClock(looptest.NewClock()))
			return ended
		},
		"model under a limit": func(t *testing.T, err error) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, ended := fixture.Run(ctx, looptest.NewModel(looptest.Fail(err)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			return ended
		},
		"tool": func(t *testing.T, err error) error {
			return toolError(t, func() error { return err })
		},
		"tool, wrapped": func(t *testing.T, err error) error {
			return toolError(t, func() error { return fmt.Errorf("pay: %w", errors.Join(err, io.ErrNoProgress)) })
		},
		"tool that asks again": func(t *testing.T, err error) error {
			return toolError(t, func() error { return tool.TryLater(err, 0) })
		},
		"tool that panics": func(t *testing.T, err error) error {
			return toolError(t, func() error { panic(err) })
		},
		"reducer": func(t *testing.T, err error) error {
			cart := session.StateSlice[string]("cart")
			s, made := session.New(session.Config{ID: "order-42", Slices: []session.Declared{cart}, Reducers: []session.Reducer{
				session.On(cart, session.EventToolResult, "limit", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
					return reducer.Change[string]{}, err
				}),
			}})
			require.NoError(t, made)
			event, made := session.NewEvent(session.EventToolResult, session.ToolResultEvent{})
			require.NoError(t, made)
			return s.Dispatch(event)
		},
		"do": func(t *testing.T, err error) error {
			_, ended := loop.Do(t.Context(), newSession(t), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 0, err }, loop.WithClock(looptest.NewClock()))
			return ended
		},
		"do, alone": func(_ *testing.T, err error) error {
			_, ended := loop.Do(context.Background(), nil, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 0, err }, loop.WithClock(looptest.NewClock()))
			return ended
		},
		"attempts": func(t *testing.T, err error) error {
			tries := loop.Attempts(t.Context(), newSession(t), loop.ToolCall("pay"), loop.WithClock(looptest.NewClock()))
			for a := range tries.All() {
				a.End(err)
			}
			return tries.Err()
		},
		"planner": func(t *testing.T, err error) error {
			plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { return machine.Plan{}, err })
			_, ended := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(errNoKey)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithPlanner(plan), loop.WithClock(looptest.NewClock()))
			return ended
		},
		"cause of a context": func(t *testing.T, err error) error {
			ctx, cancel := context.WithCancelCause(t.Context())
			m := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				cancel(err)
				<-ctx.Done()
				return message.Reply{}, context.Cause(ctx)
			})
			_, ended := fixture.Run(ctx, m, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithClock(looptest.NewClock()))
			return ended
		},
		"store": func(t *testing.T, err error) error {
			_, opened := journal.Open(t.Context(), unwritable{err: err}, "order-42", journal.Settings{})
			return opened
		},
	}
	for way, run := range ways {
		t.Run(way, func(t *testing.T) {
			looks(t, run(t, endless{}))
			looks(t, run(t, circle{}))
		})
	}
	for _, err := range []error{endless{}, circle{}, fmt.Errorf("on: %w", circle{})} {
		_ = fault.FailureOf(err)
		_ = fault.TypedFailure(err)
		_ = fault.ClassifyError(err)
		_ = fault.TryRules{}.Failure(err)
		_ = ratelimit.OfError(err)
		assert.True(t, result.FromError[string](err).IsError())
		e := agent.Envelope(loop.Result{}, err)
		assert.True(t, e.IsError())
		debug.Debug(t.Context(), "x", err)
	}
}

// toolError is the error that a run reports of a tool.
func toolError(t *testing.T, says func() error) error {
	pay := tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", says() })
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	m := looptest.NewModel(looptest.Call(call("pay", "{}")), looptest.Say("Done."))
	r, err := fixture.Run(t.Context(), m, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.Len(t, r.ToolFailures, 1)
	return r.ToolFailures[0].Err
}

// A function that returns the nil of its own error type as an error has returned an error. Whatever does so,
// the error at the end names the type, and nothing panics.
func TestANilPointerThatIsAnErrorIsNamed(t *testing.T) {
	for _, err := range []error{(*fault.ToolValidationError)(nil), (*fault.ProviderError)(nil), (*fault.ReducerError)(nil),
		(*loop.RetryExhaustedError)(nil), (*os.PathError)(nil)} {
		want := fmt.Sprintf("the error is a nil %T: return nil itself, which has no type, if there is none", err)
		name := fmt.Sprintf("%T", err)
		for way, s := range map[string]*session.Session{"do": newSession(t), "do, alone": nil} {
			calls := 0
			_, ended := loop.Do(t.Context(), s, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { calls++; return 0, err })
			require.ErrorContains(t, ended, want, name+" "+way)
			assert.Equal(t, 1, calls)
		}
		_, ended := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(err)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{})
		require.ErrorContains(t, ended, want, name+" model")
		require.EqualError(t, toolError(t, func() error { return err }), want, name)
		plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { return machine.Plan{}, err })
		_, ended = fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(errNoKey)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithPlanner(plan))
		require.ErrorContains(t, ended, want, name+" planner")
		_ = fault.ClassifyError(err)
		_ = ratelimit.OfError(err)
		assert.True(t, agent.Envelope(loop.Result{}, err).IsError(), name)
		assert.True(t, result.FromError[string](err).IsError(), name)
	}
}
