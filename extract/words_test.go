package extract

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(words[:], func(a, b word) int { return strings.Compare(a.name, b.name) }))
	for _, w := range words {
		assert.LessOrEqual(t, len(w.name), longestWord)
		assert.Equal(t, w, wordOf(w.name))
		assert.Equal(t, w, wordOf("_"+strings.ToUpper(w.name)+"-"))
	}
	for _, name := range []string{"", "a", "zz", "toolcal", "toolcallss", strings.Repeat("tool", 9)} {
		assert.Zero(t, wordOf(name), name)
	}
}
