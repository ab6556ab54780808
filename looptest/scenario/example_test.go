package scenario_test

import (
	"testing"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest/scenario"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// One line tests all stories of a directory.
func Example() {
	_ = func(t *testing.T) {
		scenario.Run(t, "testdata/scenarios")
		scenario.Run(t, "testdata/scenarios", scenario.CrashEverywhere())
	}
	// With adds your own tools, policy file, slices and reducers.
	var (
		tools *tool.Set
		own   session.Config
	)
	_ = func(t *testing.T) {
		with := scenario.With{Config: loop.Config{Tools: tools}, PolicyFile: "policy.yaml", Session: own}
		scenario.Run(t, "testdata/scenarios", with)
	}
	// Output:
}
