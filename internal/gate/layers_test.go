package gate_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/gate"
)

// docs/design.md lists the public packages of each layer.
func TestTheDesignListsTheLayers(t *testing.T) {
	doc, err := os.ReadFile("../../docs/design.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```layers\n(.*?)```").FindSubmatch(doc)
	require.NotNil(t, block, "a block called layers")
	var want strings.Builder
	for _, layer := range gate.Layers {
		var public []string
		for _, p := range layer {
			if !strings.Contains("/"+p, "/internal/") {
				public = append(public, p)
			}
		}
		if public != nil {
			want.WriteString(strings.Join(public, " ") + "\n")
		}
	}
	assert.Equal(t, want.String(), string(block[1]))
}
