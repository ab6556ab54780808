package scenario_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop/engine"
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

// A state that is restored from its snapshot after every event, each read back from JSON, goes on like the
// original.
func TestScenariosSurviveARestoreAfterEveryEvent(t *testing.T) {
	runAll(t, scenario.Telling(func(t *testing.T, sessions []scenario.Told) {
		for _, told := range sessions {
			for _, one := range append(told.Within, told) {
				goesOnRestored(t, &one)
			}
		}
	}))
}

func goesOnRestored(t *testing.T, told *scenario.Told) {
	s, err := session.New(told.Session)
	require.NoError(t, err)
	st, err := machine.New(*told.Steps[0].State.Config, s.State())
	require.NoError(t, err)
	for n, step := range told.Steps {
		text, err := json.Marshal(step.Event)
		require.NoError(t, err)
		var ev machine.Event
		require.NoError(t, engine.Unmarshal(text, &ev))
		effects, err := machine.Step(&st, &ev)
		require.NoError(t, err)
		was, err := json.Marshal(step.Effects)
		require.NoError(t, err)
		is, err := json.Marshal(effects)
		require.NoError(t, err)
		require.Equal(t, string(was), string(is), "event %d", n)
		want, err := step.State.Snapshot()
		require.NoError(t, err)
		got, err := st.Snapshot()
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "event %d", n)
		st, err = machine.Restore(got)
		require.NoError(t, err)
	}
}
