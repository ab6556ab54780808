package ollama

import "encoding/json"

// name is how this adapter calls its provider, in errors and in what it keeps in a message.
const name = "ollama"

// opaque is what a message keeps: the thoughts that it came with, for the model that had them.
type opaque struct {
	Adapter  string `json:"adapter"`
	Model    string `json:"model"`
	Thinking string `json:"thinking"`
}

// keepThoughts is empty where there is nothing to keep.
func keepThoughts(model, thinking string) string {
	if thinking == "" {
		return ""
	}
	doc, err := json.Marshal(opaque{name, model, thinking})
	if err != nil {
		return ""
	}
	return string(doc)
}

// thoughtsIn are those that a model had; what another adapter or another model left is ignored.
func thoughtsIn(kept, model string) string {
	var o opaque
	if kept == "" || json.Unmarshal([]byte(kept), &o) != nil || o.Adapter != name || o.Model != model {
		return ""
	}
	return o.Thinking
}
