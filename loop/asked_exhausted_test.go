package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// Where the ladder would give up a person sees what was wrong, and may give the model a hint. The model, which
// was told that no attempt is left, learns that it may try again. One who ends
// the run gives it the error that it would have had.
func TestAPersonSaysWhatFollowsAnExhaustion(t *testing.T) {
	one := policy.DefaultSet()
	one.Answer.MaxAttempts = new(1)
	ladder := planner.NewLadder()
	ladder.Ask = time.Hour
	for verdict, replies := range map[machine.Ruling][]looptest.Turn{
		machine.GoOn:   {looptest.Say("R-1"), looptest.Say(`{"number":"R-1"}`)},
		machine.EndRun: {looptest.Say("R-1")},
	} {
		var asked loop.PersonQuestion
		approver := loop.ApproverFunc(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) {
			asked = q
			r := machine.Response{Verdict: verdict}
			if verdict == machine.GoOn {
				r.Words = "Write it as JSON."
			}
			return r, nil
		})
		model := looptest.NewModel(replies...)
		answer, err := fixture.Generate[receipt](t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Policy: &one},
			loop.WithPlanner(ladder), loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
		assert.Equal(t, machine.AskExhausted, asked.Kind)
		assert.Equal(t, policy.ReasonAttemptsExhausted, asked.Reason)
		assert.NotEmpty(t, asked.Failure.Issues)
		assert.Equal(t, looptest.Epoch.Add(time.Hour), asked.Deadline)
		if verdict == machine.GoOn {
			require.NoError(t, err)
			assert.Equal(t, "R-1", answer.Value.Number)
			told := model.Requests()[1].Messages
			require.Len(t, told, 5)
			assert.Contains(t, told[2].Text, "No attempt is left.")
			assert.Contains(t, told[3].Text, "a person has looked at this since, and lets you go on, with 1 new attempt.")
			assert.Equal(t, "Write it as JSON.", told[4].Text)
			continue
		}
		var bad *fault.StructuredOutputError
		require.ErrorAs(t, err, &bad)
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	}
}

// A message that stops leaves the question open: it is about no call that could be taken back.
func TestAMessageLeavesAnExhaustionToPeople(t *testing.T) {
	one := policy.DefaultSet()
	one.Answer.MaxAttempts = new(1)
	ladder := planner.NewLadder()
	ladder.Ask = time.Hour
	s := newSession(t)
	approver := loop.ApproverFunc(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{}, s.Say(session.Words{Text: "Hurry.", Stop: true})
	})
	clock := looptest.NewClock()
	_, err := fixture.Generate[receipt](t.Context(), looptest.NewModel(looptest.Say("R-1")), s, loop.Input{Prompt: "Book."}, loop.Config{Policy: &one},
		loop.WithPlanner(ladder), loop.WithApprover(approver), loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, looptest.Epoch.Add(time.Hour), clock.Now())
}
