package extract_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/extract"
)

// Each repair that a policy may refuse has a phrase that says what to write instead.
func TestEveryRepairHasAPhrase(t *testing.T) {
	kinds := extract.Forms()
	for _, k := range kinds[slices.Index(kinds, "string_arguments"):] {
		assert.NotEmpty(t, k.Wanted(), "%s", k)
	}
}
