package ollama

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// genMessage draws any message, also one that no run makes.
func genMessage() *rapid.Generator[message.Message] {
	words := rapid.SampledFrom([]string{"", " ", "Hello.", "{}"})
	names := rapid.SampledFrom([]string{"", "book_room", "hotel.find", "no such tool!"})
	ids := rapid.SampledFrom([]string{"", "c1", "c2", "call-1"})
	kept := rapid.SampledFrom([]string{"", "x", `{"adapter":"other"}`, keepThoughts("m", "Hm."), keepThoughts("n", "Hm.")})
	call := rapid.Custom(func(t *rapid.T) message.Call {
		return message.Call{
			ID: ids.Draw(t, "id"), Name: names.Draw(t, "name"),
			Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1}`, `{"a":1,"a":2}`, `{"a":`, "[]", "null", "\xff"}).Draw(t, "arguments"),
		}
	})
	return rapid.Custom(func(t *rapid.T) message.Message {
		m := message.Message{
			Role: rapid.SampledFrom([]message.Role{message.System, message.User, message.Assistant, message.Tool}).Draw(t, "role"),
			Text: words.Draw(t, "text"),
		}
		switch m.Role {
		case message.Assistant:
			m.Calls, m.Opaque = rapid.SliceOfN(call, 0, 3).Draw(t, "calls"), kept.Draw(t, "opaque")
		case message.Tool:
			m.CallID, m.Name, m.IsError = ids.Draw(t, "call id"), names.Draw(t, "of"), rapid.Bool().Draw(t, "error")
		}
		return m
	})
}

func TestLawEveryTranscriptMakesAConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(genMessage(), 0, 12).Draw(t, "transcript")
		turns, _ := turnsOf(said, "m")
		require.NotEmpty(t, turns)
		require.Equal(t, "user", turns[0].Role)
		require.NotEqual(t, "assistant", turns[len(turns)-1].Role)
		ids := map[string]bool{}
		for n, m := range turns {
			if n > 0 && m.Role != "tool" {
				require.NotEqual(t, turns[n-1].Role, m.Role, "two in a row")
			}
			if m.Role == "user" {
				require.NotEmpty(t, m.Content)
			}
			for k, c := range m.ToolCalls {
				require.False(t, ids[c.ID], "an id twice")
				ids[c.ID] = true
				require.Equal(t, c.ID, turns[n+1+k].ToolCallID, "an answer in its place")
				require.Equal(t, "tool", turns[n+1+k].Role)
				require.Equal(t, c.Function.Name, turns[n+1+k].ToolName)
				_, isObject := kit.ReadObject(c.Function.Arguments)
				require.True(t, isObject && json.Valid(c.Function.Arguments), "arguments are an object")
				require.Equal(t, tool.ProviderName(c.Function.Name), c.Function.Name)
			}
		}
	})
}

func TestThoughtsGoBackToTheModelThatHadThem(t *testing.T) {
	kept := keepThoughts("m", "Lisbon first.")
	assert.Equal(t, "Lisbon first.", thoughtsIn(kept, "m"))
	assert.Empty(t, thoughtsIn(kept, "n"))
	assert.Empty(t, thoughtsIn(`{"adapter":"anthropic","model":"m","thinking":"x"}`, "m"))
	assert.Empty(t, thoughtsIn("not JSON", "m"))
	assert.Empty(t, keepThoughts("m", ""))
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
		{Role: "tool", Content: kit.Failed, ToolName: "f", ToolCallID: "c1"},
		{Role: "assistant", Content: "Three."},
		{Role: "user", Content: kit.GoOn},
	}, turns)
}
