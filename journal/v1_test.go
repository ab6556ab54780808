package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

var (
	rewrite = flag.Bool("rewrite", false, "write what replays of the journals in testdata say anew")
	// Journals of a released format are never made again.
	makeMissing = flag.Bool("make", false, "write the journals that are missing from testdata")
)

const v1 = "../testdata/journals/v1"

// told is the result of a replay in words.
func told(text, key []byte) string {
	report, err := journal.Replay(bytes.NewReader(text), key)
	line, _ := json.MarshalIndent(report, "", "  ")
	out := string(line) + "\n"
	differs, ok := errors.AsType[*journal.DifferenceError](err)
	switch {
	case ok:
		out += "\n" + differs.Error() + "\n\n" + differs.Explain()
	case err != nil:
		out += "\n" + err.Error() + "\n"
	default:
		var trace bytes.Buffer
		if err := journal.Trace(bytes.NewReader(text), &trace); err != nil {
			return out + err.Error() + "\n"
		}
		out += fmt.Sprintf("\ntrace of %d lines, sha256 %x\n", bytes.Count(trace.Bytes(), []byte("\n")), sha256.Sum256(trace.Bytes()))
	}
	return out
}

// Every journal of a released format replays as it did, invalid ones included.
func TestJournalsOfTheFirstFormatReplayForEver(t *testing.T) {
	if *makeMissing {
		writeMissing(t)
	}
	files, err := filepath.Glob(filepath.Join(v1, "*.jsonl"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), len(stories(t))+len(made(t)))
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			got, golden := told(text, nil), strings.TrimSuffix(path, "jsonl")+"txt"
			if *rewrite {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

// writeMissing writes the journals that do not exist yet.
func writeMissing(t *testing.T) {
	for name, st := range stories(t) {
		writeOnce(t, name, func() []byte { return st.record(t) })
	}
	good := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(v1, name+".jsonl"))
		require.NoError(t, err)
		return text
	}
	all := made(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		writeOnce(t, name, func() []byte { return all[name](good) })
	}
}

func writeOnce(t *testing.T, name string, text func() []byte) {
	path := filepath.Join(v1, name+".jsonl")
	if _, err := os.Stat(path); err == nil {
		return
	}
	require.NoError(t, os.MkdirAll(v1, 0o755))
	require.NoError(t, os.WriteFile(path, text(), 0o644))
}
