package schema

import (
	"encoding/json"
	"math/big"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// valueTests are enum and const: the value is one of these.
type valueTests struct {
	texts                 []string
	numbers               []int64    // those that 64 bits hold
	exact                 []*big.Rat // all numbers
	null, isTrue, isFalse bool
}

func (t *valueTests) judge(v *scalar) verdict {
	found := false
	switch v.kind {
	case kindString:
		found = slices.Contains(t.texts, v.text)
	case kindNull:
		found = t.null
	case kindBool:
		found = v.truth && t.isTrue || !v.truth && t.isFalse
	default:
		found = v.whole && slices.Contains(t.numbers, v.int) || !v.whole && t.holds(v.text)
	}
	return when(found)
}

// holds compares a number that may be written in more than one way.
func (t *valueTests) holds(text string) bool {
	if len(t.exact) == 0 {
		return false
	}
	r, ok := new(big.Rat).SetString(text)
	return ok && slices.ContainsFunc(t.exact, func(e *big.Rat) bool { return e.Cmp(r) == 0 })
}

// values are the constants of a schema. Objects and arrays among them are the library's.
func (l *lowering) values(s *jsonschema.Schema) *valueTests {
	var list []any
	switch {
	case s.Const != nil:
		list = []any{*s.Const} // of which the library speaks first
		l.unknown = l.unknown || s.Enum != nil && !slices.ContainsFunc(s.Enum.Values, func(v any) bool { return sameScalar(v, *s.Const) })
	case s.Enum != nil:
		list = s.Enum.Values
	default:
		return nil
	}
	t := &valueTests{}
	for _, v := range list {
		l.unknown = !t.add(v) || l.unknown
	}
	return t
}

// sameScalar reports whether two values are the same, and written the same, and no objects or arrays.
func sameScalar(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any:
		return false
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func (t *valueTests) add(v any) bool {
	switch v := v.(type) {
	case nil:
		t.null = true
	case bool:
		t.isTrue, t.isFalse = t.isTrue || v, t.isFalse || !v
	case string:
		t.texts = append(t.texts, v)
	case json.Number:
		r, ok := new(big.Rat).SetString(string(v))
		if !ok {
			return false
		}
		if t.exact = append(t.exact, r); r.IsInt() && r.Num().IsInt64() {
			t.numbers = append(t.numbers, r.Num().Int64())
		}
	default:
		return false
	}
	return true
}
