package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// member is one member of a JSON object. Schemas keep the order of theirs: models tend to answer in it.
type member struct {
	name  string
	value json.RawMessage
}

// object is a JSON object in order.
type object []member

// readObject reads the members of an object; false where doc is none.
func readObject(doc []byte) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	o := object{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		m := member{name: name}
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		o = append(o, m)
	}
	return o, true
}

// readList reads the items of a list; false where doc is none.
func readList(doc []byte) ([]json.RawMessage, bool) {
	var items []json.RawMessage
	return items, json.Unmarshal(doc, &items) == nil && items != nil
}

// JSON is the object as text.
func (o object) JSON() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for n, m := range o {
		if n > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

func (o object) get(name string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with is the object with a member set, at its place or at the end.
func (o object) with(name string, value json.RawMessage) object {
	o = slices.Clone(o)
	for n := range o {
		if o[n].name == name {
			o[n].value = value
			return o
		}
	}
	return append(o, member{name, value})
}

// asMap is the object for the SDK, which wants a map; what lies deeper keeps its order.
func (o object) asMap() map[string]any {
	m := make(map[string]any, len(o))
	for _, v := range o {
		m[v.name] = v.value
	}
	return m
}

// quote is a string as JSON. HTML characters stay as they are: a pattern is to be read by a model.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// text is a JSON string's value; empty where it is none.
func text(v json.RawMessage) (s string) {
	_ = json.Unmarshal(v, &s)
	return s
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
func rewrite(doc json.RawMessage, depth int, f func(o object, depth int) object) json.RawMessage {
	o, ok := readObject(doc)
	if !ok || depth > deepest {
		return doc
	}
	for n := range o {
		m := &o[n]
		if slices.Contains(oneSchema, m.name) {
			m.value = rewrite(m.value, depth+1, f)
		}
		if items, ok := readList(m.value); ok && slices.Contains(listOfSchemas, m.name) {
			for i := range items {
				items[i] = rewrite(items[i], depth+1, f)
			}
			m.value = joinList(items)
		}
		if named, ok := readObject(m.value); ok && slices.Contains(schemasByNames, m.name) {
			for i := range named {
				named[i].value = rewrite(named[i].value, depth+1, f)
			}
			m.value = named.JSON()
		}
	}
	return f(o, depth).JSON()
}

func joinList(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for n, item := range items {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, item...)
	}
	return append(b, ']')
}

// notForModels are members of a schema that say nothing to a model, and that some servers refuse.
var notForModels = []string{"$schema", "$comment", "x-echo"}

// complete adds what the API wants spelled out and JSON Schema does not: an array's items, an object's properties.
func complete(doc json.RawMessage) json.RawMessage {
	return rewrite(doc, 0, func(o object, _ int) object {
		o = slices.DeleteFunc(o, func(m member) bool { return slices.Contains(notForModels, m.name) })
		switch text(o.get("type")) {
		case "array":
			if o.get("items") == nil && o.get("prefixItems") == nil {
				o = o.with("items", json.RawMessage(`{}`))
			}
		case "object":
			if o.get("properties") == nil {
				o = o.with("properties", json.RawMessage(`{}`))
			}
		}
		return o
	})
}
