package ollama

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// maxRefs bounds how many references of one schema are expanded: a few can stand for very many.
const maxRefs = 200

// toolSchema converts the schema of a tool to what the server reads: type, description, enum, properties,
// items, required and anyOf. The server knows no references, so they are expanded. It refuses true and
// false as schemas: they become one that accepts anything. Feedback tells the model the rest.
func toolSchema(raw []byte) json.RawMessage {
	root, ok := wire.ReadObject(raw)
	if !ok {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	s := simplifier{root: root}
	o := s.object(root.Without("$schema", "$id", "$defs", "definitions"))
	if o.Get("type") == nil {
		o = append(wire.Object{wire.Field("type", json.RawMessage(`"object"`))}, o...)
	}
	if o.Get("properties") == nil {
		o = append(o, wire.Field("properties", json.RawMessage("{}")))
	}
	return o.JSON()
}

type simplifier struct {
	root wire.Object
	// open are the references under expansion. One that leads back to itself is dropped.
	open []string
	refs int
}

func (s *simplifier) schema(raw json.RawMessage) json.RawMessage {
	o, ok := wire.ReadObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	return s.object(o).JSON()
}

func (s *simplifier) object(o wire.Object) wire.Object {
	if ref, isRef := wire.ReadText(o.Get("$ref")); isRef {
		return s.written(ref, o.Without("$ref"))
	}
	out := wire.Object{}
	for _, m := range o {
		switch m.Name {
		case "properties":
			m.Value = s.properties(m.Value)
		case "items":
			m.Value = s.schema(m.Value)
		case "anyOf", "oneOf":
			m = wire.Field("anyOf", s.list(m.Value))
		case "const":
			m = wire.Field("enum", wire.List(m.Value))
		}
		if out.Get(m.Name) == nil {
			out = append(out, m)
		}
	}
	return out
}

// written expands a reference, with the keywords beside it.
func (s *simplifier) written(ref string, beside wire.Object) wire.Object {
	target, ok := s.find(ref)
	if !ok || slices.Contains(s.open, ref) || s.refs >= maxRefs {
		return s.object(beside)
	}
	s.refs++
	s.open = append(s.open, ref)
	for _, m := range target {
		if beside.Get(m.Name) == nil {
			beside = append(beside, m)
		}
	}
	out := s.object(beside)
	s.open = s.open[:len(s.open)-1]
	return out
}

// find resolves a reference within the document.
func (s *simplifier) find(ref string) (wire.Object, bool) {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil, false
	}
	at := s.root
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	for _, name := range strings.Split(path, "/") {
		if at, ok = wire.ReadObject(at.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(name))); !ok {
			return nil, false
		}
	}
	return at, true
}

func (s *simplifier) properties(raw json.RawMessage) json.RawMessage {
	o, ok := wire.ReadObject(raw)
	if !ok {
		return json.RawMessage("{}")
	}
	for n := range o {
		o[n].Value = s.schema(o[n].Value)
	}
	return o.JSON()
}

func (s *simplifier) list(raw json.RawMessage) json.RawMessage {
	all := wire.Items(raw)
	for n := range all {
		all[n] = s.schema(all[n])
	}
	return wire.List(all...)
}

// formatSchema converts a schema for the server's grammar, which refuses patterns that are not anchored at
// both ends: they are dropped. The core checks the answer against them.
func formatSchema(raw json.RawMessage) json.RawMessage {
	return wire.EachSchema(raw, func(o wire.Object, _ int) wire.Object {
		if p, isText := wire.ReadText(o.Get("pattern")); isText &&
			!(strings.HasPrefix(p, "^") && strings.HasSuffix(p, "$")) {
			return o.Without("pattern")
		}
		return o
	})
}
