package examples_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// The programs print what their documentation shows. After a change, check the difference before you
// rewrite the files.
func TestProgramsPrintWhatTheyPromise(t *testing.T) {
	for _, name := range []string{"hello", "quickstart", "prompts", "ownloop", "stream", "resume", "payment", "nudged", "budget", "window"} {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + name + ".txt")
			require.NoError(t, err)
			got, err := exec.CommandContext(t.Context(), "go", "run", "./"+name).Output()
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}
