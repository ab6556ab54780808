package temporal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/journal"
)

// kept are the released histories by name. Those of a run with several histories are NAME.1.json,
// NAME.2.json.
func kept(t *testing.T) map[string][]*historypb.History {
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]*historypb.History{}
	for _, path := range files {
		doc, err := os.ReadFile(path)
		require.NoError(t, err)
		h, err := client.HistoryFromJSON(bytes.NewReader(doc), client.HistoryJSONOptions{})
		require.NoError(t, err, path)
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		all[name] = append(all[name], h)
	}
	return all
}

// Released histories always replay: with Temporal's replayer, which compares kinds of commands, and against
// the trace of their time, which has every decision, requested delay and prompt.
func TestEveryReleasedHistoryReplays(t *testing.T) {
	for name, histories := range kept(t) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, temporal.Export{}.Replay(histories))
			var doc, trace bytes.Buffer
			require.NoError(t, temporal.Export{}.Journal(t.Context(), histories, &doc))
			_, err := journal.Replay(bytes.NewReader(doc.Bytes()), nil)
			require.NoError(t, err)
			require.NoError(t, journal.Trace(bytes.NewReader(doc.Bytes()), &trace))
			golden, err := os.ReadFile(filepath.Join("testdata", "histories", name+".trace"))
			require.NoError(t, err)
			assert.Equal(t, string(golden), trace.String())
		})
	}
}
