package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/result"
)

func TestAnEnvelopeIsTheAnswerOfATool(t *testing.T) {
	good := mcp.EnvelopeResult(result.Success(map[string]int{"room": 12}))
	assert.False(t, good.IsError)
	assert.Equal(t, []sdk.Content{&sdk.TextContent{Text: `{"room":12}`}}, good.Content)
	assert.Equal(t, json.RawMessage(`{"room":12}`), good.StructuredContent)

	said := mcp.EnvelopeResult(result.Success("Hello."))
	assert.Equal(t, []sdk.Content{&sdk.TextContent{Text: "Hello."}}, said.Content)
	assert.Nil(t, said.StructuredContent)

	failed := mcp.EnvelopeResult(result.Failure[string](fault.RateLimit, "internal"))
	assert.True(t, failed.IsError)
	text := failed.Content[0].(*sdk.TextContent).Text
	assert.Contains(t, text, "llm-rate-limit: ")
	assert.NotContains(t, text, "internal")
}
