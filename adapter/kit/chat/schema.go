package chat

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

// byName returns an object with its members in order of their names. Objects within keep their order.
func byName(o kit.Object) kit.Object {
	return slices.SortedStableFunc(slices.Values(o), func(a, b kit.Member) int {
		return strings.Compare(a.Name, b.Name)
	})
}

// complete adds what the API requires and JSON Schema does not: the items of a list and the properties of an
// object. llama.cpp reads an object with no properties as an empty one, so it also says that others may be
// there.
func complete(doc json.RawMessage) json.RawMessage {
	return inDialect(doc, kit.Downgrade{To: kit.OpenAI()}, func(o kit.Object) kit.Object { return o })
}

// complete does so in the dialect of the server.
func (m *Model) complete(doc json.RawMessage) json.RawMessage {
	if m.quirks.TypedSchemas {
		return inDialect(doc, kit.Downgrade{To: flavored(), Check: toDefs}, typed)
	}
	return complete(doc)
}

// inDialect converts a schema, and ends each schema of it by a function.
func inDialect(doc json.RawMessage, down kit.Downgrade, end func(kit.Object) kit.Object) json.RawMessage {
	depth := 0
	down.Each = func(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
		depth++
		o = convert(o)
		depth--
		return end(completed(o, depth > 0))
	}
	doc, _ = down.Schema(doc)
	return doc
}

var anything = json.RawMessage(`{"description":"Any value."}`)

func completed(o kit.Object, isWithin bool) kit.Object {
	if kit.Accepts(o, "array") && o.Get("items") == nil {
		o = o.With("items", anything)
	}
	if kit.Accepts(o, "object") && o.Get("properties") == nil {
		o = o.With("properties", json.RawMessage(`{}`))
		if isWithin && o.Get("additionalProperties") == nil {
			o = o.With("additionalProperties", json.RawMessage(`true`))
		}
	}
	return o
}

// atRoot are the keywords that the API refuses at the root of a schema.
var atRoot = []string{"anyOf", "allOf", "oneOf", "not", "enum", "const"}

// offer is a tool in the form of the API.
type offer struct {
	name, description string
	parameters        kit.Object
	strict            bool
}

// offers converts the tools of a request, in order.
func (m *Model) offers(tools []*tool.Tool) []offer {
	all := make([]offer, len(tools))
	fit := 0
	for n, t := range tools {
		if all[n] = m.offer(t, m.cfg.Strict); all[n].strict {
			fit++
		}
	}
	if m.quirks.OneStrict && fit < len(tools) {
		for n, t := range tools {
			all[n] = m.offer(t, StrictOff)
		}
	}
	return all
}

// offer converts a tool. Keywords that the API refuses at the root of the schema become words of the
// description.
func (m *Model) offer(t *tool.Tool, mode Strict) offer {
	o := offer{name: safeName(t.Name()), description: t.Description()}
	doc := m.complete(t.Parameters())
	root, _ := kit.ReadObject(doc)
	var moved kit.Object
	root = slices.DeleteFunc(root, func(k kit.Member) bool {
		refused := slices.Contains(atRoot, k.Name)
		if refused {
			moved = append(moved, k)
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
		o.description = strings.TrimSpace(o.description + "\nThe arguments must also fit this JSON Schema: " +
			string(moved.JSON()))
	}
	o.parameters = root
	if fitting, ok := m.fitting(root.JSON(), mode); ok && moved == nil {
		o.parameters, o.strict = fitting, true
	}
	return o
}

// fitting returns a schema for strict mode; false if it does not fit or strict mode is off.
func (m *Model) fitting(doc json.RawMessage, mode Strict) (kit.Object, bool) {
	if mode == StrictOff {
		return nil, false
	}
	doc, ok := strict(doc, strings.EqualFold(m.cfg.provider(), "openai"))
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
func (m *Model) format(s *schema.Schema) (format, string) {
	if s == nil {
		return format{kind: OutputInstructions}, ""
	}
	doc := m.complete(s.JSON())
	words := "Your answer, once you give it, must be one JSON value that fits this JSON Schema, and " +
		"nothing else:\n" + string(doc)
	root, _ := kit.ReadObject(doc)
	isObject := root.Text("type") == "object"
	refused := slices.ContainsFunc(root, func(m kit.Member) bool { return slices.Contains(atRoot, m.Name) })
	switch {
	case !isObject || m.cfg.Output == OutputInstructions:
		return format{kind: OutputInstructions}, words
	case refused || m.cfg.Output == OutputObject:
		return format{kind: OutputObject}, words
	}
	if fitting, ok := m.fitting(doc, m.cfg.Strict); ok {
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

// Bounds of a schema in strict mode, as OpenAI states them.
const (
	maxProperties = 5000
	// maxDepth counts schemas within schemas, which are at least as many as objects within objects.
	maxDepth = 10
	maxEnum  = 1000
	// maxLongEnum is the number of strings in an enum up to which their lengths do not count.
	maxLongEnum = 250
	maxChars    = 120_000
)

// formats are the formats that OpenAI's strict mode supports.
var formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

// strict converts a completed schema for strict mode; false if it does not fit. bounded reports that the
// server supports bounds.
func strict(doc json.RawMessage, bounded bool) (json.RawMessage, bool) {
	root, ok := kit.ReadObject(doc)
	if !ok || root.Text("type") != "object" || root.Get("anyOf") != nil || root.Get("$ref") != nil {
		return nil, false
	}
	w := strictWalk{}
	down := kit.Downgrade{To: kit.Strict(), Check: takes, Each: w.visit}
	if bounded {
		down.To = kit.StrictBounds()
	}
	doc, ok = down.Schema(doc)
	return doc, ok && !w.misfit && w.properties <= maxProperties && w.enum <= maxEnum && w.chars <= maxChars
}

// foreign are the parts of patterns that OpenAI's strict mode refuses: groups of all kinds, and what Python
// does not know, such as \p{L}.
var foreign = regexp.MustCompile(`\(\?|\\(?:[^dDwWsSbBnrtfvxu\W]|u\{)`)

// takes says the values that OpenAI's strict mode does not support.
func takes(m *kit.Member) kit.Treatment {
	value := kit.Text(m.Value)
	if m.Name == "format" && slices.Contains(formats, value) || m.Name == "pattern" &&
		!foreign.MatchString(value) {
		return kit.Keep
	}
	return kit.Say
}

// strictWalk counts what a schema amounts to.
type strictWalk struct {
	misfit                         bool
	depth, properties, enum, chars int
}

func (w *strictWalk) visit(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
	w.misfit = w.misfit || w.depth >= maxDepth
	w.depth++
	o = convert(o)
	w.depth--
	w.misfit = w.misfit || !w.fits(o)
	return o
}

// fits reports whether one schema is in the subset, and counts its contents.
func (w *strictWalk) fits(o kit.Object) bool {
	if o.Get("$ref") != nil {
		return len(o) == 1
	}
	items := o.Items("enum")
	w.enum += len(items)
	for _, v := range items {
		w.chars += len(v)
	}
	w.chars += len(o.Get("const"))
	if len(items) > maxLongEnum {
		return false
	}
	if kit.Accepts(o, "object") {
		return w.fitsObject(o)
	}
	return o.Get("properties") == nil && (o.Get("type") != nil || o.Get("anyOf") != nil ||
		o.Get("enum") != nil || o.Get("const") != nil)
}

// fitsObject reports whether all members are named and required, and no others allowed.
func (w *strictWalk) fitsObject(o kit.Object) bool {
	properties, ok := kit.ReadObject(o.Get("properties"))
	required := o.Items("required")
	w.properties += len(properties)
	if !ok || string(o.Get("additionalProperties")) != "false" || len(required) != len(properties) {
		return false
	}
	names := map[string]bool{}
	for _, r := range required {
		names[kit.Text(r)] = true
	}
	for _, p := range properties {
		w.chars += len(p.Name)
		if !names[p.Name] {
			return false
		}
	}
	return true
}
