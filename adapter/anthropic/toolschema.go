package anthropic

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/schema"
)

// openObject replaces the schema of a tool that cannot be sent.
var openObject = json.RawMessage(`{"type":"object"}`)

// rulesFollow introduces, in the description of a tool, the schema that could not be sent unchanged.
const rulesFollow = "The arguments must be valid against this JSON Schema: "

// propertyName matches the names of properties that the API accepts in the schema of a tool.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// toolSchema converts the schema of a tool into one that the API accepts: an object in Draft 2020-12,
// without alternatives at the top and without invalid names of properties. words says for the tool's
// description what is lost.
func toolSchema(raw []byte) (sent json.RawMessage, words string) {
	root, ok := kit.ReadObject(raw)
	if !ok || !namesFit(raw) || !isCurrent(root) {
		return openObject, rulesFollow + string(raw)
	}
	kept := kit.Object{kit.Field("type", json.RawMessage(`"object"`))}
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

// namesFit reports whether the API accepts all names of properties, at any depth.
func namesFit(raw json.RawMessage) bool {
	if list, ok := kit.ReadObject(raw); ok {
		for _, m := range list {
			if m.Name == "properties" && !propertiesFit(m.Value) || !namesFit(m.Value) {
				return false
			}
		}
		return true
	}
	return !slices.ContainsFunc(kit.Items(raw), func(item json.RawMessage) bool { return !namesFit(item) })
}

func propertiesFit(raw json.RawMessage) bool {
	list, _ := kit.ReadObject(raw)
	return !slices.ContainsFunc(list, func(m kit.Member) bool { return !propertyName.MatchString(m.Name) })
}

func isObject(raw []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) }
