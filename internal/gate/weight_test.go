package gate_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxModules is how many modules a program that embeds the loop may link, retake's own among them.
const maxModules = 18

// Whoever embeds the loop takes on what it links: validators, a schema library and little else, and no provider, runtime or test
// library.
func TestTheLoopIsLight(t *testing.T) {
	modules := linked(t, "./loop")
	require.LessOrEqual(t, len(modules), maxModules, "loop links %s", strings.Join(modules, "\n"))
	require.Contains(t, modules, "github.com/retake-go/retake", "the count counts")
	for _, banned := range []string{"testify", "rapid", "datadriven", "openai", "anthropic", "genai", "modelcontextprotocol", "opentelemetry", "goccy"} {
		require.False(t, slices.ContainsFunc(modules, func(m string) bool { return strings.Contains(m, banned) }), "loop links %s", banned)
	}
}

// linked are the modules that a package links, sorted: those in the module cache, without asking anybody.
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
