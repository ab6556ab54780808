package ollama

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxRefs bounds how many references of one schema are written out: a few can stand for a great many.
const maxRefs = 200

// toolSchema is a schema as the server reads one of a tool: type, description, enum, properties, items, required and anyOf, and
// nothing else. References are written out, for it knows none; a schema that is true or false, which it refuses, becomes one that
// takes anything. What a model is not told in this way it is told by feedback.
func toolSchema(raw []byte) json.RawMessage {
	root, ok := readObject(raw)
	if !ok {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	s := simplifier{root: root}
	o := s.object(root.without("$schema", "$id", "$defs", "definitions"))
	if o.get("type") == nil {
		o = append(object{{"type", json.RawMessage(`"object"`)}}, o...)
	}
	if o.get("properties") == nil {
		o = append(o, member{"properties", json.RawMessage("{}")})
	}
	return o.json()
}

type simplifier struct {
	root object
	// open are the references that are being written out: one that leads back to itself is left out.
	open []string
	refs int
}

func (s *simplifier) schema(raw json.RawMessage) json.RawMessage {
	o, ok := readObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	return s.object(o).json()
}

func (s *simplifier) object(o object) object {
	if ref, isRef := text(o.get("$ref")); isRef {
		return s.written(ref, o.without("$ref"))
	}
	out := object{}
	for _, m := range o {
		switch m.name {
		case "properties":
			m.value = s.properties(m.value)
		case "items":
			m.value = s.schema(m.value)
		case "anyOf", "oneOf":
			m = member{"anyOf", s.list(m.value)}
		case "const":
			m = member{"enum", slices.Concat(json.RawMessage("["), m.value, json.RawMessage("]"))}
		}
		if out.get(m.name) == nil {
			out = append(out, m)
		}
	}
	return out
}

// written is what a reference refers to, beside what stands with it.
func (s *simplifier) written(ref string, beside object) object {
	target, ok := s.find(ref)
	if !ok || slices.Contains(s.open, ref) || s.refs >= maxRefs {
		return s.object(beside)
	}
	s.refs++
	s.open = append(s.open, ref)
	for _, m := range target {
		if beside.get(m.name) == nil {
			beside = append(beside, m)
		}
	}
	out := s.object(beside)
	s.open = s.open[:len(s.open)-1]
	return out
}

// find follows a reference within the document.
func (s *simplifier) find(ref string) (object, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := s.root
	for _, name := range strings.Split(path, "/") {
		if at, ok = readObject(at.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))); !ok {
			return nil, false
		}
	}
	return at, true
}

func (s *simplifier) properties(raw json.RawMessage) json.RawMessage {
	o, ok := readObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	for n := range o {
		o[n].value = s.schema(o[n].value)
	}
	return o.json()
}

func (s *simplifier) list(raw json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return json.RawMessage("[]")
	}
	texts := make([]string, len(all))
	for n := range all {
		texts[n] = string(s.schema(all[n]))
	}
	return json.RawMessage("[" + strings.Join(texts, ",") + "]")
}

// formatSchema is a schema as the server's grammar takes it: a pattern that is not held to the whole text is refused there, and
// is left out. The core holds the answer to it all the same.
func formatSchema(raw json.RawMessage) json.RawMessage {
	if o, ok := readObject(raw); ok {
		for n := range o {
			o[n].value = formatSchema(o[n].value)
		}
		if p, isText := text(o.get("pattern")); isText && !(strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$")) {
			o = o.without("pattern")
		}
		return o.json()
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return raw
	}
	texts := make([]string, len(all))
	for n := range all {
		texts[n] = string(formatSchema(all[n]))
	}
	return json.RawMessage("[" + strings.Join(texts, ",") + "]")
}
