package planner_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// windows is a rate limit as an adapter returns it.
func windows(headers map[string][]string) error {
	return fmt.Errorf("asking the model: %w", &ratelimit.LimitedError{
		Err:   fault.Typed(fault.ProviderError{Class: fault.RateLimit, Provider: "cerebras", StatusCode: 429}),
		State: ratelimit.Parse(headers, looptest.Epoch),
	})
}

func day() error {
	return windows(map[string][]string{"X-Ratelimit-Remaining-Tokens-Day": {"0"}, "X-Ratelimit-Reset-Tokens-Day": {"43200"}})
}

func TestSwitchProviderLongWaitShortWait(t *testing.T) {
	header := func(names ...string) error {
		h := map[string][]string{}
		for _, n := range names {
			h["x-ratelimit-remaining-requests-"+n] = []string{"0"}
		}
		return windows(h)
	}
	for _, tt := range []struct {
		name   string
		cause  error
		model  string
		waited time.Duration
	}{
		{"switch_provider", header("minute", "day"), "backup", 0},
		{"long_wait", header("minute", "hour"), "first", time.Hour},
		{"short_wait", header("minute"), "first", time.Minute},
		{"follow_policy", fixture.Refused{Class: fault.RateLimit, After: 3 * time.Second}, "first", 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			exact := policy.DefaultSet()
			exact.Transport.Backoff = new(backoff.Exponential(time.Second, 2*backoff.One))
			exact.Transport.Backoff.Jitter.Kind = backoff.NoJitter
			first, backup := looptest.NewModel(looptest.Fail(tt.cause), looptest.Say("first")), looptest.NewModel(looptest.Say("backup"))
			r, err := fixture.Run(t.Context(), first, fixture.NewSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: &exact, Consult: []fault.Class{fault.RateLimit}}, loop.WithPlanner(planner.Ladder{Models: []string{"backup"}}), loop.WithModels(map[string]loop.Model{"backup": backup}), loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			assert.Equal(t, tt.model, r.Text)
			assert.Equal(t, tt.waited, r.Attempts[0].Delay)
		})
	}
}

// A window of five hours, and one that says its length beside a name of its own, are long ones, too.
func TestAWindowIsAsLongAsItSays(t *testing.T) {
	hours := ratelimit.Span{Duration: 5 * time.Hour, Known: true}
	for _, w := range []ratelimit.Window{
		{Name: "requests_per_5h"}, {Name: "burst", Period: hours}, {Name: "requests_per_hour"},
	} {
		var q planner.Question
		q.Plane, q.MaxAttempts, w.Remaining = fault.Transport, 4, ratelimit.Of(0)
		q.RateLimit.Windows = []ratelimit.Window{w}
		plan, err := planner.Ladder{Models: []string{"backup"}}.Plan(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, "long_wait "+w.Name, plan.Note)
	}
}

func TestALadderThatEndsNamesTheLastCause(t *testing.T) {
	last := errors.New("no such luck")
	backup := looptest.NewModel(looptest.Fail(fmt.Errorf("%w: %w", last, fixture.Refused{Class: fault.Auth})))
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(day())), fixture.NewSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Consult: []fault.Class{fault.RateLimit}}, loop.WithPlanner(planner.Ladder{Models: []string{"backup"}}), loop.WithModels(map[string]loop.Model{"backup": backup}))
	require.ErrorIs(t, err, last)
	require.ErrorIs(t, err, policy.ReasonNotRetryable)
	var limited *fault.RateLimitError
	assert.NotErrorAs(t, err, &limited)
}

func TestLaddersAreChecked(t *testing.T) {
	require.NoError(t, planner.Ladder{}.Validate())
	l := planner.Ladder{Models: []string{"a", "", "a"}}
	l.Ask = -time.Minute
	err := l.Validate()
	require.EqualError(t, err, "models[1]: a model needs a name; use its name in WithModels\n"+
		"models[2]: \"a\" appears twice; the ladder would never get past it\n"+
		"ask: -1m0s is no time; write 0 or more")
	_, planned := l.Plan(t.Context(), planner.Question{})
	require.ErrorContains(t, planned, "ladder: models[1]")
}

func TestALadderDoesNotWaitForAToolForEver(t *testing.T) {
	l := planner.Ladder{Models: []string{"backup"}}
	q := planner.Question{Question: machine.Question{Plane: fault.Transport, Tool: "pay",
		Failure: fault.Failure{Class: fault.Quota}}}
	q.Attempt, q.MaxAttempts = 4, 4
	q.RateLimit.Windows = []ratelimit.Window{{Name: "requests_per_minute", Remaining: ratelimit.Of(0)}}
	planned := func() machine.Plan {
		plan, err := l.Plan(t.Context(), q)
		require.NoError(t, err)
		return plan
	}
	plan := planned()
	assert.Equal(t, "give_up requests_per_minute", plan.Note)
	assert.Equal(t, machine.Abort, plan.Do)
	q.MaxAttempts = policy.Unlimited
	assert.Equal(t, "short_wait requests_per_minute", planned().Note)
	q.Deadline, q.Tool = q.At.Add(30*time.Second), ""
	plan = planned()
	assert.Equal(t, "switch_provider requests_per_minute", plan.Note, "a minute does not fit")
	assert.Equal(t, "went on with model backup: quota, requests_per_minute used up", plan.Warning)
}
