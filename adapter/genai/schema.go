package genai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// taken are the keywords of JSON Schema that the API takes.
var taken = []string{
	"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems",
	"minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
}

// told are keywords that it does not take, and that can be told in the description instead.
var told = []string{
	"pattern", "minLength", "maxLength", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "minProperties", "maxProperties",
}

// parameters is a tool's schema as the API takes it.
func parameters(raw []byte) json.RawMessage {
	o, ok := readObject(narrow(raw))
	if !ok {
		o = nil
	}
	if o.get("type") == nil && o.get("$ref") == nil && o.get("anyOf") == nil {
		o = append(object{{"type", json.RawMessage(`"object"`)}}, o...)
	}
	return o.json()
}

// narrow is a schema in the keywords that the API takes. What it cannot say is told in the description or left out: the core holds what
// comes to the whole of it.
func narrow(raw json.RawMessage) json.RawMessage {
	o, ok := readObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	out, notes := object{}, []string{}
	for _, m := range o {
		switch m.name {
		case "definitions":
			m.name = "$defs"
		case "const":
			m = member{"enum", slices.Concat(json.RawMessage("["), m.value, json.RawMessage("]"))}
		}
		switch {
		case slices.Contains(told, m.name):
			notes = append(notes, fmt.Sprintf("%s %s", m.name, m.value))
		case slices.Contains(taken, m.name) && out.get(m.name) == nil:
			if v := keyword(m.name, m.value); v != nil {
				out = append(out, member{m.name, v})
			}
		}
	}
	return alone(out.noted(notes)).json()
}

// keyword is the value of one keyword; nil where the API would refuse it.
func keyword(name string, value json.RawMessage) json.RawMessage {
	switch name {
	case "properties", "$defs":
		o, ok := readObject(value)
		if !ok {
			return nil
		}
		for n := range o {
			o[n].value = narrow(o[n].value)
		}
		return o.json()
	case "items":
		return narrow(value)
	case "title", "description":
		if _, ok := text(value); !ok {
			return nil
		}
	case "additionalProperties":
		if _, isSchema := readObject(value); isSchema {
			return narrow(value)
		}
	case "anyOf", "oneOf", "prefixItems":
		return each(value, narrow)
	case "enum":
		return each(value, scalar)
	case "$ref":
		ref, ok := text(value)
		if !ok {
			return nil
		}
		return quoted(strings.Replace(ref, "#/definitions/", "#/$defs/", 1))
	}
	return value
}

// each is a list with its values changed, those left out that become nil; nil where nothing is left.
func each(list json.RawMessage, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(list, &all) != nil {
		return nil
	}
	var texts []string
	for _, v := range all {
		if v = change(v); v != nil {
			texts = append(texts, string(v))
		}
	}
	if texts == nil {
		return nil
	}
	return json.RawMessage("[" + strings.Join(texts, ",") + "]")
}

// scalar is a string or a number: the API takes no other value in an enum.
func scalar(v json.RawMessage) json.RawMessage {
	if len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
		return v
	}
	return nil
}

// noted is the object with notes in its description.
func (o object) noted(notes []string) object {
	if len(notes) == 0 {
		return o
	}
	note := "(" + strings.Join(notes, ", ") + ")"
	for n := range o {
		if said, ok := text(o[n].value); ok && o[n].name == "description" {
			o[n].value = quoted(said + " " + note)
			return o
		}
	}
	return append(o, member{"description", quoted(note)})
}

// alone keeps a reference apart from what stands beside it: the API takes nothing there.
func alone(o object) object {
	ref := o.get("$ref")
	beside := slices.DeleteFunc(slices.Clone(o), func(m member) bool { return strings.HasPrefix(m.name, "$") })
	if ref == nil || len(beside) == 0 || o.get("anyOf") != nil {
		return o
	}
	return append(o.without("$ref"), member{"anyOf", slices.Concat(json.RawMessage("["), object{{"$ref", ref}}.json(), json.RawMessage("]"))})
}
