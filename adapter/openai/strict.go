package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

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

// structure are the keywords that every strict mode supports; bounds are those that OpenAI's supports in
// addition.
var (
	structure = []string{
		"type", "enum", "const", "description", "title", "properties", "required", "additionalProperties", "items", "anyOf", "$ref",
		"$defs", "definitions",
	}
	bounds = []string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "pattern", "format",
	}
	// tellable are rules and remarks that can move into a description: retake checks the rules itself.
	tellable = append([]string{"minLength", "maxLength", "uniqueItems", "default", "examples"}, bounds...)
	// formats are the formats that OpenAI's strict mode supports.
	formats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

// strict converts a completed schema for strict mode; false if it does not fit. bounded reports that the
// server supports bounds.
func strict(doc json.RawMessage, bounded bool) (json.RawMessage, bool) {
	root, ok := wire.ReadObject(doc)
	if !ok || root.Text("type") != "object" || root.Get("anyOf") != nil || root.Get("$ref") != nil {
		return nil, false
	}
	w := strictWalk{bounded: bounded}
	doc = wire.EachSchema(doc, w.visit)
	return doc, !w.misfit && w.properties <= maxProperties && w.enum <= maxEnum && w.chars <= maxChars
}

// strictWalk counts what a schema amounts to.
type strictWalk struct {
	bounded                 bool
	misfit                  bool
	properties, enum, chars int
}

func (w *strictWalk) visit(o wire.Object, depth int) wire.Object {
	var tell []string
	kept := wire.Object{}
	for _, m := range o {
		switch {
		case w.keeps(m):
			kept = append(kept, m)
		case slices.Contains(tellable, m.Name):
			tell = append(tell, m.Name+" "+string(m.Value))
		default:
			w.misfit = true
		}
	}
	w.misfit = w.misfit || depth >= maxDepth || !w.fits(kept)
	if len(tell) > 0 {
		said := strings.TrimSpace(kept.Text("description") + " (" + strings.Join(tell, ", ") + ")")
		kept = kept.With("description", wire.Quote(said))
	}
	return kept
}

func (w *strictWalk) keeps(m wire.Member) bool {
	switch m.Name {
	case "pattern":
		return w.bounded && !strings.Contains(wire.Text(m.Value), "(?")
	case "format":
		return w.bounded && slices.Contains(formats, wire.Text(m.Value))
	}
	return slices.Contains(structure, m.Name) || w.bounded && slices.Contains(bounds, m.Name)
}

// fits reports whether one schema is in the subset, and counts its contents.
func (w *strictWalk) fits(o wire.Object) bool {
	if o.Get("$ref") != nil {
		return len(o) == 1
	}
	items := wire.Items(o.Get("enum"))
	w.enum += len(items)
	for _, v := range items {
		w.chars += len(v)
	}
	w.chars += len(o.Get("const"))
	if len(items) > maxLongEnum || !schemas(o) {
		return false
	}
	if isObject(o) {
		return w.fitsObject(o)
	}
	return o.Get("properties") == nil && (o.Get("type") != nil || o.Get("anyOf") != nil ||
		o.Get("enum") != nil || o.Get("const") != nil)
}

// isObject reports whether a schema accepts objects.
func isObject(o wire.Object) bool {
	types := wire.Items(o.Get("type"))
	return o.Text("type") == "object" ||
		slices.ContainsFunc(types, func(t json.RawMessage) bool { return wire.Text(t) == "object" })
}

// fitsObject reports whether all members are named and required, and no others allowed.
func (w *strictWalk) fitsObject(o wire.Object) bool {
	properties, ok := wire.ReadObject(o.Get("properties"))
	required := wire.Items(o.Get("required"))
	w.properties += len(properties)
	if !ok || string(o.Get("additionalProperties")) != "false" || len(required) != len(properties) {
		return false
	}
	names := map[string]bool{}
	for _, r := range required {
		names[wire.Text(r)] = true
	}
	for _, p := range properties {
		w.chars += len(p.Name)
		if !names[p.Name] {
			return false
		}
	}
	return true
}

// schemas reports whether every schema is an object: strict mode has no true and false.
func schemas(o wire.Object) bool {
	all := []json.RawMessage{}
	if items := o.Get("items"); items != nil {
		all = append(all, items)
	}
	if either := o.Get("anyOf"); either != nil {
		items := wire.Items(either)
		if items == nil {
			return false
		}
		all = append(all, items...)
	}
	for _, by := range [...]string{"properties", "$defs", "definitions"} {
		named, _ := wire.ReadObject(o.Get(by))
		for _, m := range named {
			all = append(all, m.Value)
		}
	}
	return !slices.ContainsFunc(all, func(v json.RawMessage) bool { _, ok := wire.ReadObject(v); return !ok })
}
