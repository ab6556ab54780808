package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a phrase: what a model reads stays short however large the schema is.
const (
	maxPhrase  = 400 // bytes
	maxListed  = 12  // values or names
	maxLiteral = 60  // bytes of one value
)

// phrases says, for each keyword, what would be right in the words of its schema. Each reads after "expected".
var phrases = map[string]func(node map[string]any) string{
	"enum":                  func(n map[string]any) string { return oneOf(n["enum"]) },
	"const":                 func(n map[string]any) string { return literal(n["const"]) },
	"minimum":               func(n map[string]any) string { return "at least " + literal(n["minimum"]) },
	"maximum":               func(n map[string]any) string { return "at most " + literal(n["maximum"]) },
	"exclusiveMinimum":      func(n map[string]any) string { return "more than " + literal(n["exclusiveMinimum"]) },
	"exclusiveMaximum":      func(n map[string]any) string { return "less than " + literal(n["exclusiveMaximum"]) },
	"multipleOf":            func(n map[string]any) string { return "a multiple of " + literal(n["multipleOf"]) },
	"minLength":             func(n map[string]any) string { return "at least " + count(n["minLength"], "character") },
	"maxLength":             func(n map[string]any) string { return "at most " + count(n["maxLength"], "character") },
	"pattern":               func(n map[string]any) string { return patternPhrase(textOf(n["pattern"])) },
	"format":                func(n map[string]any) string { return "a string in the format " + textOf(n["format"]) },
	"minItems":              func(n map[string]any) string { return "at least " + count(n["minItems"], "item") },
	"maxItems":              func(n map[string]any) string { return "at most " + count(n["maxItems"], "item") },
	"uniqueItems":           func(map[string]any) string { return "items that all differ" },
	"contains":              func(map[string]any) string { return "an item as the schema's contains describes it" },
	"minContains":           func(n map[string]any) string { return "at least " + count(n["minContains"], "item") + " as described" },
	"maxContains":           func(n map[string]any) string { return "at most " + count(n["maxContains"], "item") + " as described" },
	"minProperties":         func(n map[string]any) string { return "at least " + count(n["minProperties"], "member") },
	"maxProperties":         func(n map[string]any) string { return "at most " + count(n["maxProperties"], "member") },
	"additionalProperties":  noMember,
	"unevaluatedProperties": func(map[string]any) string { return "no member of this name" },
	"unevaluatedItems":      func(map[string]any) string { return "no item here" },
	"items":                 func(map[string]any) string { return "no item here" },
	"additionalItems":       func(map[string]any) string { return "no further items" },
	"false":                 func(map[string]any) string { return "nothing here" },
	"not":                   notThat,
	"oneOf":                 func(map[string]any) string { return "a value that fits exactly one of the alternatives" },
	"$ref":                  func(map[string]any) string { return "a schema that does not refer to itself" },
}

// phrase says what the rule of a schema node expects; empty where there is nothing better to say than the rule's name.
func phrase(rule string, node map[string]any) string {
	say, ok := phrases[rule]
	if !ok || node == nil {
		return ""
	}
	return clip(say(node))
}

func noMember(node map[string]any) string {
	members, _ := node["properties"].(map[string]any)
	if len(members) == 0 {
		return "no member of this name"
	}
	names := slices.Sorted(maps.Keys(members))
	return "no member of this name (allowed: " + bounded(names) + ")"
}

func notThat(node map[string]any) string {
	not, _ := node["not"].(map[string]any)
	if c, ok := not["const"]; ok {
		return "anything but " + literal(c)
	}
	if values, ok := not["enum"].([]any); ok {
		return "anything but " + strings.TrimPrefix(oneOf(values), "one of ")
	}
	if p, ok := not["pattern"].(string); ok {
		return "a string not matching " + p
	}
	return "a value unlike the one the schema excludes"
}

func oneOf(v any) string {
	values, _ := v.([]any)
	if len(values) == 1 {
		return literal(values[0])
	}
	texts := make([]string, len(values))
	for n, value := range values {
		texts[n] = literal(value)
	}
	return "one of " + bounded(texts)
}

// bounded lists the first of many, and says how many more there are.
func bounded(texts []string) string {
	used := 0
	for n, t := range texts {
		used += len(t) + 2
		if n == maxListed || used > maxPhrase-40 {
			return strings.Join(texts[:n], ", ") + " and " + strconv.Itoa(len(texts)-n) + " more"
		}
	}
	return strings.Join(texts, ", ")
}

func orList(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	last := len(texts) - 1
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

func count(v any, noun string) string {
	n := literal(v)
	if n == "1" {
		return "1 " + noun
	}
	return n + " " + noun + "s"
}

func stringsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, item := range v {
			list = append(list, textOf(item))
		}
		return list
	}
	return nil
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func literal(v any) string { return clipTo(jsonText(v), maxLiteral) }

func clip(s string) string { return clipTo(s, maxPhrase) }

func clipTo(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// marshalPlain writes a decoded value as JSON with sorted members and nothing escaped that need not be.
func marshalPlain(v any) ([]byte, error) {
	if text, ok := plainJSON(v); ok {
		return []byte(text), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// plainJSON writes what is written as it is: numbers, and strings of ASCII in which nothing needs an escape.
func plainJSON(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), v != ""
	case string:
		escapes := strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
		return `"` + v + `"`, !escapes
	}
	return "", false
}
