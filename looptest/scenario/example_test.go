package scenario_test

import (
	"testing"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest/scenario"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A test of your own stories is one line; the files lie in a directory beside it.
func Example() {
	_ = func(t *testing.T) {
		scenario.Run(t, "testdata/scenarios")
		scenario.Run(t, "testdata/scenarios", scenario.CrashEverywhere())
	}
	// Your own tools, policy file, slices and reducers are in them, too.
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
