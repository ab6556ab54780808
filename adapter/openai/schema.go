package openai

import (
	"encoding/json"
	"slices"

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

// notForModels are members of a schema that mean nothing to a model, and that some servers refuse.
var notForModels = []string{"$schema", "$comment", "x-echo"}

// complete adds what the API requires and JSON Schema does not: an array's items and an object's
// properties.
func complete(doc json.RawMessage) json.RawMessage {
	return wire.EachSchema(doc, func(o wire.Object, _ int) wire.Object {
		o = slices.DeleteFunc(o, func(m wire.Member) bool { return slices.Contains(notForModels, m.Name) })
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
	})
}
