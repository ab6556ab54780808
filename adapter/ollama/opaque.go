package ollama

import (
	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/message"
)

// name identifies this adapter in errors and in the opaque part of a message.
const name = "ollama"

// opaque is the part of a message that only the model reads: the thoughts that came with it.
type opaque struct {
	kit.Origin
	Thinking string `json:"thinking"`
}

func origin(model string) kit.Origin { return kit.Origin{Adapter: name, Model: model} }

// keepThoughts encodes thoughts; it is empty if there are none.
func keepThoughts(by kit.Origin, thinking string) string {
	if thinking == "" {
		return ""
	}
	return kit.KeepOpaque(opaque{by, thinking})
}

// thoughtsIn returns the thoughts that came with a message, if the model had them.
func thoughtsIn(m message.Message, model string) string {
	var o opaque
	if !kit.ReadOpaque(m, origin(model), &o) {
		return ""
	}
	return o.Thinking
}
