package fault_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// fixtures are the error fixtures, one file per provider. `go test ./fault -run Fixtures -rewrite` rewrites
// the results; read the diff before you commit it.
const fixtures = "../testdata/errors"

func TestFixtures(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, fixtures, func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "classify", d.Cmd, "the one command of these files")
			r, err := fault.ReadResponse([]byte(d.Input))
			if err != nil {
				return err.Error()
			}
			r.Now = time.Date(2025, 11, 5, 10, 0, 0, 0, time.UTC)
			return print(t, fault.Classify(r))
		})
	})
}

// print returns a verdict on one line.
func print(t *testing.T, v fault.Verdict) string {
	if !v.Failed() {
		return "nothing went wrong"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s ", v.Class, v.Plane)
	if !v.Retryable {
		b.WriteString("not ")
	}
	b.WriteString("retryable")
	out, err := json.Marshal(v)
	require.NoError(t, err)
	var w struct {
		MS *int64 `json:"retry_after_ms"`
	}
	require.NoError(t, json.Unmarshal(out, &w))
	if w.MS != nil {
		fmt.Fprintf(&b, " after %d ms", *w.MS)
	}
	return b.String()
}
