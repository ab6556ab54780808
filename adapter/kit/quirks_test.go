package kit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/kit"
)

func TestEveryQuirkHasItsSource(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range kit.QuirkNames() {
		assert.Regexp(t, `https://\S+`, kit.QuirksOf(name, "m").Source, name)
		assert.False(t, seen[name], "%s has two rows", name)
		assert.Regexp(t, `^[a-z0-9]+$`, name, "names are looked up without case and punctuation")
		seen[name] = true
	}
	assert.Equal(t, kit.QuirksOf("googlegenai", "m"), kit.QuirksOf("Google-GenAI", "m"))
}
