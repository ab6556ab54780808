package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

var errBoom = errors.New("boom")

// twoTools are a tool that works, or asks again if it is given a day, and one that breaks.
func twoTools(t *testing.T) *tool.Set {
	type in struct {
		Day int `json:"day,omitempty"`
	}
	tools, err := tool.NewSet(
		tool.New("book", "Books.", func(_ context.Context, v in) (string, error) {
			if v.Day != 0 {
				return "", tool.AskAgain(fault.Issue{Pointer: "/day", Expected: "no day"})
			}
			return "Booked.", nil
		}),
		tool.New("pay", "Pays.", func(context.Context, in) (string, error) { return "", errBoom }),
	)
	require.NoError(t, err)
	return tools
}

// asker is a planner that remembers its questions.
func asker(asked *[]string, plan machine.Plan) loop.Option {
	return loop.WithPlanner(planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		*asked = append(*asked, fmt.Sprint(q.Action, " ", q.Failure.Class, ": ", q.Cause))
		return plan, nil
	}))
}

// The cause of an end is the failure that used the attempts up, and not what another call of the reply met
// afterwards. The planner is asked with the same cause, and the end in the journal has it, too.
func TestTheCauseIsThatOfTheCallThatGaveUp(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.OptOut = new(true)
	cfg := loop.Config{Tools: twoTools(t), Policy: &set}
	both := looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{"day":7}`}, message.Call{ID: "c2", Name: "pay", Arguments: "{}"})
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	var asked []string
	plan := asker(&asked, machine.Plan{Do: machine.Abort})
	_, ended := fixture.Run(t.Context(), looptest.NewModel(both), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, cfg, plan)
	_, resumed := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), cfg, plan)
	for name, err := range map[string]error{"run": ended, "resumed": resumed} {
		var e *loop.RetryExhaustedError
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, "book", e.Action, name)
		assert.NotErrorIs(t, err, errBoom, name)
		assert.NotContains(t, err.Error(), "boom", name)
	}
	require.Len(t, asked, 1)
	assert.NotContains(t, asked[0], "boom")
}

// The error of a reducer that ends a run is its cause, and not that of a reducer which hears of the end.
func TestTheCauseIsTheReducerThatEndedTheRun(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.OnReducerError = policy.ReducerStopsRun
	cart := session.StateSlice[string]("cart")
	refuse := func(text string) error { return errors.New(text) }
	own := session.Config{ID: "order-42", Slices: []session.Declared{cart}, Reducers: []session.Reducer{
		session.On(cart, session.EventToolResult, "limit", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
			return reducer.Change[string]{}, refuse("over budget")
		}),
		session.On(cart, session.EventRunEnded, "report", func(reducer.View[string], session.RunEndedEvent) (reducer.Change[string], error) {
			return reducer.Change[string]{}, refuse("no report")
		}),
	}}
	made := func() *session.Session {
		s, err := session.New(own)
		require.NoError(t, err)
		return s
	}
	cfg := loop.Config{Tools: twoTools(t), Policy: &set}
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	_, ended := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("book", "{}"))), fixture.In(made(), j), loop.Input{Prompt: "Go."}, cfg)
	_, resumed := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(made(), j), cfg)
	for name, err := range map[string]error{"run": ended, "resumed": resumed} {
		var by *fault.ReducerError
		require.ErrorAs(t, err, &by, name)
		assert.Equal(t, "limit", by.Reducer, name)
		assert.NotContains(t, err.Error(), "no report", name)
	}
}

// A run that has ended keeps the cause of its end, even if its context ends while reducers hear of it.
func TestALateCancellationIsNotTheCause(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cart := session.StateSlice[string]("cart")
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{cart}, Reducers: []session.Reducer{
		session.On(cart, session.EventRunEnded, "report", func(reducer.View[string], session.RunEndedEvent) (reducer.Change[string], error) {
			cancel()
			return reducer.Change[string]{}, nil
		}),
	}})
	require.NoError(t, err)
	_, err = fixture.Run(ctx, looptest.NewModel(looptest.Fail(errNoKey)), s, loop.Input{Prompt: "Go."}, loop.Config{})
	require.ErrorIs(t, err, errNoKey)
	assert.NotErrorIs(t, err, context.Canceled)
}

// A run that is cancelled while its planner is asked was ended by that, whatever the planner was asked about.
func TestACancellationWhileThePlannerIsAskedIsTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
		cancel(errNoBudget)
		return machine.Plan{Do: machine.Abort}, nil
	})
	_, err := fixture.Run(ctx, looptest.NewModel(looptest.Fail(errNoKey)), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{}, loop.WithPlanner(plan))
	require.ErrorIs(t, err, errNoBudget)
	require.ErrorIs(t, err, policy.ReasonCancelled)
	assert.NotErrorIs(t, err, errNoKey)
}

// The turn limit has no cause, even right after a tool broke.
func TestTheTurnLimitHasNoCause(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxTurns = 1
	both := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"}, message.Call{ID: "c2", Name: "book", Arguments: "{}"})
	_, err := fixture.Run(t.Context(), looptest.NewModel(both), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: twoTools(t), Policy: &set})
	require.ErrorIs(t, err, policy.ReasonTurnLimit)
	assert.NotErrorIs(t, err, errBoom)
}

// Of two calls that break, the one that uses a budget up is the cause.
func TestTheCauseIsTheCallThatUsedTheBudgetUp(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	tools, err := tool.NewSet(
		tool.New("search", "Searches.", func(context.Context, struct{}) (string, error) { return "", first }),
		tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", second }),
	)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Budgets.Run = 1
	both := looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: "{}"}, message.Call{ID: "c2", Name: "pay", Arguments: "{}"})
	for name, opts := range map[string][]loop.Option{
		"alone": nil, "planner": {asker(new([]string), machine.Plan{Do: machine.Abort})},
	} {
		_, err = fixture.Run(t.Context(), looptest.NewModel(both), newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: tools, Policy: &set}, opts...)
		require.ErrorIs(t, err, second, name)
		require.ErrorIs(t, err, policy.ReasonRunBudget, name)
		assert.NotErrorIs(t, err, first, name)
	}
}

// A run that is stuck ends because of what was repeated, and not because of what the last call met.
func TestTheCauseOfNoProgressIsTheCycle(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.OptOut, set.Global.Progress = new(true), &policy.Progress{Planner: 2, Stop: 2}
	cfg := loop.Config{Tools: twoTools(t), Policy: &set}
	failed := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"})
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	var asked []string
	plan := asker(&asked, machine.Plan{Do: machine.Abort})
	_, ended := fixture.Run(t.Context(), looptest.NewModel(repeated(12, failed)...), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, cfg, plan)
	_, resumed := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), cfg, plan)
	for name, err := range map[string]error{"run": ended, "resumed": resumed} {
		var e *loop.RetryExhaustedError
		require.ErrorAs(t, err, &e, name)
		assert.Equal(t, policy.ReasonNoProgress, e.Reason, name)
		assert.NotNil(t, e.Cycle, name)
		assert.NotErrorIs(t, err, errBoom, name)
		assert.Equal(t, 1, strings.Count(err.Error(), "2 times"), "it is said once: %v", err)
	}
	require.Len(t, asked, 1)
	assert.NotContains(t, asked[0], "boom")
}

// A call in doubt that a person leaves so uses a budget up after another call of the reply broke, whose error
// is not the cause.
func TestTheCauseIsTheCallThatWasLeftInDoubt(t *testing.T) {
	cut := errors.New("the line was cut")
	tools, err := tool.NewSet(
		tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", cut }),
		tool.New("search", "Searches.", func(context.Context, struct{}) (string, error) { return "", errBoom }),
	)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Budgets.Run = 1
	set.Tools = map[string]policy.Layer{"pay": {Approval: &policy.Approval{InDoubt: policy.DoubtAsk}}}
	both := looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"}, message.Call{ID: "c2", Name: "search", Arguments: "{}"})
	nobody := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.NobodyKnows}, nil
	}
	for name, opts := range map[string][]loop.Option{
		"alone": nil, "planner": {asker(new([]string), machine.Plan{Do: machine.Abort})},
	} {
		var told []error
		observer := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
			if n.Kind == observe.Exhausted || n.Kind == observe.Ended {
				told = append(told, n.Err)
			}
		})
		_, err := fixture.Run(t.Context(), looptest.NewModel(both), newSession(t), loop.Input{Prompt: "Go."},
			loop.Config{Tools: tools, Policy: &set}, append(opts, loop.WithApprover(nobody), loop.WithObserver(observer))...)
		require.ErrorIs(t, err, policy.ReasonRunBudget, name)
		require.ErrorIs(t, err, cut, name)
		assert.NotErrorIs(t, err, errBoom, name)
		require.Len(t, told, 2, name)
		assert.ErrorIs(t, told[0], cut, name)
		assert.ErrorIs(t, told[1], cut, name)
	}
}
