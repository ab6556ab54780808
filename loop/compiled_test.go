package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
)

// Each use of an action has the policy of that moment.
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
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			assert.Equal(t, want, made)
		}
	}
}

// The default policy, given or not, makes the same run.
func TestASeedIsThatOfItsRun(t *testing.T) {
	standard := policy.DefaultSet()
	for _, seed := range []string{"", "one", "two", "one"} {
		var told []string
		for _, cfg := range []loop.Config{{Seed: seed}, {Seed: seed, Policy: &standard}} {
			dir := journal.Dir(t.TempDir())
			j := recorded(t, dir)
			model := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Timeout}), looptest.Say("done"))
			_, err := fixture.Run(t.Context(), model, fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, cfg, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			require.NoError(t, j.Close())
			told = append(told, lines(t, dir))
		}
		assert.Equal(t, told[1], told[0])
		assert.Equal(t, seed != "", strings.Contains(told[0], `"seed":"`+seed+`"`))
	}
}

// A run uses the policy of the moment when it begins.
func TestAPolicyMayChangeBetweenRuns(t *testing.T) {
	set := policy.DefaultSet()
	set.Tools = map[string]policy.Layer{"book_room": {MaxAttempts: new(1)}}
	cfg := loop.Config{Tools: bookRoom(t, booked), Policy: &set}
	bad := looptest.Call(call("book_room", `{"city": "Lisbon", "nights": "two"}`))
	attempts := func(cfg loop.Config) int {
		s := newSession(t)
		_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad, bad, bad), s, loop.Input{Prompt: "Book."}, cfg)
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		return s.State().AttemptCount()
	}
	for range 2 {
		for want := range 4 {
			*set.Tools["book_room"].MaxAttempts = want + 1
			require.Equal(t, want+1, attempts(cfg))
			require.Equal(t, want+1, attempts(cfg))
		}
	}
}
