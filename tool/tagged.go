package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/internal/canon"
)

// typed gives arguments that stood in tags the types of the schema: where that takes no string, the text of an argument is read
// as the value it writes. What is no such value stays a string, for the schema to judge.
func (in *reader) typed(t *Tool, c *extract.Call) (args []byte, repairs []extract.Repair) {
	at := slices.IndexFunc(c.Repairs, func(r extract.Repair) bool { return r.Kind == extract.TaggedArguments })
	var all members
	if at < 0 || canon.Unmarshal(c.Arguments, &all) != nil {
		return c.Arguments, c.Repairs
	}
	s := in.schemaOf(t)
	args, repairs = append(args, '{'), slices.Clone(c.Repairs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value := []byte(all[name])
		if s.properties.has(name) && !s.takesText(s.properties[name], value, maxHops) {
			var took []extract.Repair
			value, took = literal(value, in.settings.options())
			for _, r := range took {
				repairs = insert(repairs, extract.Repair{Kind: r.Kind, Offset: c.Repairs[at].Offset})
			}
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args, _ = canon.AppendString(args, name)
		args = append(append(args, ':'), value...)
	}
	return append(args, '}'), repairs
}

// literal is the value that a JSON string writes, with nothing around it; else the string itself.
func literal(quoted []byte, opt extract.Options) (value []byte, repairs []extract.Repair) {
	var text string
	if canon.Unmarshal(quoted, &text) != nil {
		return quoted, nil
	}
	value, repairs, _ = extract.Value(text, opt)
	beside := func(r extract.Repair) bool { return slices.Contains(around, r.Kind) }
	if value == nil || slices.ContainsFunc(repairs, beside) {
		return quoted, nil
	}
	return value, repairs
}

// insert puts a repair among others that are sorted by offset and kind, once.
func insert(repairs []extract.Repair, own extract.Repair) []extract.Repair {
	at := 0
	for _, r := range repairs {
		if r == own {
			return repairs
		}
		if r.Offset < own.Offset || r.Offset == own.Offset && r.Kind < own.Kind {
			at++
		}
	}
	return slices.Insert(repairs, at, own)
}

// maxHops bounds the references and alternatives that are followed to a type.
const maxHops = 8

// schemaText is a schema as JSON, by its members.
type schemaText struct{ top, properties members }

// schemaOf reads the schema of a tool once for all calls of a reply.
func (in *reader) schemaOf(t *Tool) *schemaText {
	s := in.schemas[t]
	if s == nil {
		top := object(t.schema.JSON())
		s = &schemaText{top, object(top["properties"])}
		if in.schemas == nil {
			in.schemas = map[*Tool]*schemaText{}
		}
		in.schemas[t] = s
	}
	return s
}

// takesText reports whether a string as written may stand where a part of the schema holds; true where that is not told.
func (s *schemaText) takesText(part, written json.RawMessage, hops int) bool {
	p := object(part)
	if hops == 0 || p == nil {
		return true
	}
	for _, key := range [...]string{"const", "enum", "type"} {
		if p.has(key) {
			return tells(key, p[key], written)
		}
	}
	if p.has("$ref") {
		return s.takesText(s.resolve(p["$ref"]), written, hops-1)
	}
	takes := func(part json.RawMessage) bool { return s.takesText(part, written, hops-1) }
	for _, key := range [...]string{"anyOf", "oneOf", "allOf"} {
		var parts []json.RawMessage
		if !p.has(key) || canon.Unmarshal(p[key], &parts) != nil {
			continue
		}
		if key == "allOf" {
			return !slices.ContainsFunc(parts, func(part json.RawMessage) bool { return !takes(part) })
		}
		return slices.ContainsFunc(parts, func(part json.RawMessage) bool { return takes(part) && lists(object(part), written) })
	}
	return true
}

// tells reports whether what a keyword says lets a string pass: of values of several kinds one that is listed.
func tells(key string, says, written json.RawMessage) bool {
	var several []json.RawMessage
	if canon.Unmarshal(says, &several) != nil || key == "const" {
		several = []json.RawMessage{says}
	}
	isOther := func(one json.RawMessage) bool { return !strings.HasPrefix(string(one), `"`) }
	if key == "type" {
		return slices.ContainsFunc(several, func(one json.RawMessage) bool { return string(one) == `"string"` })
	}
	return !slices.ContainsFunc(several, isOther) || hasText(several, written)
}

// lists reports whether an alternative with a list of values lists a string as written.
func lists(way members, written json.RawMessage) bool {
	var several []json.RawMessage
	switch {
	case way.has("const"):
		several = []json.RawMessage{way["const"]}
	case !way.has("enum") || canon.Unmarshal(way["enum"], &several) != nil:
		return true
	}
	return hasText(several, written)
}

func hasText(several []json.RawMessage, written json.RawMessage) bool {
	return slices.ContainsFunc(several, func(one json.RawMessage) bool { return sameText(one, written) })
}

// sameText reports whether two JSON strings say the same.
func sameText(a, b json.RawMessage) bool {
	var one, other string
	return canon.Unmarshal(a, &one) == nil && canon.Unmarshal(b, &other) == nil && one == other
}

// resolve is the part of the schema that a reference within it names; nil where it names none.
func (s *schemaText) resolve(ref json.RawMessage) json.RawMessage {
	var path string
	if canon.Unmarshal(ref, &path) != nil {
		return nil
	}
	part, within := s.top, strings.HasPrefix(path, "#/")
	steps := strings.Split(strings.TrimPrefix(path, "#/"), "/")
	for n, step := range steps {
		if !within || !part.has(step) {
			break
		}
		if n == len(steps)-1 {
			return part[step]
		}
		part = object(part[step])
	}
	return nil
}

func object(text json.RawMessage) (m members) {
	if canon.Unmarshal(text, &m) != nil {
		return nil
	}
	return m
}
