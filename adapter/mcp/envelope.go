package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/result"
)

// EnvelopeResult returns the result of a run as the answer of an MCP tool: the text of
// [result.Result.ToolText], with isError if the run failed, and with structured content if the data is a
// JSON object.
func EnvelopeResult[T any](r result.Result[T]) *sdk.CallToolResult {
	text, isError := r.ToolText()
	answer := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}
	if r.IsSuccess() && json.Valid([]byte(text)) && text[0] == '{' {
		answer.StructuredContent = json.RawMessage(text)
	}
	return answer
}
