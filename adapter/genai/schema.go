package genai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// parameters converts the schema of a tool.
func parameters(raw []byte) json.RawMessage {
	o, ok := wire.ReadObject(narrow(raw))
	if !ok {
		o = nil
	}
	if o.Get("type") == nil && o.Get("$ref") == nil && o.Get("anyOf") == nil {
		o = append(wire.Object{wire.Field("type", json.RawMessage(`"object"`))}, o...)
	}
	return o.JSON()
}

// narrow converts a schema to the keywords that the API accepts.
func narrow(raw json.RawMessage) json.RawMessage {
	out, _ := wire.Downgrade{To: wire.Gemini(), Check: check, Each: alone}.Schema(raw)
	return out
}

// check drops the values of an enum that the API refuses, and gives definitions their new place.
func check(m *wire.Member) wire.Treatment {
	if m.Name == "enum" {
		kept := slices.DeleteFunc(wire.Items(m.Value), func(v json.RawMessage) bool { return !isScalar(v) })
		m.Value = wire.List(kept...)
		if len(kept) > 0 {
			return wire.Keep
		}
		return wire.Drop
	}
	ref, isText := wire.ReadText(m.Value)
	if !isText {
		return wire.Drop
	}
	m.Value = wire.Quote(strings.Replace(ref, "#/definitions/", "#/$defs/", 1))
	return wire.Keep
}

// isScalar reports whether a value is a string or a number, the only values that the API accepts in an enum.
func isScalar(v json.RawMessage) bool {
	return len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9')
}

// alone separates a reference from the keywords beside it: the API accepts none there.
func alone(o wire.Object, convert func(wire.Object) wire.Object) wire.Object {
	o = convert(o)
	ref := o.Get("$ref")
	beside := slices.ContainsFunc(o, func(m wire.Member) bool { return !strings.HasPrefix(m.Name, "$") })
	if ref == nil || !beside || o.Get("anyOf") != nil {
		return o
	}
	return append(o.Without("$ref"), wire.Field("anyOf", wire.List(wire.Object{wire.Field("$ref",
		ref)}.JSON())))
}
