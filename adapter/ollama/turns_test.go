package ollama

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

func TestThoughtsGoBackToTheModelThatHadThem(t *testing.T) {
	said := func(opaque string) message.Message { return message.Message{Opaque: opaque} }
	kept := said(keepThoughts(origin("m"), "Lisbon first."))
	assert.Equal(t, "Lisbon first.", thoughtsIn(kept, "m"))
	assert.Empty(t, thoughtsIn(kept, "n"))
	assert.Empty(t, thoughtsIn(said(`{"adapter":"anthropic","model":"m","thinking":"x"}`), "m"))
	assert.Empty(t, thoughtsIn(said("not JSON"), "m"))
	assert.Empty(t, keepThoughts(origin("m"), ""))
}

func TestWhatTheModelSaysInARowIsOneMessage(t *testing.T) {
	said := []message.Message{
		{Role: message.System, Text: "Be brief."},
		{Role: message.Assistant, Text: "One."},
		{Role: message.Assistant, Text: "Two.", Calls: []message.Call{{ID: "c1", Name: "f"}}},
		{Role: message.Tool, CallID: "c1", Name: "f", IsError: true},
		{Role: message.Assistant, Text: "Three."},
	}
	turns, system := turnsOf(said, "m")
	assert.Equal(t, []string{"Be brief."}, system)
	assert.Equal(t, []wireMessage{
		{Role: "user", Content: kit.GoOn},
		{Role: "assistant", Content: "One.\n\nTwo.", ToolCalls: []wireCall{{"c1", wireFunction{Name: "f", Arguments: json.RawMessage("{}")}}}},
		{Role: "tool", Content: "The call failed.", ToolName: "f", ToolCallID: "c1"},
		{Role: "assistant", Content: "Three."},
		{Role: "user", Content: kit.GoOn},
	}, turns)
}
