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
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// again is a planner that has an exhausted action tried anew, so often, and remembers what it was asked.
type again struct {
	left  int
	asked []string
}

func (p *again) Plan(_ context.Context, q planner.Question) (machine.Plan, error) {
	p.asked = append(p.asked, fmt.Sprint(q.Action, ": ", q.Cause))
	if p.left--; p.left < 0 {
		return machine.Plan{Do: machine.Abort}, nil
	}
	return machine.Plan{Do: machine.Fallback}, nil
}

// A planner decides what follows the exhaustion of an action, whichever driver makes it, as it does for a
// run.
func TestThePlannerIsAskedOfAnAction(t *testing.T) {
	bad := &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/a", Rule: "required"}}}
	type drive func(t *testing.T, a *loop.Action, try func() error, opts ...loop.Option) error
	for name, do := range map[string]drive{
		"do": func(t *testing.T, a *loop.Action, try func() error, opts ...loop.Option) error {
			_, err := loop.Do(t.Context(), nil, a, func(context.Context, loop.Attempt) (int, error) { return 1, try() }, opts...)
			return err
		},
		"do_in_a_session": func(t *testing.T, a *loop.Action, try func() error, opts ...loop.Option) error {
			_, err := loop.Do(t.Context(), newSession(t), a, func(context.Context, loop.Attempt) (int, error) { return 1, try() }, opts...)
			return err
		},
		"attempts": func(t *testing.T, a *loop.Action, try func() error, opts ...loop.Option) error {
			tries := loop.Attempts(t.Context(), newSession(t), a, opts...)
			for at := range tries.All() {
				at.End(try())
			}
			return tries.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, plan := 0, &again{left: 1}
			options := []loop.Option{loop.WithClock(looptest.NewClock()), loop.WithPlanner(plan)}
			require.NoError(t, do(t, loop.ToolCall("pay"), func() error {
				if made++; made <= 3 {
					return bad
				}
				return nil
			}, options...))
			assert.Equal(t, 4, made, "three attempts, and one more because the planner says so")
			assert.Equal(t, []string{"pay: " + bad.Error()}, plan.asked)

			made, plan.left, plan.asked = 0, 1, nil
			err := do(t, loop.ToolCall("pay"), func() error { made++; return bad }, options...)
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			require.ErrorIs(t, err, bad)
			assert.Equal(t, 6, made)
			assert.Len(t, plan.asked, 2)
		})
	}
	r, err := fixture.ActionRunner(newSession(t), loop.ToolCall("pay"), nil, loop.WithPlanner(&again{}))
	require.NoError(t, err)
	defer r.Close()
	assert.True(t, r.State().Config.Planner)
}

// An action that was killed before its planner answered asks it again, with the same question, and a process
// without a planner is told so.
func TestAnActionResumedAtItsPlannerAsksIt(t *testing.T) {
	bad := &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/a", Rule: "required"}}}
	store := journal.Dir(t.TempDir())
	opened := func() *journal.Journal {
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{Sync: journal.SyncNever})
		require.NoError(t, err)
		return j
	}
	do := func(j *journal.Journal, try func() error, opts ...loop.Option) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
			require.NoError(t, j.Close())
		}()
		a, clock := loop.ToolCall("pay"), loop.WithClock(looptest.NewClock())
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		_, err = loop.Do(t.Context(), fixture.In(s, j), a, func(context.Context, loop.Attempt) (int, error) { return 1, try() }, append(opts, clock)...)
		return err
	}
	var first []string
	dies := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		first = append(first, fmt.Sprint(q.Action, ": ", q.Cause))
		panic("the process died")
	})
	require.ErrorContains(t, do(opened(), func() error { return bad }, loop.WithPlanner(dies)), "the process died")
	require.ErrorContains(t, do(opened(), func() error { return errors.New("no try is due") }), "has a planner: set it with WithPlanner")
	plan, made := &again{left: 1}, 0
	require.NoError(t, do(opened(), func() error { made++; return nil }, loop.WithPlanner(plan)))
	assert.Equal(t, first, plan.asked)
	assert.Equal(t, 1, made)
}
