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

// kept are the histories that were released, by name; those of a run that went on in a new one are NAME.1.json, NAME.2.json.
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

// What was released replays for ever: to the engine's replayer, which sees kinds of commands, and to the trace that was made then, which
// has every decision, asked delay and prompt.
func TestEveryReleasedHistoryReplays(t *testing.T) {
	for name, histories := range kept(t) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, temporal.Export{}.Replay(histories))
			var doc, trace bytes.Buffer
			require.NoError(t, temporal.Export{}.Journal(t.Context(), histories, &doc))
			_, err := journal.Replay(bytes.NewReader(doc.Bytes()), journal.Replaying{})
			require.NoError(t, err)
			require.NoError(t, journal.Trace(bytes.NewReader(doc.Bytes()), &trace))
			golden, err := os.ReadFile(filepath.Join("testdata", "histories", name+".trace"))
			require.NoError(t, err)
			assert.Equal(t, string(golden), trace.String())
		})
	}
}
