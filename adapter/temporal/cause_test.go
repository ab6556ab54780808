package temporal

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// The cause of an end is the failure that used the attempts up, and not what another call of the reply met
// afterwards. The planner is asked with the same cause.
func TestTheCauseIsThatOfTheCallThatGaveUp(t *testing.T) {
	type none struct{}
	tools, err := tool.NewSet(
		tool.New("book", "Books.", func(context.Context, none) (string, error) {
			return "", tool.AskAgain(fault.Issue{Pointer: "/day", Expected: "a day"})
		}),
		tool.New("pay", "Pays.", func(context.Context, none) (string, error) { return "", errors.New("boom") }),
	)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.Global.OptOut = new(true)
	both := looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{}`}, message.Call{ID: "c2", Name: "pay", Arguments: "{}"})
	var asked error
	plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		asked = q.Cause
		return machine.Plan{Do: machine.Abort}, nil
	})
	_, err = newBench(t, Worker{Model: looptest.NewModel(both), Tools: tools, Planner: plan}, loop.Config{Policy: &set}).run()
	var e *loop.RetryExhaustedError
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "book", e.Action)
	if e.Cause != nil {
		assert.NotContains(t, e.Cause.Error(), "boom")
	}
	if asked != nil {
		assert.NotContains(t, asked.Error(), "boom")
	}
}

// refusesTheEnd is a session whose reducers refuse a result and the end of the run that follows from it.
func refusesTheEnd() session.Config {
	cart := session.StateSlice[string]("cart")
	return session.Config{Slices: []session.Declared{cart}, Reducers: []session.Reducer{
		session.On(cart, session.EventToolResult, "limit", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
			return reducer.Change[string]{}, errors.New("over budget")
		}),
		session.On(cart, session.EventRunEnded, "report", func(reducer.View[string], session.RunEndedEvent) (reducer.Change[string], error) {
			return reducer.Change[string]{}, errors.New("no report")
		}),
	}}
}
