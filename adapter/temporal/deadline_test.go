package temporal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// A run ends at its deadline even if its model still thinks, as it does in process.
func TestTheDeadlineOfAnInputEndsARun(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 1, 0, 0, time.UTC)
	b := newBenchOf(t, Worker{Agent: "a", Model: looptest.NewModel()}, loop.Input{Prompt: "Hello.", Deadline: at}, loop.Config{})
	b.SetStartTime(at.Add(-time.Minute))
	b.OnActivity(b.agent.named("model"), mock.Anything, mock.Anything).After(time.Hour).Return(wire[modelResult]{}, nil)
	_, err := b.run()
	require.ErrorIs(t, err, policy.ReasonDeadline)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.True(t, at.Equal(b.Now()), b.Now())
}

// A run that begins when its time is up asks no model, and is not charged for a call.
func TestARunWithoutTimeAsksNobody(t *testing.T) {
	set := policy.DefaultSet()
	set.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 2_000_000}}
	cfg := loop.Config{Policy: &set, Models: map[string]machine.ModelInfo{"": {Name: "m"}}}
	asked := 0
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		asked++
		return message.Reply{Text: "Late."}, nil
	})
	in := loop.Input{Prompt: "Hello.", Deadline: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
	r, err := newBenchOf(t, Worker{Model: model}, in, cfg).run()
	require.ErrorIs(t, err, policy.ReasonDeadline)
	assert.Zero(t, asked)
	assert.Zero(t, r.Cost)
	assert.Zero(t, r.Estimated)
}
