package temporal

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
)

// A planner is asked of an action as often, and about the same, as in process.
func TestThePlannerIsAskedOfAnActionAsInProcess(t *testing.T) {
	bad := &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/a", Rule: "required"}}}
	run := func(drive func(planner.Planner, func() error) error) (asked []string, tries int, ended string) {
		plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
			if asked = append(asked, fmt.Sprint(q.Action, ": ", q.Cause)); len(asked) > 1 {
				return machine.Plan{Do: machine.Abort}, nil
			}
			return machine.Plan{Do: machine.Fallback}, nil
		})
		ended = errText(drive(plan, func() error { tries++; return bad }))
		return asked, tries, ended
	}
	wantAsked, wantTries, want := run(func(p planner.Planner, try func() error) error {
		_, err := loop.Do(t.Context(), nil, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 0, try() },
			loop.WithClock(looptest.NewClock()), loop.WithPlanner(p))
		return err
	})
	asked, tries, got := run(func(p planner.Planner, try func() error) error {
		b := newBench(t, Worker{Planner: p, Try: func(context.Context, Try) (message.Usage, error) { return message.Usage{}, try() }}, loop.Config{})
		m, err := loop.ToolCall("pay").Machine()
		require.NoError(t, err)
		b.order = order{Session: "order-42", Config: m}
		_, err = b.run()
		return err
	})
	assert.Len(t, asked, 2)
	assert.Equal(t, wantAsked, asked)
	assert.Equal(t, wantTries, tries)
	assert.Equal(t, want, got)
}
