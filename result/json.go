package result

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// document is a JSON object as Go values, with numbers as they are written.
type document map[string]any

// opened returns an object as a document; nil for any other JSON.
func opened(v json.RawMessage) document {
	members, _ := parsed(v).(map[string]any)
	return members
}

// get returns the value at a pointer as canonical JSON; nil where there is none.
func (m document) get(pointer string) json.RawMessage { return valueAt(map[string]any(m), pointer) }

// put sets the value at a pointer, and makes the objects on the way. Nothing happens where something else is
// in the way.
func (m document) put(pointer string, v json.RawMessage) {
	path := steps(pointer)
	for _, name := range path[:len(path)-1] {
		inner, isObject := m[name].(map[string]any)
		if _, taken := m[name]; !isObject && taken {
			return
		} else if !isObject {
			inner = map[string]any{}
			m[name] = inner
		}
		m = inner
	}
	m[path[len(path)-1]] = parsed(v)
}

// rendered returns the canonical JSON of a value. A value without a JSON form gives a string, which its field
// then refuses.
func rendered(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err == nil {
		doc, err = canon.JSON(doc)
	}
	if err != nil {
		return json.RawMessage(`"no JSON"`)
	}
	return doc
}

// parsed returns canonical JSON as Go values, with numbers as they are written.
func parsed(v json.RawMessage) (value any) {
	in := json.NewDecoder(bytes.NewReader(v))
	in.UseNumber()
	_ = in.Decode(&value)
	return value
}

// valueAt returns the value at a pointer into parsed JSON, as canonical JSON; nil where there is none.
func valueAt(tree any, pointer string) json.RawMessage {
	value, ok := canon.At(tree, steps(pointer))
	if !ok {
		return nil
	}
	return rendered(value)
}

// kindOf returns the kind of a canonical JSON value. Numbers are all Number.
func kindOf(v json.RawMessage) fault.Kind {
	return kinds[jsontext.Value(v).Kind()]
}

var kinds = map[jsontext.Kind]fault.Kind{
	'{': fault.Object, '[': fault.Array, '"': fault.String, '0': fault.Number, 'n': fault.Null,
	't': fault.Boolean, 'f': fault.Boolean,
}

// same reports whether two canonical values are equal; equal numbers may be written differently. Nil means
// absent.
func same(a, b json.RawMessage) bool {
	return (a == nil) == (b == nil) && bytes.Equal(canon.Decimals(a), canon.Decimals(b))
}

// withoutNulls removes null members at any depth: they mean the same as absent ones.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, member any) bool { return withoutNulls(member) == nil })
	}
	return value
}

// steps returns the names in a pointer, which begins with a slash; none for anything else.
func steps(pointer string) []string {
	if !strings.HasPrefix(pointer, "/") {
		return nil
	}
	return canon.Path(pointer)
}
