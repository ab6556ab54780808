package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// The API's bounds on the schema of an answer.
const (
	maxOptional = 24 // properties that may be absent
	maxUnions   = 16 // alternatives of types
)

// outputSchema converts a schema into the part of JSON Schema that the API accepts for answers; false if
// that is not possible. Rules that the API cannot enforce (bounds, lengths, patterns) become words in the
// descriptions: the core checks the answer against the whole schema anyway. Properties that the schema
// leaves open are forbidden, which only narrows it.
func outputSchema(raw []byte) (json.RawMessage, bool) {
	root, ok := wire.ReadObject(raw)
	if !ok || root.Text("type") != "object" {
		return nil, false
	}
	s := subset{definitions: map[string]json.RawMessage{}, flat: map[string]bool{}}
	for _, name := range [...]string{"$defs", "definitions"} {
		defs, _ := wire.ReadObject(root.Get(name))
		for _, d := range defs {
			s.definitions["#/"+name+"/"+d.Name] = d.Value
		}
	}
	for _, m := range root {
		if s.recurs(m.Value, nil) {
			return nil, false
		}
	}
	out := s.schema(raw)
	return out, !s.refused && s.optional <= maxOptional && s.unions <= maxUnions
}

// subset is a schema under conversion.
type subset struct {
	definitions map[string]json.RawMessage
	// flat are the definitions that are known not to be recursive.
	flat             map[string]bool
	optional, unions int
	// refused is set if the API cannot accept the schema in any form.
	refused bool
}

// treatment is the way in which a keyword is converted.
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

// formats are the formats that the API enforces.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6",
	"uuid"}

func (s *subset) schema(raw json.RawMessage) json.RawMessage {
	list, ok := wire.ReadObject(raw)
	if !ok {
		s.refused = true
		return raw
	}
	if ref := list.Get("$ref"); ref != nil {
		s.refused = s.refused || s.definitions[wire.Text(ref)] == nil
		return wire.Object{wire.Field("$ref", ref)}.JSON()
	}
	s.shape(list)
	var out wire.Object
	var said []string
	for _, m := range list {
		value, words := s.keyword(m)
		if value != nil {
			out = append(out, wire.Field(map[bool]string{true: "anyOf", false: m.Name}[m.Name == "oneOf"],
				value))
		}
		if words != "" {
			said = append(said, words)
		}
	}
	if list.Get("properties") != nil || isType(list, "object") {
		out = append(out, wire.Field("additionalProperties", json.RawMessage("false")))
	}
	if about := describe(list.Text("description"), said); about != "" {
		out = append(out, wire.Field("description", wire.Quote(about)))
	}
	return out.JSON()
}

// keyword converts one member of a schema: to a value in the same place, or to words for the description.
func (s *subset) keyword(m wire.Member) (value json.RawMessage, words string) {
	t, known := treatments[m.Name]
	if !known && strings.HasPrefix(m.Name, "x-") {
		t = drop
	}
	switch t {
	case keep:
		return m.Value, ""
	case drop:
		return nil, ""
	case say:
		return nil, m.Name + " " + compact(m.Value)
	case nest:
		return s.schema(m.Value), ""
	case nestAll:
		return s.nestAll(m), ""
	case nestMap:
		return s.nestMap(m.Value), ""
	case special:
		return s.special(m)
	}
	s.refused = true
	return nil, ""
}

func (s *subset) nestAll(m wire.Member) json.RawMessage {
	if m.Name != "allOf" {
		s.unions++
	}
	list := wire.Items(m.Value)
	out := make([]string, len(list))
	for n, item := range list {
		within, _ := wire.ReadObject(item)
		s.refused = s.refused || m.Name == "allOf" && within.Get("$ref") != nil
		out[n] = string(s.schema(item))
	}
	s.refused = s.refused || len(out) == 0
	return json.RawMessage("[" + strings.Join(out, ",") + "]")
}

func (s *subset) nestMap(raw json.RawMessage) json.RawMessage {
	list, ok := wire.ReadObject(raw)
	s.refused = s.refused || !ok
	out := make(wire.Object, len(list))
	for n, m := range list {
		out[n] = wire.Field(m.Name, s.schema(m.Value))
	}
	return out.JSON()
}

// special converts the keywords of which the API accepts only some values.
func (s *subset) special(m wire.Member) (value json.RawMessage, words string) {
	switch v := compact(m.Value); m.Name {
	case "type":
		if strings.HasPrefix(v, "[") {
			s.unions++
		}
	case "enum":
		s.refused = s.refused || !scalars(m.Value)
	case "const":
		s.refused = s.refused || isObject(m.Value) || strings.HasPrefix(v, "[")
	case "format":
		if !slices.Contains(formats, wire.Text(m.Value)) {
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
	return m.Value, ""
}

// shape refuses a schema that says too little, and counts optional members.
func (s *subset) shape(list wire.Object) {
	says := slices.ContainsFunc(list, func(m wire.Member) bool {
		return slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf", "allOf"}, m.Name)
	})
	properties, _ := wire.ReadObject(list.Get("properties"))
	required := map[string]bool{}
	for _, item := range wire.Items(list.Get("required")) {
		required[wire.Text(item)] = true
	}
	for _, p := range properties {
		if !required[p.Name] {
			s.optional++
		}
		delete(required, p.Name)
	}
	open := isType(list, "object") && list.Get("properties") == nil && list.Get("additionalProperties") == nil
	twice := list.Get("anyOf") != nil && list.Get("oneOf") != nil
	s.refused = s.refused || !says || open || twice || len(required) > 0 ||
		isType(list, "array") && list.Get("items") == nil
}

// recurs reports whether a schema refers to a definition that contains it.
func (s *subset) recurs(raw json.RawMessage, within []string) bool {
	if list, ok := wire.ReadObject(raw); ok {
		ref := list.Text("$ref")
		if ref != "" && slices.Contains(within, ref) {
			return true
		}
		if target := s.definitions[ref]; target != nil && !s.flat[ref] {
			if s.recurs(target, append(slices.Clone(within), ref)) {
				return true
			}
			s.flat[ref] = true
		}
		return slices.ContainsFunc(list, func(m wire.Member) bool { return s.recurs(m.Value, within) })
	}
	return slices.ContainsFunc(wire.Items(raw),
		func(item json.RawMessage) bool { return s.recurs(item, within) })
}

// isType reports whether a schema accepts values of the named type.
func isType(list wire.Object, name string) bool {
	t := list.Get("type")
	return wire.Text(t) == name ||
		slices.ContainsFunc(wire.Items(t), func(item json.RawMessage) bool { return wire.Text(item) == name })
}

// scalars reports whether a list holds neither lists nor objects.
func scalars(raw json.RawMessage) bool {
	list := wire.Items(raw)
	return len(list) > 0 &&
		!slices.ContainsFunc(list,
			func(v json.RawMessage) bool { return isObject(v) || wire.Items(v) != nil })
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
