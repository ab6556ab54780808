package turns_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/turns"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// ends lets a run go on to its answer.
func ends(t *testing.T, run *turns.Run) loop.Result {
	require.NoError(t, run.Next(t.Context(), addTools(t), nil))
	_, err := run.Reply(t.Context(), message.Reply{Text: "Added."})
	require.NoError(t, err)
	result, err := run.End()
	require.NoError(t, err)
	return result
}

// A call whose outcome the runtime keeps to itself has not failed.
func TestACallThatIsForgottenHasNotFailed(t *testing.T) {
	run := asked(t, nil)
	made(t, run, `{"n": 1}`)[0].Forget(t.Context())
	result := ends(t, run)
	assert.Empty(t, result.ToolFailures)
	require.NotEmpty(t, result.Attempts)
	assert.Equal(t, policy.ReasonAccepted, result.Attempts[0].Reason)
}

// A call that began, and of which the runtime says nothing more, may have had an effect. One that never began
// had none.
func TestACallThatIsLeftAfterItsBeginIsInDoubt(t *testing.T) {
	run := asked(t, nil)
	all := made(t, run, `{"n": 1}`, `{"n": 2}`)
	_, refused, err := all[0].Refused()
	require.NoError(t, err)
	require.False(t, refused)
	result := ends(t, run)
	require.Len(t, result.InDoubt, 1)
	assert.Equal(t, "a", result.InDoubt[0].CallID)
	assert.Len(t, result.ToolFailures, 2)
}
