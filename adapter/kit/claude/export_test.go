package claude

import (
	"encoding/json"

	"github.com/retake-go/retake/loop"
)

// Exports for tests of the wire form without a server.
var (
	ToolSchema   = toolSchema
	OutputSchema = outputSchema
)

// Params is the body of a request.
func (m *Model) Params(req loop.Request) ([]byte, error) {
	r, _ := m.request(req)
	return json.Marshal(r)
}
