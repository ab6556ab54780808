package genai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// taken are the keywords of JSON Schema that the API accepts.
var taken = []string{
	"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
	"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
}

// told are the other keywords that can move into the description.
var told = []string{
	"pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "minProperties", "maxProperties",
}

// parameters converts the schema of a tool.
func parameters(raw []byte) json.RawMessage {
	o, ok := wire.ReadObject(narrow(raw))
	if !ok {
		o = nil
	}
	if o.Get("type") == nil && o.Get("$ref") == nil && o.Get("anyOf") == nil {
		o = append(wire.Object{wire.Field("type", json.RawMessage(`"object"`))}, o...)
	}
	return o.JSON()
}

// narrow converts a schema to the keywords that the API accepts. It moves the others into the description
// or drops them: the core checks against the whole schema.
func narrow(raw json.RawMessage) json.RawMessage {
	o, ok := wire.ReadObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	out, notes := wire.Object{}, []string{}
	for _, m := range o {
		switch m.Name {
		case "definitions":
			m.Name = "$defs"
		case "const":
			m = wire.Field("enum", wire.List(m.Value))
		}
		switch {
		case slices.Contains(told, m.Name):
			notes = append(notes, fmt.Sprintf("%s %s", m.Name, m.Value))
		case slices.Contains(taken, m.Name) && out.Get(m.Name) == nil:
			if v := keyword(m.Name, m.Value); v != nil {
				out = append(out, wire.Field(m.Name, v))
			}
		}
	}
	return alone(noted(out, notes)).JSON()
}

// keyword converts the value of one keyword; nil if the API would refuse it.
func keyword(name string, value json.RawMessage) json.RawMessage {
	switch name {
	case "properties", "$defs":
		o, ok := wire.ReadObject(value)
		if !ok {
			return nil
		}
		for n := range o {
			o[n].Value = narrow(o[n].Value)
		}
		return o.JSON()
	case "items":
		return narrow(value)
	case "title", "description":
		if _, ok := wire.ReadText(value); !ok {
			return nil
		}
	case "additionalProperties":
		if _, isSchema := wire.ReadObject(value); isSchema {
			return narrow(value)
		}
	case "anyOf", "oneOf", "prefixItems":
		return each(value, narrow)
	case "enum":
		return each(value, scalar)
	case "$ref":
		ref, ok := wire.ReadText(value)
		if !ok {
			return nil
		}
		return wire.Quote(strings.Replace(ref, "#/definitions/", "#/$defs/", 1))
	}
	return value
}

// each maps a list and drops values that become nil; nil if nothing is left.
func each(list json.RawMessage, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var kept []json.RawMessage
	for _, v := range wire.Items(list) {
		if v = change(v); v != nil {
			kept = append(kept, v)
		}
	}
	if kept == nil {
		return nil
	}
	return wire.List(kept...)
}

// scalar reports whether a value is a string or a number, the only values that the API accepts in an enum.
func scalar(v json.RawMessage) json.RawMessage {
	if len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
		return v
	}
	return nil
}

// noted adds notes to the description of an object.
func noted(o wire.Object, notes []string) wire.Object {
	if len(notes) == 0 {
		return o
	}
	note := "(" + strings.Join(notes, ", ") + ")"
	for n := range o {
		if said, ok := wire.ReadText(o[n].Value); ok && o[n].Name == "description" {
			o[n].Value = wire.Quote(said + " " + note)
			return o
		}
	}
	return append(o, wire.Field("description", wire.Quote(note)))
}

// alone separates a reference from the keywords beside it: the API accepts none there.
func alone(o wire.Object) wire.Object {
	ref := o.Get("$ref")
	beside := slices.DeleteFunc(slices.Clone(o),
		func(m wire.Member) bool { return strings.HasPrefix(m.Name, "$") })
	if ref == nil || len(beside) == 0 || o.Get("anyOf") != nil {
		return o
	}
	return append(o.Without("$ref"), wire.Field("anyOf", wire.List(wire.Object{wire.Field("$ref",
		ref)}.JSON())))
}
