package ollama

import "encoding/json"

// name identifies this adapter in errors and in the opaque part of a message.
const name = "ollama"

// opaque is the part of a message that only the model reads: the thoughts that came with it.
type opaque struct {
	Adapter  string `json:"adapter"`
	Model    string `json:"model"`
	Thinking string `json:"thinking"`
}

// keepThoughts encodes thoughts; it is empty if there are none.
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

// thoughtsIn returns the thoughts of a model. It ignores what another adapter or another model wrote.
func thoughtsIn(kept, model string) string {
	var o opaque
	if kept == "" || json.Unmarshal([]byte(kept), &o) != nil || o.Adapter != name || o.Model != model {
		return ""
	}
	return o.Thinking
}
