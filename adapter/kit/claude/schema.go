package claude

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/schema"
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
	root, ok := kit.ReadObject(raw)
	if !ok || root.Text("type") != "object" {
		return nil, false
	}
	s := subset{definitions: map[string]json.RawMessage{}, flat: map[string]bool{}}
	for _, name := range [...]string{"$defs", "definitions"} {
		defs := root.Object(name)
		for _, d := range defs {
			s.definitions["#/"+name+"/"+d.Name] = d.Value
		}
	}
	for _, m := range root {
		if s.recurs(m.Value, nil) {
			return nil, false
		}
	}
	out, ok := kit.Downgrade{To: kit.Anthropic(), Check: s.check, Each: s.each}.Schema(raw)
	return out, ok && !s.refused && s.optional <= maxOptional && s.unions <= maxUnions
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

// formats are the formats that the API enforces.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6",
	"uuid"}

// each converts one schema.
func (s *subset) each(from kit.Object, convert func(kit.Object) kit.Object) kit.Object {
	if ref := from.Get("$ref"); ref != nil {
		s.refused = s.refused || s.definitions[kit.Text(ref)] == nil
		return kit.Object{kit.Field("$ref", ref)}
	}
	s.shape(from)
	out := convert(from)
	about := out.Text("description")
	out = out.Without("description")
	if from.Get("properties") != nil || kit.Accepts(from, "object") {
		out = append(out, kit.Field("additionalProperties", json.RawMessage("false")))
	}
	if about != "" {
		out = append(out, kit.TextField("description", about))
	}
	return out
}

// check treats the keywords of which the API accepts only some values.
func (s *subset) check(m *kit.Member) kit.Treatment {
	accepted, otherwise := false, kit.Refuse
	switch m.Name {
	case "enum":
		accepted = scalars(m.Value)
	case "const":
		accepted = !isObject(m.Value) && kit.Items(m.Value) == nil
	case "format":
		accepted, otherwise = slices.Contains(formats, kit.Text(m.Value)), kit.Say
	case "minItems":
		accepted, otherwise = string(m.Value) == "0" || string(m.Value) == "1", kit.Say
	case "additionalProperties": // false stands in every object that is sent
		if string(m.Value) == "false" {
			return kit.Drop
		}
	}
	if accepted {
		return kit.Keep
	}
	return otherwise
}

// shape refuses a schema that says too little, and counts optional members and unions.
func (s *subset) shape(list kit.Object) {
	says := slices.ContainsFunc(list, func(m kit.Member) bool {
		return slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf", "allOf"}, m.Name)
	})
	properties := list.Object("properties")
	required := map[string]bool{}
	for _, item := range list.Items("required") {
		required[kit.Text(item)] = true
	}
	for _, p := range properties {
		if !required[p.Name] {
			s.optional++
		}
		delete(required, p.Name)
	}
	for _, m := range list {
		if m.Name == "anyOf" || m.Name == "oneOf" || m.Name == "type" && kit.Items(m.Value) != nil {
			s.unions++
		}
	}
	bare := slices.ContainsFunc(list.Items("allOf"), func(item json.RawMessage) bool {
		within, _ := kit.ReadObject(item) // two objects without further members would exclude each other
		return within.Get("$ref") != nil || within.Get("properties") != nil || kit.Accepts(within, "object")
	})
	open := kit.Accepts(list, "object") && list.Get("properties") == nil &&
		list.Get("additionalProperties") == nil
	twice := list.Get("anyOf") != nil && list.Get("oneOf") != nil
	s.refused = s.refused || !says || bare || open || twice || len(required) > 0 ||
		kit.Accepts(list, "array") && list.Get("items") == nil
}

// recurs reports whether a schema refers to a definition that contains it.
func (s *subset) recurs(raw json.RawMessage, within []string) bool {
	if list, ok := kit.ReadObject(raw); ok {
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
		return slices.ContainsFunc(list, func(m kit.Member) bool { return s.recurs(m.Value, within) })
	}
	return slices.ContainsFunc(kit.Items(raw),
		func(item json.RawMessage) bool { return s.recurs(item, within) })
}

// scalars reports whether a list holds neither lists nor objects.
func scalars(raw json.RawMessage) bool {
	list := kit.Items(raw)
	return len(list) > 0 &&
		!slices.ContainsFunc(list,
			func(v json.RawMessage) bool { return isObject(v) || kit.Items(v) != nil })
}

// openObject replaces the schema of a tool that cannot be sent.
var openObject = json.RawMessage(`{"type":"object"}`)

// rulesFollow introduces, in the description of a tool, the schema that could not be sent unchanged.
const rulesFollow = "The arguments must be valid against this JSON Schema: "

// propertyName matches the names of arguments that the API accepts.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// toolSchema converts the schema of a tool into one that the API accepts: an object in Draft 2020-12,
// without alternatives at the top and without invalid names of properties. words says for the tool's
// description what is lost.
func toolSchema(raw []byte) (sent json.RawMessage, words string) {
	root, ok := kit.ReadObject(raw)
	if !ok || !namesFit(root) || !isCurrent(root) {
		return openObject, rulesFollow + string(raw)
	}
	kept := kit.Object{kit.TextField("type", "object")}
	for _, m := range root {
		switch m.Name {
		case "type", "$schema":
		case "anyOf", "oneOf", "allOf", "$ref":
			words = rulesFollow + string(raw)
		default:
			kept = append(kept, m)
		}
	}
	if root.Get("$ref") != nil {
		return openObject, words
	}
	return kept.JSON(), words
}

// isCurrent reports whether a schema that names an older draft means the same in Draft 2020-12, the only
// draft that the API reads.
func isCurrent(root kit.Object) bool {
	draft := root.Text("$schema")
	if draft == "" || strings.Contains(draft, "2020-12") {
		return true
	}
	_, err := schema.Compile(root.Without("$schema").JSON())
	return err == nil
}

// namesFit reports whether the API accepts the names of a tool's arguments. It does not look further within.
func namesFit(root kit.Object) bool {
	return !slices.ContainsFunc(root.Object("properties"),
		func(m kit.Member) bool { return !propertyName.MatchString(m.Name) })
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }
