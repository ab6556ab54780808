package wire

import (
	"encoding/json"
	"slices"
)

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

// EachSchema has every schema within doc, innermost first, and doc itself, made anew by f, which is told how
// deep it lies. What is no object stays as it is: true and false are schemas, too.
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
