package openai

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// asMap converts an object to the map that the SDK wants. Nested objects keep their order.
func asMap(o wire.Object) map[string]any {
	m := make(map[string]any, len(o))
	for _, v := range o {
		m[v.Name] = v.Value
	}
	return m
}

// complete adds what the API requires and JSON Schema does not: an array's items and an object's
// properties.
func complete(doc json.RawMessage) json.RawMessage {
	doc, _ = wire.Downgrade{To: wire.OpenAI(), Each: completed}.Schema(doc)
	return doc
}

func completed(o wire.Object, convert func(wire.Object) wire.Object) wire.Object {
	o = convert(o)
	switch o.Text("type") {
	case "array":
		if o.Get("items") == nil && o.Get("prefixItems") == nil {
			o = o.With("items", json.RawMessage(`{}`))
		}
	case "object":
		if o.Get("properties") == nil {
			o = o.With("properties", json.RawMessage(`{}`))
		}
	}
	return o
}
