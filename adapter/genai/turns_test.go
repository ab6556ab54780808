package genai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/message"
)

func TestSignaturesGoBackToTheModelThatMadeThem(t *testing.T) {
	m := message.Message{
		Role: message.Assistant, Text: "I book.", Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "f", Arguments: "{}"}},
		Opaque: opaque{origin("gemini-3-pro"), []part{{Text: 2, Signature: "YQ=="}, {Raw: json.RawMessage(`{"executableCode":{}}`)}, {Text: 5}, {Call: 1, Signature: "Yg=="}, {Call: 2}}}.text(),
	}
	show := func(model string) (parts []string) {
		c := conversation{model: model}
		_, exchanges := rules.Exchanges([]message.Message{m})
		for _, p := range c.parts(exchanges[1]) {
			parts = append(parts, string(p))
		}
		return parts
	}
	call := func(id string) string { return `{"functionCall":{"id":"` + id + `","name":"f","args":{}}` }
	assert.Equal(t, []string{
		`{"text":"I ","thoughtSignature":"YQ=="}`, `{"executableCode":{}}`, `{"text":"book."}`, call("c1") + `,"thoughtSignature":"Yg=="}`, call("c2") + "}",
	}, show("gemini-3-pro"))
	const nameless = `{"functionCall":{"name":"f","args":{}}}`
	unsigned := []string{`{"text":"I book."}`, nameless, nameless}
	assert.Equal(t, unsigned, show("gemini-2.5-flash"))
	assert.Equal(t, unsigned, show("gemma-3-27b-it"))
	marked := []string{unsigned[0], call("c1") + `,"thoughtSignature":"skip_thought_signature_validator"}`, call("c2") + "}"}
	for _, later := range []string{"gemini-3-flash", "gemini-3.5-pro", "gemini-12-pro", "gemini-flash-latest"} {
		assert.Equal(t, marked, show(later), later)
	}
	m.Text = "I booked."
	assert.Equal(t, `{"text":"I booked."}`, show("gemini-3-pro")[0], "a layout that does not fit is not used")
	assert.Empty(t, opaque{origin("m"), []part{{Text: 3}, {Call: 1}}}.text(), "nothing to keep")
}

// A call that was forced comes without a signature, and the API refuses to get the first call of a step back
// without one, whatever else of the step is signed.
func TestTheFirstCallGoesBackWithASignature(t *testing.T) {
	show := func(model string, parts ...part) (sent []string) {
		m := message.Message{Role: message.Assistant, Text: "I book.", Opaque: opaque{origin(model), parts}.text(),
			Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "f", Arguments: "{}"}}}
		_, exchanges := rules.Exchanges([]message.Message{m})
		for _, p := range (&conversation{model: model}).parts(exchanges[1]) {
			sent = append(sent, string(p))
		}
		return sent
	}
	const first, second = `{"functionCall":{"id":"c1","name":"f","args":{}}`, `{"functionCall":{"id":"c2","name":"f","args":{}}`
	const text, unchecked = `{"text":"I book.","thoughtSignature":"YQ=="}`, `,"thoughtSignature":"skip_thought_signature_validator"}`
	unsigned := []part{{Text: 7, Signature: "YQ=="}, {Call: 1}, {Call: 2}}
	assert.Equal(t, []string{text, first + unchecked, second + "}"}, show("gemini-3-flash-preview", unsigned...))
	const nameless = `{"functionCall":{"name":"f","args":{}}}`
	assert.Equal(t, []string{text, nameless, nameless}, show("gemini-2.5-pro", unsigned...), "not needed")
	assert.Equal(t, []string{`{"text":"I book."}`, first + unchecked, second + `,"thoughtSignature":"Yg=="}`},
		show("gemini-3-pro", part{Text: 7}, part{Call: 1}, part{Call: 2, Signature: "Yg=="}))
}

// Models before Gemini 3 give no ids, and servers of theirs refuse to get any
// (https://github.com/NousResearch/hermes-agent/pull/80683, https://github.com/vercel/ai/issues/15664).
func TestCallsHaveIdsWhereTheModelHas(t *testing.T) {
	said := []message.Message{{Role: message.User, Text: "Hi."},
		{Role: message.Assistant, Calls: []message.Call{{ID: "c1", Name: "f", Arguments: "{}"}}},
		{Role: message.Tool, CallID: "c1", Name: "f", Text: "1"}}
	show := func(model string) string {
		turns, _ := turnsOf(said, model)
		return string(turns[1].Parts[0]) + string(turns[2].Parts[0])
	}
	assert.Equal(t, `{"functionCall":{"name":"f","args":{}}}{"functionResponse":{"name":"f","response":{"output":1}}}`, show("models/gemini-2.5-flash"))
	assert.Contains(t, show("gemini-3-pro"), `"functionCall":{"id":"c1",`)
	assert.Contains(t, show("gemini-3-pro"), `"functionResponse":{"id":"c1",`)
	assert.Contains(t, show("projects/p/locations/l/endpoints/7"), `"functionResponse":{"id":"c1",`)
}
