package gate_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxModules is the most modules that a program with the loop may link, including retake.
const maxModules = 18

// A program with the loop links validators, a schema library and little else: no provider's SDK, no runtime
// and no test library.
func TestTheLoopIsLight(t *testing.T) {
	modules := linked(t, "./loop")
	require.LessOrEqual(t, len(modules), maxModules, "loop links %s", strings.Join(modules, "\n"))
	require.Contains(t, modules, "github.com/retake-go/retake", "the count counts")
	for _, banned := range []string{"testify", "rapid", "datadriven", "openai", "anthropic", "genai", "modelcontextprotocol", "opentelemetry", "yaml/v3"} {
		require.False(t, slices.ContainsFunc(modules, func(m string) bool { return strings.Contains(m, banned) }), "loop links %s", banned)
	}
}

// linked returns the modules that a package links, sorted. It reads the module cache and asks no proxy.
func linked(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=readonly")
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(t, err, complaint.String())
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	return slices.Compact(modules)
}
