package openai

import (
	"encoding/json"
	"slices"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// asMap is an object for the SDK, which wants a map; what lies deeper keeps its order.
func asMap(o wire.Object) map[string]any {
	m := make(map[string]any, len(o))
	for _, v := range o {
		m[v.Name] = v.Value
	}
	return m
}

// Where a schema has schemas: as the member's value, in a list, or by name.
var (
	oneSchema = []string{
		"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties",
	}
	listOfSchemas  = []string{"anyOf", "allOf", "oneOf", "prefixItems", "items"}
	schemasByNames = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// deepest is how many schemas within one another are looked at. What lies deeper is left as it is.
const deepest = 100

// rewrite has every schema within doc, innermost first, and doc itself, made anew by f.
func rewrite(doc json.RawMessage, depth int, f func(o wire.Object, depth int) wire.Object) json.RawMessage {
	o, ok := wire.ReadObject(doc)
	if !ok || depth > deepest {
		return doc
	}
	for n := range o {
		m := &o[n]
		if slices.Contains(oneSchema, m.Name) {
			m.Value = rewrite(m.Value, depth+1, f)
		}
		if items := wire.Items(m.Value); items != nil && slices.Contains(listOfSchemas, m.Name) {
			for i := range items {
				items[i] = rewrite(items[i], depth+1, f)
			}
			m.Value = wire.List(items...)
		}
		if named, ok := wire.ReadObject(m.Value); ok && slices.Contains(schemasByNames, m.Name) {
			for i := range named {
				named[i].Value = rewrite(named[i].Value, depth+1, f)
			}
			m.Value = named.JSON()
		}
	}
	return f(o, depth).JSON()
}

// notForModels are members of a schema that say nothing to a model, and that some servers refuse.
var notForModels = []string{"$schema", "$comment", "x-echo"}

// complete adds what the API wants spelled out and JSON Schema does not: an array's items, an object's properties.
func complete(doc json.RawMessage) json.RawMessage {
	return rewrite(doc, 0, func(o wire.Object, _ int) wire.Object {
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
