package schema

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
)

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")
var pointerUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

// pointerOf writes a path as an RFC 6901 JSON Pointer.
func pointerOf(path []string) string {
	var b strings.Builder
	b.Grow(16 * len(path))
	for _, tok := range path {
		b.WriteByte('/')
		if strings.ContainsAny(tok, "~/") {
			tok = pointerEscaper.Replace(tok)
		}
		b.WriteString(tok)
	}
	return b.String()
}

// pathOf reads a JSON Pointer.
func pathOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	path := strings.Split(pointer[1:], "/")
	if strings.IndexByte(pointer, '~') < 0 {
		return path
	}
	for n, tok := range path {
		path[n] = pointerUnescaper.Replace(tok)
	}
	return path
}

// tokensOf reads the pointer in the fragment of a schema location.
func tokensOf(location string) []string {
	_, fragment, ok := strings.Cut(location, "#")
	if !ok || !strings.HasPrefix(fragment, "/") {
		return nil
	}
	if strings.IndexByte(fragment, '%') < 0 {
		return pathOf(fragment)
	}
	plain, err := url.PathUnescape(fragment)
	if err != nil {
		return nil
	}
	return pathOf(plain)
}

// lookup finds the value at a path.
func lookup(v any, path []string) (any, bool) {
	for _, tok := range path {
		switch at := v.(type) {
		case map[string]any:
			member, ok := at[tok]
			if !ok {
				return nil, false
			}
			v = member
		case []any:
			n, ok := itemOf(tok)
			if !ok || n >= len(at) {
				return nil, false
			}
			v = at[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// itemOf reads a step to an item of an array.
func itemOf(tok string) (int, bool) {
	if tok == "" || tok[0] < '0' || tok[0] > '9' {
		return 0, false // most steps are names: Atoi would make an error of each
	}
	n, err := strconv.Atoi(tok)
	return n, err == nil
}

// kindOf names the kind of a decoded value, telling integers from other numbers.
func kindOf(v any) fault.Kind {
	switch v := v.(type) {
	case bool:
		return fault.Boolean
	case string:
		return fault.String
	case []any:
		return fault.Array
	case map[string]any:
		return fault.Object
	case json.Number:
		if isInteger(v) {
			return fault.Integer
		}
		return fault.Number
	}
	return fault.Null
}

const echoKeyword = "x-echo"

// hasEcho reports whether any place of a schema document is marked as safe to echo.
func hasEcho(tree any) bool {
	switch at := tree.(type) {
	case map[string]any:
		if at[echoKeyword] == true {
			return true
		}
		for _, member := range at {
			if hasEcho(member) {
				return true
			}
		}
	case []any:
		for _, item := range at {
			if hasEcho(item) {
				return true
			}
		}
	}
	return false
}

// maxEcho bounds an echoed value, in bytes.
const maxEcho = 100

// echoed is what was received at a place as JSON, where the schema marks the place or one above it as safe to echo: the place within
// a value that itself stands at a path of the document.
func (s *Schema) echoed(at []string, value any, within string) string {
	path := pathOf(within)
	v, ok := lookup(value, path)
	left := maxSchemas
	if !ok || !s.marked(s.tree, slices.Concat(at, path), &left) {
		return ""
	}
	text := jsonText(v)
	if len(text) <= maxEcho {
		return text
	}
	cut := maxEcho - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// maxSchemas bounds how many schemas are looked at for one place: references may lead round, and each way round twice as far. Where
// there are more, nothing is echoed.
const maxSchemas = 4096

// marked follows a path through a schema document, along every keyword that can lead to the place; left is how many schemas may
// still be looked at.
func (s *Schema) marked(node any, path []string, left *int) bool {
	at, ok := node.(map[string]any)
	if !ok || *left == 0 {
		return false
	}
	*left--
	if at[echoKeyword] == true {
		return true
	}
	if target, ok := s.target(at); ok && s.marked(target, path, left) {
		return true
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := at[keyword].([]any)
		for _, sub := range list {
			if s.marked(sub, path, left) {
				return true
			}
		}
	}
	return len(path) > 0 && s.marked(step(at, path[0]), path[1:], left)
}

// step is the schema of one member or item of what node describes; nil where node does not say.
func step(node map[string]any, tok string) any {
	if members, ok := node["properties"].(map[string]any); ok {
		if sub, ok := members[tok]; ok {
			return sub
		}
	}
	if n, ok := itemOf(tok); ok {
		if prefix, ok := node["prefixItems"].([]any); ok && n < len(prefix) {
			return prefix[n]
		}
		if items, ok := node["items"]; ok {
			return items
		}
	}
	return node["additionalProperties"]
}

// jsonText writes a decoded value as JSON, members sorted.
func jsonText(v any) string {
	if text, ok := plainJSON(v); ok {
		return text
	}
	text, err := marshalPlain(v)
	if err != nil {
		return ""
	}
	return string(text)
}
