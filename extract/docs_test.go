package extract_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/extract"
)

// docs/replies.md says of each form and each leniency what it is.
func TestThePageNamesEveryForm(t *testing.T) {
	page, err := os.ReadFile("../docs/replies.md")
	require.NoError(t, err)
	for _, f := range extract.Forms() {
		assert.Contains(t, string(page), "`"+string(f)+"`")
	}
}
