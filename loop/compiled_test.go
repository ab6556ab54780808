package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
)

// What an action was compiled to is remembered: each use is under the policy of the action as it is.
func TestACopyOfAnActionIsHeldToItsOwnPolicy(t *testing.T) {
	three := loop.ToolCall("book_room")
	two := *three
	two.Policy.MaxAttempts = 2
	for range 2 {
		for want, a := range map[int]*loop.Action{3: three, 2: &two} {
			made := 0
			_, err := loop.Do(t.Context(), newSession(t), a, func(context.Context, loop.Attempt) (int, error) {
				made++
				return 0, nights("type")
			})
			require.ErrorIs(t, err, policy.AttemptsExhausted)
			assert.Equal(t, want, made)
		}
	}
}
