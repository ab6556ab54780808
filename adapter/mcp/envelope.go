package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/result"
)

// EnvelopeResult is what a run came to as the answer of an MCP tool: the text of [result.Result.ToolText],
// marked as an error where the run failed, and data that is a JSON object as structured content too.
func EnvelopeResult[T any](r result.Result[T]) *sdk.CallToolResult {
	text, isError := r.ToolText()
	answer := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: isError}
	if r.IsSuccess() && json.Valid([]byte(text)) && text[0] == '{' {
		answer.StructuredContent = json.RawMessage(text)
	}
	return answer
}
