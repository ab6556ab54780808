package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
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

// takes says the values that OpenAI's strict mode does not support.
func takes(m *kit.Member) kit.Treatment {
	value := kit.Text(m.Value)
	if m.Name == "format" && slices.Contains(formats, value) || m.Name == "pattern" && !strings.Contains(value, "(?") {
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
	items := kit.Items(o.Get("enum"))
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
	required := kit.Items(o.Get("required"))
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
