package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest/scenario"
	"github.com/retake-go/retake/session"
)

// A Told is enough to repeat the runs of its session: its events give the same effects.
func TestWhatIsToldMakesTheSameRunsAgain(t *testing.T) {
	steps := 0
	scenario.Run(t, stories, scenario.Telling(func(t *testing.T, sessions []scenario.Told) {
		for _, told := range sessions {
			require.NotEmpty(t, told.Steps)
			s, err := session.New(told.Session)
			require.NoError(t, err)
			st, err := machine.New(*told.Steps[0].State.Config, s.State())
			require.NoError(t, err)
			for _, step := range told.Steps {
				effects, err := machine.Step(&st, &step.Event)
				require.NoError(t, err)
				assert.Equal(t, step.Effects, effects)
				assert.Equal(t, step.Event.Kind == machine.ToolEnded, step.Outcome != nil)
				assert.Equal(t, step.Event.Kind == machine.Dispatched, step.Dispatched != nil)
				steps++
			}
		}
	}))
	assert.Greater(t, steps, 500)
}
