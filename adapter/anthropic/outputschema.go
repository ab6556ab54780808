package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The bounds that the API sets to the schema of an answer.
const (
	maxOptional = 24 // properties that may be absent
	maxUnions   = 16 // alternatives of types
)

// outputSchema says a schema in the part of JSON Schema that the API takes for answers; false where that cannot be. Rules that
// it cannot hold the model to (bounds, lengths, patterns) become words in the descriptions: the core checks the answer by
// the whole schema anyway. A property that was not forbidden is, which allows a part of what was allowed.
func outputSchema(raw []byte) (json.RawMessage, bool) {
	root, ok := members(raw)
	if !ok || text(get(root, "type")) != "object" {
		return nil, false
	}
	s := subset{definitions: map[string]json.RawMessage{}, flat: map[string]bool{}}
	for _, name := range [...]string{"$defs", "definitions"} {
		defs, _ := members(get(root, name))
		for _, d := range defs {
			s.definitions["#/"+name+"/"+d.name] = d.value
		}
	}
	for _, m := range root {
		if s.recurs(m.value, nil) {
			return nil, false
		}
	}
	out := s.schema(raw)
	return out, !s.refused && s.optional <= maxOptional && s.unions <= maxUnions
}

// subset is a schema on its way into the API's part of JSON Schema.
type subset struct {
	definitions map[string]json.RawMessage
	// flat are the definitions that are known not to come back to themselves.
	flat             map[string]bool
	optional, unions int
	// refused is set by what the API takes in no form.
	refused bool
}

// treatment says what becomes of a keyword.
type treatment int

const (
	refuse  treatment = iota // the zero value: nothing else can stand for it
	keep                     // as it is
	drop                     // it rules nothing
	say                      // into the description
	nest                     // a schema within
	nestAll                  // a list of schemas
	nestMap                  // schemas by name
	special                  // see subset.special
)

var treatments = map[string]treatment{
	"type": special, "enum": special, "const": special, "required": keep, "title": keep, "description": drop,
	"$ref": special, "format": special, "minItems": special, "additionalProperties": special,
	"items": nest, "anyOf": nestAll, "oneOf": nestAll, "allOf": nestAll,
	"properties": nestMap, "$defs": nestMap, "definitions": nestMap,
	"$schema": drop, "$id": drop, "$comment": drop, "default": drop, "examples": drop, "deprecated": drop, "readOnly": drop,
	"writeOnly": drop, "contentEncoding": say, "contentMediaType": say,
	"minimum": say, "maximum": say, "exclusiveMinimum": say, "exclusiveMaximum": say, "multipleOf": say,
	"minLength": say, "maxLength": say, "pattern": say, "maxItems": say, "uniqueItems": say,
	"minProperties": say, "maxProperties": say,
}

// formats are those that the API holds an answer to.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

func (s *subset) schema(raw json.RawMessage) json.RawMessage {
	list, ok := members(raw)
	if !ok {
		s.refused = true
		return raw
	}
	if ref := get(list, "$ref"); ref != nil {
		s.refused = s.refused || s.definitions[text(ref)] == nil
		return object(member{"$ref", ref})
	}
	s.shape(list)
	var out []member
	var said []string
	for _, m := range list {
		value, words := s.keyword(m)
		if value != nil {
			out = append(out, member{map[bool]string{true: "anyOf", false: m.name}[m.name == "oneOf"], value})
		}
		if words != "" {
			said = append(said, words)
		}
	}
	if get(list, "properties") != nil || isType(list, "object") {
		out = append(out, member{"additionalProperties", json.RawMessage("false")})
	}
	if about := describe(text(get(list, "description")), said); about != "" {
		out = append(out, member{"description", quoted(about)})
	}
	return object(out...)
}

// keyword says what becomes of one member of a schema: its value there, or words for the description.
func (s *subset) keyword(m member) (value json.RawMessage, words string) {
	t, known := treatments[m.name]
	if !known && strings.HasPrefix(m.name, "x-") {
		t = drop
	}
	switch t {
	case keep:
		return m.value, ""
	case drop:
		return nil, ""
	case say:
		return nil, m.name + " " + compact(m.value)
	case nest:
		return s.schema(m.value), ""
	case nestAll:
		return s.nestAll(m), ""
	case nestMap:
		return s.nestMap(m.value), ""
	case special:
		return s.special(m)
	}
	s.refused = true
	return nil, ""
}

func (s *subset) nestAll(m member) json.RawMessage {
	if m.name != "allOf" {
		s.unions++
	}
	list := items(m.value)
	out := make([]string, len(list))
	for n, item := range list {
		within, _ := members(item)
		s.refused = s.refused || m.name == "allOf" && get(within, "$ref") != nil
		out[n] = string(s.schema(item))
	}
	s.refused = s.refused || len(out) == 0
	return json.RawMessage("[" + strings.Join(out, ",") + "]")
}

func (s *subset) nestMap(raw json.RawMessage) json.RawMessage {
	list, ok := members(raw)
	s.refused = s.refused || !ok
	out := make([]member, len(list))
	for n, m := range list {
		out[n] = member{m.name, s.schema(m.value)}
	}
	return object(out...)
}

// special treats the keywords of which the API takes some values only.
func (s *subset) special(m member) (value json.RawMessage, words string) {
	switch v := compact(m.value); m.name {
	case "type":
		if strings.HasPrefix(v, "[") {
			s.unions++
		}
	case "enum":
		s.refused = s.refused || !scalars(m.value)
	case "const":
		s.refused = s.refused || isObject(m.value) || strings.HasPrefix(v, "[")
	case "format":
		if !slices.Contains(formats, text(m.value)) {
			return nil, "format " + v
		}
	case "minItems":
		if v != "0" && v != "1" {
			return nil, "minItems " + v
		}
	case "additionalProperties":
		s.refused = s.refused || v != "false"
		return nil, ""
	}
	return m.value, ""
}

// shape refuses a schema that says too little, and counts what may be absent.
func (s *subset) shape(list []member) {
	says := slices.ContainsFunc(list, func(m member) bool {
		return slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf", "allOf"}, m.name)
	})
	properties, _ := members(get(list, "properties"))
	required := map[string]bool{}
	for _, item := range items(get(list, "required")) {
		required[text(item)] = true
	}
	for _, p := range properties {
		if !required[p.name] {
			s.optional++
		}
		delete(required, p.name)
	}
	open := isType(list, "object") && get(list, "properties") == nil && get(list, "additionalProperties") == nil
	twice := get(list, "anyOf") != nil && get(list, "oneOf") != nil
	s.refused = s.refused || !says || open || twice || len(required) > 0 || isType(list, "array") && get(list, "items") == nil
}

// recurs reports whether a schema comes back to a definition that it stands in.
func (s *subset) recurs(raw json.RawMessage, within []string) bool {
	if list, ok := members(raw); ok {
		ref := text(get(list, "$ref"))
		if ref != "" && slices.Contains(within, ref) {
			return true
		}
		if target := s.definitions[ref]; target != nil && !s.flat[ref] {
			if s.recurs(target, append(slices.Clone(within), ref)) {
				return true
			}
			s.flat[ref] = true
		}
		return slices.ContainsFunc(list, func(m member) bool { return s.recurs(m.value, within) })
	}
	return slices.ContainsFunc(items(raw), func(item json.RawMessage) bool { return s.recurs(item, within) })
}

// isType reports whether a schema takes values of a type by name.
func isType(list []member, name string) bool {
	t := get(list, "type")
	return text(t) == name || slices.ContainsFunc(items(t), func(item json.RawMessage) bool { return text(item) == name })
}

// scalars reports whether a list holds no list and no object.
func scalars(raw json.RawMessage) bool {
	list := items(raw)
	return len(list) > 0 && !slices.ContainsFunc(list, func(v json.RawMessage) bool { return isObject(v) || items(v) != nil })
}

// describe adds rules to a description.
func describe(description string, said []string) string {
	if len(said) == 0 {
		return description
	}
	rules := "(" + strings.Join(said, ", ") + ")"
	if description == "" {
		return rules
	}
	return description + " " + rules
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
