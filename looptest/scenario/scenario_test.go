package scenario_test

import (
	"testing"

	"github.com/retake-go/retake/looptest/scenario"
)

const stories = "../../testdata/scenarios"

func TestScenarios(t *testing.T) { scenario.Run(t, stories) }

// A run that resumes from its journal after every event goes on as if nothing had happened.
func TestScenariosSurviveACrashAfterEveryEvent(t *testing.T) {
	scenario.Run(t, stories, scenario.CrashEverywhere())
}

// A state that is restored from its snapshot after every event goes on like the original.
func TestScenariosSurviveARestoreAfterEveryEvent(t *testing.T) {
	scenario.Run(t, stories, scenario.RestoreEverywhere())
}
