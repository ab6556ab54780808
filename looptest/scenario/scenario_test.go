package scenario_test

import (
	"testing"

	"github.com/retake-go/retake/looptest/scenario"
)

const stories = "../../testdata/scenarios"

func TestScenarios(t *testing.T) { scenario.Run(t, stories) }

// Whatever happened, the journal alone makes the same run again, and goes on as if nothing had happened.
func TestScenariosSurviveACrashAfterEveryEvent(t *testing.T) {
	scenario.Run(t, stories, scenario.CrashEverywhere())
}

// A state that was written down and read back goes on as the one that was not.
func TestScenariosSurviveARestoreAfterEveryEvent(t *testing.T) {
	scenario.Run(t, stories, scenario.RestoreEverywhere())
}
