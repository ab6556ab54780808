package start

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/bench/work"
)

// programs are the pairs, and the folders of each.
var programs = []struct{ name, folder string }{
	{"hand", "hand"}, {"ours", "embed"}, {"ours_raw", "raw"}, {"hand_do", "dohand"}, {"ours_do", "do"}, {"ours_decide", "decide"},
}

// BenchmarkStart: an op is a whole process, from its start to its end. Beside that the size of the binary, stripped, and the
// sum of what the runtime says that its init functions took: the least of the processes, for they all do the same, and what else the
// machine does meanwhile only adds to it.
func BenchmarkStart(b *testing.B) {
	for _, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			binary, size := built(b, p.folder)
			var inits []time.Duration
			for b.Loop() {
				inits = append(inits, started(b, binary))
			}
			b.ReportMetric(float64(size), "bytes")
			b.ReportMetric(float64(slices.Min(inits)), "init-ns")
		})
	}
}

func built(t testing.TB, folder string) (binary string, size int64) {
	binary = filepath.Join(t.TempDir(), folder)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./"+folder)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	info, err := os.Stat(binary)
	require.NoError(t, err)
	return binary, info.Size()
}

// started runs a program, and adds up the lines of GODEBUG=inittrace=1: "init p @0.1 ms, 0.02 ms clock, 10 bytes, 1 allocs".
func started(t testing.TB, binary string) time.Duration {
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var out, traces bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &traces
	if err := cmd.Run(); err != nil || !strings.HasPrefix(out.String(), work.Small().Answer) {
		t.Fatal(err, out.String())
	}
	sum := 0.0
	for line := range strings.Lines(traces.String()) {
		_, after, _ := strings.Cut(line, " ms, ")
		text, _, found := strings.Cut(after, " ms clock")
		ms, err := strconv.ParseFloat(text, 64)
		if !found || err != nil {
			t.Fatal(line)
		}
		sum += ms
	}
	return time.Duration(sum * float64(time.Millisecond))
}

func TestAllSayTheSame(t *testing.T) {
	for _, p := range programs {
		binary, size := built(t, p.folder)
		require.Positive(t, size)
		require.Positive(t, started(t, binary))
	}
}

const own = "github.com/retake-go/retake/"

// What the embed does not use is not in it: templates and their data, journals, snapshots, YAML of policies, what reads a provider's
// responses, provider errors, what asks a planner and tells observers, and the sorts of the standard library made anew for types of ours. The validator looks a method up by
// name, so that all exported methods of a type are linked once a value of it, or of what can hold one, becomes an interface: a state
// in a sync.Pool, the target of errors.As.
func TestTheEmbedLinksWhatItUses(t *testing.T) {
	testLinks(t, "embed", own+"loop.(*Runner).Step", []string{
		"text/template.(*Template).Execute", "text/template/parse.Parse", "goccy/go-yaml", own + "journal.(*Journal).Step",
		own + "loop/machine.State.Snapshot", own + "journal.eventText", own + "fault.gather", own + "internal/httphint.Wait",
		own + "fault.(*ProviderError).UserMessage", own + "feedback.Data.Map", own + "ratelimit.Parse",
		own + "loop.NewQuestion", own + "loop.decisionNotices", own + "loop.header",
		own + "seq.Log[" + own + "session.Attempt].Backward", own + "seq.Log[" + own + "session.Entry].Backward",
		"slices.pdqsortCmpFunc[go.shape.struct { Pointer", "slices.stableCmpFunc[go.shape.struct { " + own + "session",
		"slices.pdqsortCmpFunc[go.shape.struct { *" + own, "slices.pdqsortCmpFunc[go.shape.interface", "slices.stableCmpFunc[go.shape.struct { Kind " + own,
		"slices.stableCmpFunc[go.shape.*uint8",
	})
}

// A program that makes no schema of a Go type has no validator, and so the linker keeps only the methods that something may call.
func TestRawToolsLinkNoRules(t *testing.T) {
	testLinks(t, "raw", own+"schema.Compile", []string{
		"github.com/go-playground/validator/v10.New", "github.com/go-playground/validator/v10.isIso31662", own + "schema.goTypeOf",
		own + "schema.(*builder)", own + "schema.(*Schema).Secrets", own + "backoff.(*BackoffStrategy).UnmarshalYAML",
	})
}

// Nor is in an action without tools what judges values, reads replies and runs tools; the validator's rules are the largest of all.
func TestAnActionLinksNoTools(t *testing.T) {
	testLinks(t, "do", own+"loop.(*line).failed", []string{
		"github.com/go-playground/validator/v10.New", "github.com/go-playground/validator/v10.isIso31662", own + "schema.Compile", own + "schema.explainer",
		own + "schema.(*walk)", own + "extract.Calls", own + "tool.(*Set)", own + "loop.(*driver).call", own + "loop.(*Runner).resume", own + "loop.header",
		"text/template.(*Template).Execute", own + "journal.(*Journal).Step", own + "policy/file",
	})
}

// What decides is small by itself.
func TestADecisionLinksNoRuns(t *testing.T) {
	testLinks(t, "decide", own+"policy.decide", []string{
		own + "loop", own + "session", own + "schema", own + "tool", own + "extract.Calls", "text/template", "math/big.(*Int).Exp",
		"github.com/go-json-experiment/json.lookupArshaler", "github.com/santhosh-tekuri", "github.com/go-playground",
	})
}

// testLinks holds the program in a folder to what it has and what it has not.
func testLinks(t *testing.T, folder, used string, unused []string) {
	binary := filepath.Join(t.TempDir(), folder)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", binary, "./"+folder)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", binary).Output()
	require.NoError(t, err)
	require.True(t, bytes.Contains(symbols, []byte(used)), "symbols have such names")
	for _, name := range unused {
		require.False(t, bytes.Contains(symbols, []byte(name)), "%s links %s", folder, name)
	}
}
