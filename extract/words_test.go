package extract

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAWordIsSpeltInManyWays(t *testing.T) {
	for _, name := range []string{"tool_call", "toolcall", "ToolCall", "tool-call", "TOOL_CALL"} {
		assert.Equal(t, word{"toolcall", ofCall}, wordOf(name), name)
	}
	for _, name := range []string{"", "_", "toolcallx", "table"} {
		assert.Zero(t, wordOf(name), name)
	}
}
