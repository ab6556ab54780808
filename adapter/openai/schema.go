package openai

import (
	"encoding/json"

	"github.com/retake-go/retake/adapter/kit"
)

// asMap converts an object to the map that the SDK wants. Nested objects keep their order.
func asMap(o kit.Object) map[string]any {
	m := make(map[string]any, len(o))
	for _, v := range o {
		m[v.Name] = v.Value
	}
	return m
}

// complete adds what the API requires and JSON Schema does not: an array's items and an object's
// properties.
func complete(doc json.RawMessage) json.RawMessage {
	doc, _ = kit.Downgrade{To: kit.OpenAI(), Each: completed}.Schema(doc)
	return doc
}

func completed(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
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
