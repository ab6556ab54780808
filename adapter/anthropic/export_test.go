package anthropic

import "github.com/retake-go/retake/loop"

// Exports for tests of the wire form without a server.
var (
	ToolSchema   = toolSchema
	OutputSchema = outputSchema
)

// Params is the body of a request.
func (m *Model) Params(req loop.Request) ([]byte, error) {
	p, _ := m.params(req, m.cfg.Model)
	return p.MarshalJSON()
}
