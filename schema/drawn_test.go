package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// leaves are schemas of scalars.
var leaves = []string{
	`{}`, `false`, `{"type":"string","minLength":2,"maxLength":3}`, `{"type":"string","pattern":"^[a-z]+$"}`, `{"pattern":"b"}`,
	`{"enum":["a","ab",1,null,true]}`, `{"const":"ab"}`, `{"const":1}`, `{"enum":[0.1,"a",9223372036854775808]}`, `{"const":"a","enum":["a","b"]}`, `{"enum":[{"a":1}]}`, `{"type":"boolean"}`,
	`{"type":"integer","minimum":1,"maximum":30}`, `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1.5}`, `{"minimum":0.1}`,
	`{"type":["string","null"]}`, `{"multipleOf":0.5}`, `{"type":"integer"}`, `{"not":{"const":0}}`, `{"oneOf":[{"type":"integer"},{"minimum":2}]}`,
	`{"anyOf":[{"type":"null"},{"type":"string","minLength":2}]}`, `{"if":{"type":"string"},"then":{"maxLength":2},"else":{"type":"integer"}}`,
}

// drawSchema makes a random schema.
func drawSchema(t *rapid.T, draft string, depth int) map[string]any {
	s := map[string]any{}
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		return map[string]any{"allOf": []any{json.RawMessage(rapid.SampledFrom(leaves).Draw(t, "scalar"))}}
	}
	sub := func(label string) any {
		if rapid.Bool().Draw(t, "plain") {
			return json.RawMessage(rapid.SampledFrom(leaves).Draw(t, label))
		}
		return drawSchema(t, draft, depth-1)
	}
	keywords := map[string]func(){
		"type": func() {
			s["type"] = rapid.SampledFrom([]any{"object", "array", []string{"object", "null"}}).Draw(t, "type")
		},
		"properties":   func() { s["properties"] = map[string]any{"a": sub("a"), "b": sub("b"), "c": sub("c")} },
		"required":     func() { s["required"] = rapid.SampledFrom([][]string{{"a"}, {"a", "b"}, {"d"}}).Draw(t, "required") },
		"closed":       func() { s["additionalProperties"] = false },
		"rest":         func() { s["additionalProperties"] = sub("rest") },
		"names":        func() { s["propertyNames"] = sub("names") },
		"shared names": func() { s["propertyNames"] = map[string]any{"$ref": "#/$defs/x"} },
		"counts":       func() { s["minProperties"], s["maxProperties"] = 1, 2 },
		"items":        func() { s["items"] = sub("items") },
		"tuple":        func() { tuple(s, draft, sub("first"), sub("second"), sub("rest")) },
		"short tuple":  func() { tuple(s, draft, sub("first"), sub("second"), false) },
		"dependents":   func() { s["dependentSchemas"] = map[string]any{"a": sub("if a"), "d": sub("if d")} },
		"old":          func() { s["dependencies"] = map[string]any{"a": []string{"b", "e"}, "b": sub("if b")} },
		"open tuple":   func() { tuple(s, draft, sub("first"), sub("second"), nil) },
		"left":         func() { s["unevaluatedProperties"] = rapid.SampledFrom([]any{false, sub("left")}).Draw(t, "left") },
		"left items":   func() { s["unevaluatedItems"] = rapid.SampledFrom([]any{false, sub("left")}).Draw(t, "left") },
		"first":        func() { s["prefixItems"] = []any{sub("first"), sub("second")} },
		"contains":     func() { s["contains"] = sub("contains") },
		"so many":      func() { s["contains"], s["minContains"], s["maxContains"] = sub("contains"), 2, 2 },
		"patterns":     func() { s["patternProperties"] = map[string]any{"^[ad]$": sub("ad"), "b|/": sub("b or /")} },
		"needs":        func() { s["dependentRequired"] = map[string]any{"a": []string{"b", "e"}, "d": []string{"a"}} },
		"lengths":      func() { s["minItems"], s["maxItems"] = 1, 2 },
		"unique":       func() { s["uniqueItems"] = true },
		"anyOf":        func() { s["anyOf"] = []any{sub("any"), sub("any"), map[string]any{"type": "null"}} },
		"nullable":     func() { s["anyOf"] = []any{sub("any"), map[string]any{"type": "null"}} },
		"oneOf":        func() { s["oneOf"] = []any{sub("one"), sub("one")} },
		"allOf":        func() { s["allOf"] = []any{sub("all")} },
		"if":           func() { s["if"], s["then"], s["else"] = sub("if"), sub("then"), sub("else") },
		"not":          func() { s["not"] = sub("not") },
		"echo":         func() { s["x-echo"] = true },
		"format":       func() { s["format"] = rapid.SampledFrom([]string{"email", "date", "ipv4", "own"}).Draw(t, "format") },
		"ref":          func() { s["$ref"] = rapid.SampledFrom([]string{"#", "#/$defs/x"}).Draw(t, "ref") },
	}
	for range rapid.IntRange(1, 4).Draw(t, "keywords") {
		keywords[rapid.SampledFrom(slices.Sorted(maps.Keys(keywords))).Draw(t, "keyword")]()
	}
	return s
}

func drawDocument(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "scalar") == 0 {
		return rapid.SampledFrom(values).Draw(t, "value")
	}
	if rapid.Bool().Draw(t, "array") {
		items := make([]string, rapid.IntRange(0, 3).Draw(t, "items"))
		for n := range items {
			items[n] = drawDocument(t, depth-1)
		}
		return "[ " + strings.Join(items, " ,") + "]"
	}
	var members []string
	for _, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", `\u0061`, "/", ""}), 0, 4).Draw(t, "names") {
		members = append(members, fmt.Sprintf("\"%s\":\t%s", name, drawDocument(t, depth-1)))
	}
	return "{" + strings.Join(members, ",\n") + "}"
}

const draft2020 = "https://json-schema.org/draft/2020-12/schema"

var drafts = []string{draft2020, draft2020, "https://json-schema.org/draft/2019-09/schema", "http://json-schema.org/draft-07/schema#",
	"http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#"}

// tuple describes the first two items, and the others if there is a schema for them, in the keywords of a
// draft.
func tuple(s map[string]any, draft string, first, second, rest any) {
	list, more := "items", "additionalItems"
	if draft == draft2020 {
		list, more = "prefixItems", "items"
	}
	if s[list] = []any{first, second}; rest != nil {
		s[more] = rest
	}
}
