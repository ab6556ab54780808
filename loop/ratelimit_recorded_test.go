package loop_test

import (
	"bytes"
	"context"
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
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

// The rate limit that decides is in the record: a run that is killed before the plan and resumed asks the
// planner the same, and waits as one that was not killed.
func TestARateLimitIsInTheRecord(t *testing.T) {
	headers := map[string][]string{"X-Ratelimit-Limit-Requests-Hour": {"100"}, "X-Ratelimit-Remaining-Requests-Hour": {"0"},
		"X-Ratelimit-Reset-Requests-Hour": {"1800"}}
	limited := &ratelimit.LimitedError{Err: &fault.ProviderError{Class: fault.RateLimit, Provider: "cerebras"},
		State: ratelimit.Parse(headers, looptest.Epoch)}
	require.True(t, limited.State.Limited)
	var asked []planner.Question
	ladder := planner.PlannerFunc(func(ctx context.Context, q planner.Question) (machine.Plan, error) {
		asked = append(asked, q)
		return planner.Ladder{Models: []string{"backup"}}.Plan(ctx, q)
	})
	cfg := loop.Config{Consult: []fault.Class{fault.RateLimit}}
	options := func() []loop.Option {
		backup := map[string]loop.Model{"backup": looptest.NewModel(looptest.Say("From the backup."))}
		return []loop.Option{loop.WithPlanner(ladder), loop.WithModels(backup), loop.WithClock(looptest.NewClock())}
	}
	store := &looptest.Store{}
	j, err := journal.Open(t.Context(), store, "order-42", plainSettings)
	require.NoError(t, err)
	whole, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(limited), looptest.Say("Waited.")), fixture.In(newSession(t), j), loop.Input{Prompt: "Go."}, cfg, options()...)
	looptest.AssertAnswer(t, whole, err, "Waited.")
	require.NoError(t, j.Close())

	text := store.Text("order-42")
	plan := bytes.Index(text, []byte(`"kind":"planned"`))
	cut := text[:bytes.LastIndexByte(text[:plan], '\n')+1]
	killed := &looptest.Store{}
	log, err := killed.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, cut, true))
	require.NoError(t, log.Close())
	j, err = journal.Open(t.Context(), killed, "order-42", plainSettings)
	require.NoError(t, err)
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	resumed, err := fixture.Resume(t.Context(), looptest.NewModel(looptest.Say("Waited.")), fixture.In(s, j), cfg, options()...)
	looptest.AssertAnswer(t, resumed, err, "Waited.")
	assert.Equal(t, whole.Attempts, resumed.Attempts)
	require.Len(t, asked, 2)
	assert.Equal(t, asked[0].RateLimit, asked[1].RateLimit)
	assert.True(t, asked[1].RateLimit.Limited)
}
