package loop_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// The model said nothing, so the request is made again as after a cut stream, and no correction is charged.
func TestAResponseThatCannotBeReadIsAskedForAgain(t *testing.T) {
	broken := looptest.Fail(fault.AsError(fault.Response{Provider: "openai", Status: 200, Code: string(fault.InvalidResponse)}))
	r, err := fixture.Run(t.Context(), looptest.NewModel(broken, broken, looptest.Say("In Lisbon.")), nil, loop.Input{Prompt: "Where?"}, loop.Config{}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	assert.Equal(t, "In Lisbon.", r.Text)
	require.Len(t, r.Attempts, 3)
	assert.Equal(t, fault.Transport, r.Attempts[0].Plane)
	_, err = fixture.Run(t.Context(), looptest.NewModel(broken, broken, broken, broken), nil, loop.Input{Prompt: "Where?"}, loop.Config{}, loop.WithClock(looptest.NewClock()))
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
}
