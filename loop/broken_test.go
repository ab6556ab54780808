package loop_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A run that cannot continue, because a function of the caller failed, is recorded as that: nobody cancelled
// it.
func TestARunThatCannotContinueIsNotRecordedAsCancelled(t *testing.T) {
	noWords := errors.New("the template has no words")
	for name, c := range map[string]struct {
		opt  loop.Option
		want string
	}{
		"prompt": {loop.WithPrompt(func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return "", nil, noWords
		}), "making the prompt: the template has no words"},
		"adjust": {loop.WithAdjust(func(session.State) (policy.Layer, bool) {
			return policy.Layer{MaxAttempts: new(0)}, true
		}), `adjusting the policy: max_attempts: 0 is too few; write 1 or more, or the word unlimited`},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "s", journal.Settings{})
			require.NoError(t, err)
			s := newSessionNamed(t, "s")
			_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Done.")), fixture.In(s, j), loop.Input{Prompt: "Hello.", RequestID: "r"}, loop.Config{}, c.opt)
			require.EqualError(t, err, c.want)
			require.NotErrorIs(t, err, policy.ReasonCancelled)
			past, err := j.Past()
			require.NoError(t, err)
			assert.Equal(t, policy.ReasonBroken, past.State.Outcome.Reason)
			made := s.State().Attempts()
			require.Len(t, made, 1)
			assert.Equal(t, policy.ReasonBroken, made[0].Reason)
			assert.False(t, made[0].Passed())

			_, err = fixture.Run(t.Context(), looptest.NewModel(), fixture.In(newSessionNamed(t, "s"), j), loop.Input{Prompt: "Hello.", RequestID: "r"}, loop.Config{}, c.opt)
			require.ErrorIs(t, err, policy.ReasonBroken)
			require.NotErrorIs(t, err, policy.ReasonCancelled)
			require.ErrorContains(t, err, "run stopped: the run could not continue: "+c.want)
		})
	}
}

// The result of a run that cannot continue says what was done until then, as its recorded end does: a call in
// doubt is not forgotten.
func TestARunThatCannotContinueSaysWhatItDid(t *testing.T) {
	j, err := journal.Open(t.Context(), journal.Dir(t.TempDir()), "s", journal.Settings{})
	require.NoError(t, err)
	defer j.Close()
	paid := false
	tools := payTools(t, func(context.Context, invoice) (string, error) { paid = true; return "", errors.New("cut off") })
	invalid := loop.WithAdjust(func(session.State) (policy.Layer, bool) { return policy.Layer{MaxAttempts: new(0)}, paid })
	model := looptest.NewModel(used(looptest.Call(call("pay", `{"amount":1}`)), 100, 20))
	in := loop.Input{Prompt: "Pay.", RequestID: "r"}
	r, err := fixture.Run(t.Context(), model, fixture.In(newSessionNamed(t, "s"), j), in, loop.Config{Tools: tools}, invalid)
	require.ErrorContains(t, err, "adjusting the policy: ")
	assert.Len(t, r.InDoubt, 1)
	assert.EqualValues(t, 120, r.Usage.Total())
	assert.NotEmpty(t, r.Transcript)

	again, err := fixture.Run(t.Context(), model, fixture.In(newSessionNamed(t, "s"), j), in, loop.Config{Tools: tools}, invalid)
	require.ErrorIs(t, err, policy.ReasonBroken)
	assert.Equal(t, again.InDoubt, r.InDoubt)
	assert.Equal(t, again.Totals, r.Totals)
}
