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

// programs are the pairs of programs and their folders.
var programs = []struct{ name, folder string }{
	{"hand", "hand"}, {"ours", "embed"}, {"ours_raw", "raw"}, {"hand_do", "dohand"}, {"ours_do", "do"}, {"ours_decide", "decide"},
}

// BenchmarkStart runs a whole process. It also reports the size of the stripped binary and the time of its
// init functions, according to the runtime. The lowest time of all processes counts, because other work of
// the machine only adds to it.
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

// started runs a program and adds up the lines of GODEBUG=inittrace=1: "init p @0.1 ms, 0.02 ms clock, 10
// bytes, 1 allocs".
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
