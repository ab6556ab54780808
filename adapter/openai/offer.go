package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// atRoot are the keywords that the API refuses at the root of a schema.
var atRoot = []string{"anyOf", "allOf", "oneOf", "not", "enum", "const"}

// offer is a tool in the form of the API.
type offer struct {
	name, description string
	parameters        kit.Object
	strict            bool
}

// offers converts the tools of a request, in order.
func (c *caller) offers(tools []*tool.Tool) []offer {
	all := make([]offer, len(tools))
	fit := 0
	for n, t := range tools {
		if all[n] = c.offer(t, c.cfg.Strict); all[n].strict {
			fit++
		}
	}
	if c.quirks.OneStrict && fit < len(tools) {
		for n, t := range tools {
			all[n] = c.offer(t, StrictOff)
		}
	}
	return all
}

// offer converts a tool. Keywords that the API refuses at the root of the schema become words of the
// description.
func (c *caller) offer(t *tool.Tool, mode Strict) offer {
	o := offer{name: safeName(t.Name()), description: t.Description()}
	doc := complete(t.Parameters())
	root, _ := kit.ReadObject(doc)
	var moved kit.Object
	root = slices.DeleteFunc(root, func(m kit.Member) bool {
		refused := slices.Contains(atRoot, m.Name)
		if refused {
			moved = append(moved, m)
		}
		return refused
	})
	if root.Text("type") != "object" {
		root = root.With("type", json.RawMessage(`"object"`))
	}
	if root.Get("properties") == nil {
		root = root.With("properties", json.RawMessage(`{}`))
	}
	if moved != nil {
		o.description = strings.TrimSpace(o.description + "\nThe arguments must also fit this JSON Schema: " + string(moved.JSON()))
	}
	o.parameters = root
	if fitting, ok := c.fitting(root.JSON(), mode); ok && moved == nil {
		o.parameters, o.strict = fitting, true
	}
	return o
}

// fitting returns a schema for strict mode; false if it does not fit or strict mode is off.
func (c *caller) fitting(doc json.RawMessage, mode Strict) (kit.Object, bool) {
	if mode == StrictOff {
		return nil, false
	}
	doc, ok := strict(doc, strings.EqualFold(c.cfg.provider(), "openai"))
	if !ok {
		return nil, false
	}
	return kit.ReadObject(doc)
}

// answerName is the name of an answer's schema.
const answerName = "answer"

// format is the way to ask for a structured answer.
type format struct {
	// kind is OutputNative only if there is a schema.
	kind   Output
	schema kit.Object
	strict bool
}

// format returns how to ask for an answer of a schema, and the instructions for the system prompt.
func (c *caller) format(s *schema.Schema) (format, string) {
	if s == nil {
		return format{kind: OutputInstructions}, ""
	}
	doc := complete(s.JSON())
	words := "Your answer, once you give it, must be one JSON value that fits this JSON Schema, and nothing else:\n" + string(doc)
	root, _ := kit.ReadObject(doc)
	isObject := root.Text("type") == "object"
	refused := slices.ContainsFunc(root, func(m kit.Member) bool { return slices.Contains(atRoot, m.Name) })
	switch {
	case !isObject || c.cfg.Output == OutputInstructions:
		return format{kind: OutputInstructions}, words
	case refused || c.cfg.Output == OutputObject:
		return format{kind: OutputObject}, words
	}
	if fitting, ok := c.fitting(doc, c.cfg.Strict); ok {
		return format{schema: fitting, strict: true}, ""
	}
	return format{schema: root}, ""
}

// system returns the system prompt with the instructions for the answer.
func system(req loop.Request, words string) string {
	if req.System == "" || words == "" {
		return req.System + words
	}
	return req.System + "\n\n" + words
}
