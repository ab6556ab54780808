package fault_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
)

// The table of codes in docs/contracts.md has each built-in class, in order, with its plane and its names.
func TestTheTableOfCodes(t *testing.T) {
	page, err := os.ReadFile("../docs/contracts.md")
	require.NoError(t, err)
	var want []string
	for _, plane := range []fault.Plane{fault.Transport, fault.Correction} {
		for _, c := range plane.Classes() {
			helps := map[bool]string{true: "yes", false: "no"}[c.Retryable()]
			n := c.Names()
			want = append(want, fmt.Sprintf("| `%s` | %s | %s | `%s` | `%s` | `%s` |", c, plane, helps, n.ResultEnvelope, n.AgentResult, n.AgentError))
		}
	}
	row := regexp.MustCompile("(?m)^\\| `\\w+` \\| (?:transport|correction) \\| .*\\|$")
	assert.Equal(t, want, row.FindAllString(string(page), -1))
}
