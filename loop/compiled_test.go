package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
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

// A config of which nothing is said but its seed is not compiled anew.
func TestASeedIsThatOfItsRun(t *testing.T) {
	standard := policy.DefaultSet()
	for _, seed := range []string{"", "one", "two", "one"} {
		var told []string
		for _, cfg := range []loop.Config{{Seed: seed}, {Seed: seed, Policy: &standard}} {
			dir := journal.Dir(t.TempDir())
			j := recorded(t, dir)
			model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Timeout}), looptest.Say("done"))
			_, err := loop.Run(t.Context(), model, newSession(t), "Book.", cfg, loop.WithJournal(j), loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			require.NoError(t, j.Close())
			told = append(told, lines(t, dir))
		}
		assert.Equal(t, told[1], told[0])
		assert.Equal(t, seed != "", strings.Contains(told[0], `"seed":"`+seed+`"`))
	}
}
