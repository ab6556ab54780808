package tool

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/extract"
)

// Each repair that a policy may refuse has a phrase that says what to write instead.
func TestEveryRepairHasAPhrase(t *testing.T) {
	kinds := extract.Forms()
	kinds = kinds[slices.Index(kinds, extract.StringArguments):]
	assert.Len(t, kinds, len(repairPhrases))
	for _, k := range kinds {
		assert.NotEmpty(t, repairPhrases[k], "%s", k)
	}
}
