package genai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/kit"
)

// parameters converts the schema of a tool.
func parameters(raw []byte) json.RawMessage {
	o, ok := kit.ReadObject(narrow(raw))
	if !ok {
		o = nil
	}
	if o.Get("type") == nil && o.Get("$ref") == nil && o.Get("anyOf") == nil {
		o = append(kit.Object{kit.TextField("type", "object")}, o...)
	}
	return o.JSON()
}

// narrow converts a schema to the keywords that the API accepts.
func narrow(raw json.RawMessage) json.RawMessage {
	out, _ := kit.Downgrade{To: kit.Gemini(), Check: check, Each: alone}.Schema(raw)
	return out
}

// check drops null from an enum and says one with other values that the API refuses, gives definitions their
// new place, and turns an allOf of one schema into an anyOf.
func check(m *kit.Member) kit.Treatment {
	switch m.Name {
	case "allOf":
		if len(kit.Items(m.Value)) == 1 {
			return kit.NestAsAnyOf
		}
		return kit.Say
	case "enum":
		kept := slices.DeleteFunc(kit.Items(m.Value), func(v json.RawMessage) bool { return string(v) == "null" })
		if len(kept) == 0 || !isScalar(kept) {
			return kit.Say
		}
		m.Value = kit.List(kept...)
		return kit.Keep
	}
	ref, isText := kit.ReadText(m.Value)
	if !isText {
		return kit.Drop
	}
	m.Value = kit.Quote(strings.Replace(ref, "#/definitions/", "#/$defs/", 1))
	return kit.Keep
}

// isScalar reports whether all values are strings and numbers, the only ones that the API accepts in an enum.
func isScalar(values []json.RawMessage) bool {
	return !slices.ContainsFunc(values, func(v json.RawMessage) bool {
		return v[0] != '"' && v[0] != '-' && (v[0] < '0' || v[0] > '9')
	})
}

// alone separates a reference from the keywords beside it: the API accepts none there. Where the names of
// members are only said, it does not forbid others.
func alone(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
	if o.Get("patternProperties") != nil {
		o = o.Without("additionalProperties")
	}
	o = convert(o)
	ref := o.Get("$ref")
	beside := slices.ContainsFunc(o, func(m kit.Member) bool { return !strings.HasPrefix(m.Name, "$") })
	if ref == nil || !beside || o.Get("anyOf") != nil {
		return o
	}
	return append(o.Without("$ref"), kit.Field("anyOf", kit.List(kit.Object{kit.Field("$ref",
		ref)}.JSON())))
}
