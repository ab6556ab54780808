package temporal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/journal"
)

// fromOutside are the events that do not come with the end of a workflow task: a history may end before each
// of them. The first task has begun events.
var fromOutside = []enumspb.EventType{
	enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
	enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED, enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, enumspb.EVENT_TYPE_TIMER_FIRED,
}

const begun = 4

// An unfinished run can be exported at every point.
func TestARunUnderWayExportsUpToWhereItIs(t *testing.T) {
	for name, histories := range kept(t) {
		t.Run(name, func(t *testing.T) {
			golden, err := os.ReadFile(filepath.Join("testdata", "histories", name+".trace"))
			require.NoError(t, err)
			lines := 0
			for n, h := range histories {
				for end, e := range h.Events {
					if !slices.Contains(fromOutside, e.EventType) || end == 0 || (n == 0 && end < begun) {
						continue
					}
					part := append(slices.Clone(histories[:n]), &historypb.History{Events: h.Events[:end]})
					now := exported(t, part)
					require.True(t, strings.HasPrefix(string(golden), now), "history %d up to event %d", n+1, end)
					assert.GreaterOrEqual(t, strings.Count(now, "\n"), lines, "history %d up to event %d", n+1, end)
					lines = strings.Count(now, "\n")
				}
			}
			assert.Positive(t, lines)
		})
	}
}

func exported(t *testing.T, histories []*historypb.History) string {
	t.Helper()
	var doc, trace bytes.Buffer
	require.NoError(t, temporal.Export{}.Journal(t.Context(), histories, &doc))
	require.NoError(t, journal.Trace(bytes.NewReader(doc.Bytes()), &trace))
	return trace.String()
}
