package wire

import (
	"encoding/json"
	"slices"
)

// The keywords whose value is a schema, a list of schemas, or an object of schemas.
var (
	oneSchema = []string{
		"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties",
	}
	listOfSchemas  = []string{"anyOf", "allOf", "oneOf", "prefixItems", "items"}
	schemasByNames = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// deepest bounds the nesting of schemas that are visited. Deeper ones stay unchanged.
const deepest = 100

// EachSchema replaces every schema within doc, innermost first, and doc itself, by the result of f, which
// gets its depth. Schemas that are no object (true and false) stay unchanged.
func EachSchema(doc json.RawMessage, f func(o Object, depth int) Object) json.RawMessage {
	return eachSchema(doc, 0, f)
}

func eachSchema(doc json.RawMessage, depth int, f func(o Object, depth int) Object) json.RawMessage {
	o, ok := ReadObject(doc)
	if !ok || depth > deepest {
		return doc
	}
	for n := range o {
		m := &o[n]
		if slices.Contains(oneSchema, m.Name) {
			m.Value = eachSchema(m.Value, depth+1, f)
		}
		if items := Items(m.Value); items != nil && slices.Contains(listOfSchemas, m.Name) {
			for i := range items {
				items[i] = eachSchema(items[i], depth+1, f)
			}
			m.Value = List(items...)
		}
		if named, ok := ReadObject(m.Value); ok && slices.Contains(schemasByNames, m.Name) {
			for i := range named {
				named[i].Value = eachSchema(named[i].Value, depth+1, f)
			}
			m.Value = named.JSON()
		}
	}
	return f(o, depth).JSON()
}
