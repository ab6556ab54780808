package genai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/message"
)

// genMessage draws any message, also one that no run makes.
func genMessage() *rapid.Generator[message.Message] {
	words := rapid.SampledFrom([]string{"", " ", "Hello.", `{"a":1}`})
	names := rapid.SampledFrom([]string{"", "book_room", "hotel.find", "no such tool!", "1st", strings.Repeat("x", 200)})
	ids := rapid.SampledFrom([]string{"", "c1", "c2", "call-1"})
	kept := rapid.SampledFrom([]string{
		"", "x", `{"adapter":"other"}`, opaque{name, "m", []part{{Text: 6}, {Call: 1, Signature: "cw=="}}}.text(),
		opaque{name, "m", []part{{Raw: json.RawMessage(`{"thought":true}`)}, {Text: 0, Signature: "cw=="}}}.text(),
		`{"adapter":"genai","model":"m","parts":[{"raw":"x"},{"text":-1},{"call":7}]}`,
	})
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

// seenPart is a part as the API reads it.
type seenPart struct {
	Text         *string
	FunctionCall *struct {
		ID, Name string
		Args     map[string]any
	}
	FunctionResponse *struct {
		ID, Name string
		Response map[string]any
	}
}

func TestLawEveryTranscriptMakesAConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(genMessage(), 0, 12).Draw(t, "transcript")
		turns, _ := turnsOf(said, "m")
		require.Equal(t, "user", turns[0].Role)
		require.Equal(t, "user", turns[len(turns)-1].Role)
		ids := map[string]bool{}
		for n, c := range turns {
			require.NotEmpty(t, c.Parts)
			if n > 0 && !turns[n-1].answers {
				require.NotEqual(t, turns[n-1].Role, c.Role, "two in a row")
			}
			var calls, answers []string
			for _, raw := range c.Parts {
				var p seenPart
				require.NoError(t, json.Unmarshal(raw, &p))
				if p.FunctionCall != nil {
					require.NotNil(t, p.FunctionCall.Args, "arguments are an object")
					require.Regexp(t, `^[A-Za-z_][A-Za-z0-9_-]{0,127}$`, p.FunctionCall.Name)
					require.False(t, ids[p.FunctionCall.ID], "an id twice")
					ids[p.FunctionCall.ID] = true
					calls = append(calls, p.FunctionCall.ID)
				}
				if p.FunctionResponse != nil {
					require.Len(t, p.FunctionResponse.Response, 1)
					answers = append(answers, p.FunctionResponse.ID)
				}
			}
			if c.Role == "user" && answers != nil {
				require.Len(t, answers, len(c.Parts), "answers stand alone")
			}
			if calls != nil {
				require.Equal(t, calls, answersOf(t, turns[n+1]), "every call is answered, in its place")
			}
		}
	})
}

func answersOf(t *rapid.T, c content) (ids []string) {
	for _, raw := range c.Parts {
		var p seenPart
		require.NoError(t, json.Unmarshal(raw, &p))
		if p.FunctionResponse != nil {
			ids = append(ids, p.FunctionResponse.ID)
		}
	}
	return ids
}

func TestSignaturesGoBackToTheModelThatMadeThem(t *testing.T) {
	m := message.Message{
		Role: message.Assistant, Text: "I book.", Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "f", Arguments: "{}"}},
		Opaque: opaque{name, "gemini-3-pro", []part{{Text: 2, Signature: "YQ=="}, {Raw: json.RawMessage(`{"executableCode":{}}`)}, {Text: 5}, {Call: 1, Signature: "Yg=="}, {Call: 2}}}.text(),
	}
	show := func(model string) (parts []string) {
		c := conversation{model: model}
		_, exchanges := rules.Exchanges([]message.Message{m})
		for _, p := range c.parts(exchanges[0]) {
			parts = append(parts, string(p))
		}
		return parts
	}
	call := func(id string) string { return `{"functionCall":{"id":"` + id + `","name":"f","args":{}}` }
	assert.Equal(t, []string{
		`{"text":"I ","thoughtSignature":"YQ=="}`, `{"executableCode":{}}`, `{"text":"book."}`, call("c1") + `,"thoughtSignature":"Yg=="}`, call("c2") + "}",
	}, show("gemini-3-pro"))
	unsigned := []string{`{"text":"I book."}`, call("c1") + "}", call("c2") + "}"}
	assert.Equal(t, unsigned, show("gemini-2.5-flash"))
	assert.Equal(t, unsigned, show("gemma-3-27b-it"))
	marked := []string{unsigned[0], call("c1") + `,"thoughtSignature":"skip_thought_signature_validator"}`, unsigned[2]}
	for _, later := range []string{"gemini-3-flash", "gemini-3.5-pro", "gemini-12-pro", "gemini-flash-latest"} {
		assert.Equal(t, marked, show(later), later)
	}
	m.Text = "I booked."
	assert.Equal(t, `{"text":"I booked."}`, show("gemini-3-pro")[0], "a layout that does not fit is not used")
	assert.Empty(t, opaque{name, "m", []part{{Text: 3}, {Call: 1}}}.text(), "nothing to keep")
}
