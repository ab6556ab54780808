package anthropic

import "github.com/retake-go/retake/loop"

// What tests of the wire form look at without a server.
var (
	ToolSchema   = toolSchema
	OutputSchema = outputSchema
)

// Params is the body of a request.
func (m *Model) Params(req loop.Request) ([]byte, error) {
	return m.params(req, m.cfg.Model).MarshalJSON()
}
