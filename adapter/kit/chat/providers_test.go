package chat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryQuirkHasItsSource(t *testing.T) {
	seen := map[string]bool{}
	var names []string
	for _, row := range known {
		names = append(names, strings.Fields(row.names)...)
	}
	for _, name := range names {
		assert.Regexp(t, `https://\S+`, QuirksOf(name, "m").Source, name)
		assert.False(t, seen[name], "%s has two rows", name)
		assert.Regexp(t, `^[a-z0-9]+$`, name, "names are looked up without case and punctuation")
		seen[name] = true
	}
	for host, name := range hosts {
		assert.Equal(t, name, providerAt("https://api."+host+":8443/v1"))
	}
	assert.Equal(t, QuirksOf("googlegenai", "m"), QuirksOf("Google-GenAI", "m"))
}
