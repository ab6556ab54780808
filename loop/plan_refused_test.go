package loop_test

import (
	"context"
	"testing"
	"time"

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

// A plan that cannot be carried out ends a run as an error of its planner does, not as cancelled, and is
// refused in the same words whoever makes the run.
func TestAnInvalidPlanIsAnErrorOfThePlanner(t *testing.T) {
	for name, tt := range map[string]struct {
		plan   machine.Plan
		action bool
		want   string
	}{
		"no_kind":          {machine.Plan{}, false, `the plan's do: "" must be follow, abort, fallback, degrade or ask`},
		"no_such_kind":     {machine.Plan{Do: "dance"}, false, `the plan's do: "dance" must be follow, abort, fallback, degrade or ask`},
		"negative_delay":   {machine.Plan{Do: machine.Fallback, Delay: -time.Second}, false, "the plan's delay: -1s must be 0 or more"},
		"no_such_model":    {machine.Plan{Do: machine.Fallback, Model: "big"}, false, `the plan's model: "big" is not one of the run's models ["small"]`},
		"invalid_policy":   {machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{MaxAttempts: new(0)}}, false, "the plan's policy: max_attempts: 0 is too few"},
		"policy_of_model":  {machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{PerAttempt: []policy.Settings{{Model: "big"}}}}, false, `the plan's policy: adjusted.attempts[0].model: there is no model "big"; use one of small`},
		"kind_of_action":   {machine.Plan{Do: "dance"}, true, `the plan's do: "dance" must be follow, abort, fallback, degrade or ask`},
		"degraded_action":  {machine.Plan{Do: machine.Degrade}, true, "the plan's do: a single action has no reply to degrade to: use follow, abort or fallback"},
		"model_of_action":  {machine.Plan{Do: machine.Fallback, Model: "small"}, true, `the plan's model: a single action calls no model of the run: leave "small" out`},
		"prompt_of_action": {machine.Plan{Do: machine.Fallback, Prompt: "Once more."}, true, "the plan's prompt: a single action has no prompt: leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			j := recorded(t, journal.Dir(t.TempDir()))
			defer j.Close()
			small := map[string]loop.Model{"small": looptest.NewModel()}
			plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { return tt.plan, nil })
			opts := []loop.Option{loop.WithPlanner(plan), loop.WithModels(small), loop.WithClock(looptest.NewClock())}
			refused := map[string]func() error{
				"run": func() error {
					return second(fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(errNoKey)), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, loop.Config{}, opts...))
				},
				"pool": func() error { return inOnePool(t, looptest.NewModel(looptest.Fail(errNoKey)), opts) },
			}
			if tt.action {
				refused = map[string]func() error{"do": func() error {
					return second(loop.Do(t.Context(), fixture.In(nil, j), loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) { return 0, errNoKey }, opts...))
				}}
			}
			for driver, drive := range refused {
				err := drive()
				var e *loop.RetryExhaustedError
				require.ErrorAs(t, err, &e, driver)
				assert.Contains(t, err.Error(), ": planner: "+tt.want, driver)
				assert.Equal(t, policy.ReasonNotRetryable, e.Reason, driver)
				assert.Equal(t, fault.Auth, e.Failure.Class, driver)
				assert.NotErrorIs(t, err, policy.ReasonCancelled, driver)
			}
			if !tt.action {
				_, err := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Config{}, opts...)
				assert.ErrorContains(t, err, ": planner: "+tt.want)
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

// inOnePool makes one run in a pool.
func inOnePool(t *testing.T, m loop.Model, opts []loop.Option) (err error) {
	p, e := loop.NewPool(loop.PoolConfig{Model: m, Options: opts, Done: func(_ *session.Session, _ loop.Result, ended error) { err = ended }})
	require.NoError(t, e)
	_, e = p.Add(newSession(t), loop.Input{Prompt: "Go."})
	require.NoError(t, e)
	require.NoError(t, p.Run(t.Context(), 1))
	return err
}
