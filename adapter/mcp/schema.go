package mcp

import (
	"bytes"
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
func inputSchema(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, errors.New("there is none")
	}
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSchema {
		return nil, fmt.Errorf("it has %d bytes, at most %d are offered", len(raw), maxSchema)
	}
	if _, err := schema.Compile(raw); err != nil {
		return raw, err
	}
	var node map[string]any
	if err := json.Unmarshal(raw, &node); err != nil {
		return raw, fmt.Errorf("it is %s, want an object", raw)
	}
	if !allowsObject(node["type"]) {
		return raw, fmt.Errorf("it accepts no arguments, for its type is %v and arguments are an object",
			node["type"])
	}
	if name := forbidden(node); name != "" {
		return raw, fmt.Errorf("it accepts no arguments, for the member %q is required and not allowed", name)
	}
	return raw, nil
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

// forbidden returns a member that is required and not allowed; empty if there is none.
func forbidden(node map[string]any) string {
	properties, _ := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	_, patterns := node["patternProperties"]
	for _, r := range required {
		name, _ := r.(string)
		if _, given := properties[name]; !given && !patterns && node["additionalProperties"] == false {
			return name
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
