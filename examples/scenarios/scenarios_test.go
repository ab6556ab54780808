package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest/scenario"
)

// The stories use the program's own tools, reducers and policy file. After a change, run this with -rewrite
// and check the diff.
func TestScenarios(t *testing.T) {
	tools, err := Tools()
	require.NoError(t, err)
	own := scenario.With{Config: loop.Config{Tools: tools}, PolicyFile: "policy.yaml", Session: Session("")}
	scenario.Run(t, "testdata", own)
	t.Run("after_a_crash", func(t *testing.T) { scenario.Run(t, "testdata", own, scenario.CrashEverywhere()) })
}
