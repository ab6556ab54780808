package temporal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
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
