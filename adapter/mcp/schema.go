package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/schema"
)

// encode returns canonical JSON, as the core does with a result.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return jsontext.AppendFormat(nil, b.Bytes(), jsontext.ReorderRawObjects(true))
}

// inputSchema returns the schema of a tool's arguments as JSON, or why it cannot be used.
func inputSchema(v any, c Config) (json.RawMessage, error) {
	if v == nil {
		return nil, errors.New("there is none")
	}
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > c.MaxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes, at most MaxSchemaBytes (%d) are offered", len(raw),
			c.MaxSchemaBytes)
	}
	if raw, _, err = compiled(raw); err != nil {
		return raw, err
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return raw, err
	}
	if _, ok := tree.(map[string]any); !ok {
		return raw, fmt.Errorf("it is %s, want an object", raw)
	}
	if why := refusesAll(tree); why != "" {
		return raw, fmt.Errorf("it accepts no arguments, for %s", why)
	}
	return raw, nil
}

// compiled compiles a schema, and returns it as it is used. One that names no draft and is none of 2020-12
// may be of an older one: the protocol has said since its version 2025-11-25 which draft is meant.
func compiled(raw json.RawMessage) (json.RawMessage, *schema.Schema, error) {
	s, err := schema.Compile(raw)
	var tree map[string]any
	if err == nil || json.Unmarshal(raw, &tree) != nil || tree == nil || tree["$schema"] != nil {
		return raw, s, err
	}
	tree["$schema"] = "https://json-schema.org/draft/2019-09/schema"
	older, _ := encode(tree) // it was read from JSON
	if s, mismatch := schema.Compile(older); mismatch == nil {
		return older, s, nil
	}
	return raw, nil, err
}

// refusesAll returns why a schema can accept no object; empty if it finds no reason. It checks the root
// and required members, which tells a broken schema from a strict one.
func refusesAll(tree any) string {
	node, ok := tree.(map[string]any)
	switch {
	case tree == false:
		return "it is false"
	case !ok:
		return ""
	case never(node):
		return "its not excludes everything"
	case !allowsObject(node["type"]):
		return fmt.Sprintf("its type is %v and arguments are an object", node["type"])
	}
	if why := refusesValues(node); why != "" {
		return why
	}
	if why := refusesBranches(node); why != "" {
		return why
	}
	return refusesMembers(node)
}

// never reports whether a schema accepts no value at all.
func never(tree any) bool {
	node, ok := tree.(map[string]any)
	if !ok {
		return tree == false
	}
	not, given := node["not"]
	all, empty := not.(map[string]any)
	return given && (not == true || empty && len(all) == 0)
}

func allowsObject(t any) bool {
	switch t := t.(type) {
	case string:
		return t == "object"
	case []any:
		return slices.Contains(t, any("object"))
	}
	return true
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

func refusesValues(node map[string]any) string {
	if list, ok := node["enum"].([]any); ok && !slices.ContainsFunc(list, isObject) {
		return "its enum has no object"
	}
	if value, given := node["const"]; given && !isObject(value) {
		return "its const is no object"
	}
	low, hasLow := node["minProperties"].(float64)
	high, hasHigh := node["maxProperties"].(float64)
	if hasLow && hasHigh && low > high {
		return "its minProperties is above its maxProperties"
	}
	return ""
}

// refusesBranches looks at each branch once: within one another they would take twice the time for each
// level.
func refusesBranches(node map[string]any) string {
	all, _ := node["allOf"].([]any)
	for _, branch := range all {
		if why := refusesAll(branch); why != "" {
			return "in its allOf " + why
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		branches, _ := node[keyword].([]any)
		first, refused := "", 0
		for _, branch := range branches {
			why := refusesAll(branch)
			if why == "" {
				break
			}
			first, refused = cmp.Or(first, why), refused+1
		}
		if len(branches) > 0 && refused == len(branches) {
			return "in every branch of its " + keyword + " " + first
		}
	}
	return ""
}

// refusesMembers returns a member that is required and forbidden.
func refusesMembers(node map[string]any) string {
	properties, _ := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	for _, r := range required {
		name, _ := r.(string)
		member, given := properties[name]
		if given && never(member) {
			return fmt.Sprintf("the required member %q accepts nothing", name)
		}
		_, patterns := node["patternProperties"]
		if !given && !patterns && node["additionalProperties"] == false {
			return fmt.Sprintf("the member %q is required and not allowed", name)
		}
	}
	return ""
}

// maxTold bounds a schema in a description, in bytes.
const maxTold = 4096

// described returns the description of a tool whose schema is not checked, with the schema.
func described(description string, raw json.RawMessage) string {
	if len(raw) == 0 || len(raw) > maxTold {
		return description
	}
	return strings.TrimSpace(description + "\nThe arguments, as its server describes them: " + string(raw))
}
