package openai

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of a schema in strict mode, as OpenAI states them.
const (
	maxProperties = 5000
	// maxDepth counts schemas within schemas, which are at least as many as objects within objects.
	maxDepth = 10
	maxEnum  = 1000
	// maxLongEnum is how many strings a list may have without their lengths being counted.
	maxLongEnum = 250
	maxChars    = 120_000
)

// structure are the keywords that every strict mode knows; bounds are those that OpenAI's knows beside them.
var (
	structure = []string{
		"type", "enum", "const", "description", "title", "properties", "required", "additionalProperties", "items", "anyOf", "$ref",
		"$defs", "definitions",
	}
	bounds = []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern", "format",
	}
	// tellable are rules and remarks that a description can tell instead: retake checks the rules itself.
	tellable = append([]string{"minLength", "maxLength", "uniqueItems", "default", "examples"}, bounds...)
	// formats are those that OpenAI's strict mode knows.
	formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

// strict is a completed schema for strict mode; false where it does not fit. bounded says that the server knows bounds.
func strict(doc json.RawMessage, bounded bool) (json.RawMessage, bool) {
	root, ok := readObject(doc)
	if !ok || text(root.get("type")) != "object" || root.get("anyOf") != nil || root.get("$ref") != nil {
		return nil, false
	}
	w := strictWalk{bounded: bounded}
	doc = rewrite(doc, 0, w.visit)
	return doc, !w.misfit && w.properties <= maxProperties && w.enum <= maxEnum && w.chars <= maxChars
}

// strictWalk gathers what a schema amounts to.
type strictWalk struct {
	bounded                 bool
	misfit                  bool
	properties, enum, chars int
}

func (w *strictWalk) visit(o object, depth int) object {
	var tell []string
	kept := object{}
	for _, m := range o {
		switch {
		case w.keeps(m):
			kept = append(kept, m)
		case slices.Contains(tellable, m.name):
			tell = append(tell, m.name+" "+string(m.value))
		default:
			w.misfit = true
		}
	}
	w.misfit = w.misfit || depth >= maxDepth || !w.fits(kept)
	if len(tell) > 0 {
		said := strings.TrimSpace(text(kept.get("description")) + " (" + strings.Join(tell, ", ") + ")")
		kept = kept.with("description", quote(said))
	}
	return kept
}

func (w *strictWalk) keeps(m member) bool {
	switch m.name {
	case "pattern":
		return w.bounded && !strings.Contains(text(m.value), "(?")
	case "format":
		return w.bounded && slices.Contains(formats, text(m.value))
	}
	return slices.Contains(structure, m.name) || w.bounded && slices.Contains(bounds, m.name)
}

// fits reports whether one schema is of the subset, and counts what is in it.
func (w *strictWalk) fits(o object) bool {
	if o.get("$ref") != nil {
		return len(o) == 1
	}
	items, isList := readList(o.get("enum"))
	w.enum += len(items)
	for _, v := range items {
		w.chars += len(v)
	}
	w.chars += len(o.get("const"))
	if isList && len(items) > maxLongEnum || !schemas(o) {
		return false
	}
	if isObject(o) {
		return w.fitsObject(o)
	}
	return o.get("properties") == nil && (o.get("type") != nil || o.get("anyOf") != nil || o.get("enum") != nil || o.get("const") != nil)
}

// isObject reports whether a schema describes objects, among others.
func isObject(o object) bool {
	types, _ := readList(o.get("type"))
	return text(o.get("type")) == "object" || slices.ContainsFunc(types, func(t json.RawMessage) bool { return text(t) == "object" })
}

// fitsObject reports whether all members are named and required, and no others allowed.
func (w *strictWalk) fitsObject(o object) bool {
	properties, ok := readObject(o.get("properties"))
	required, _ := readList(o.get("required"))
	w.properties += len(properties)
	if !ok || string(o.get("additionalProperties")) != "false" || len(required) != len(properties) {
		return false
	}
	names := map[string]bool{}
	for _, r := range required {
		names[text(r)] = true
	}
	for _, p := range properties {
		w.chars += len(p.name)
		if !names[p.name] {
			return false
		}
	}
	return true
}

// schemas reports whether what stands in the place of a schema is an object: strict mode knows no true and false there.
func schemas(o object) bool {
	all := []json.RawMessage{}
	if items := o.get("items"); items != nil {
		all = append(all, items)
	}
	if either := o.get("anyOf"); either != nil {
		items, ok := readList(either)
		if !ok {
			return false
		}
		all = append(all, items...)
	}
	for _, by := range [...]string{"properties", "$defs", "definitions"} {
		named, _ := readObject(o.get(by))
		for _, m := range named {
			all = append(all, m.value)
		}
	}
	return !slices.ContainsFunc(all, func(v json.RawMessage) bool { _, ok := readObject(v); return !ok })
}
