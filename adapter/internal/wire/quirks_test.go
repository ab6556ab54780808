package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/internal/wire"
)

func TestEveryQuirkHasItsSource(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range wire.QuirkNames() {
		assert.Regexp(t, `https://\S+`, wire.QuirksOf(name, "m").Source, name)
		assert.False(t, seen[name], "%s has two rows", name)
		assert.Regexp(t, `^[a-z0-9]+$`, name, "names are looked up without case and punctuation")
		seen[name] = true
	}
	assert.Equal(t, wire.QuirksOf("googlegenai", "m"), wire.QuirksOf("Google-GenAI", "m"))
}
