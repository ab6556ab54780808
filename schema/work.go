package schema

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library looks at what lies below a value once for each way there: where alternatives lead back to themselves, that is 2 to the
// power of the depth. So what it would do is counted first, in little time, and it is not asked to do too much.

// freeWork is how many looks at a value the library may take at any document, workPerByte how many more for each byte of one that may be
// good: to say what is wrong in a long one takes it many times as long as to find that nothing is.
const (
	freeWork    = 50_000
	workPerByte = 4
)

// takesTooLong reports whether the library is not to be asked about a document.
func (s *Schema) takesTooLong(v any, doc []byte) bool {
	most := freeWork + workPerByte*len(doc)
	looks := looksAt(most, s.compiled, v)
	return looks > most || looks > freeWork && s.program != nil && decide(s.program, string(doc), s.limits, reflect.Value{}, nil) == bad
}

// single are the keywords of schemas that look at a value, and at each within it, once.
var single = slices.DeleteFunc(slices.Clone(known), func(keyword string) bool {
	return slices.Contains([]string{
		"Ref", "Not", "AllOf", "AnyOf", "OneOf", "If", "Then", "Else", "PatternProperties", "Contains", "Dependencies", "DependentSchemas",
	}, keyword)
})

// forks reports whether a schema may look at one value in several ways.
func forks(root *jsonschema.Schema) bool {
	found := false
	eachSchema(root, func(s *jsonschema.Schema) {
		leads := s.Ref != nil && (s.DraftVersion < 2019 || holdsOnly(s, "Ref"))
		found = found || !leads && !isNullable(s) && !holdsOnly(s, single...)
	})
	return found
}

// checkWork refuses a schema that looks at a mere number too often, and names the first place that does.
func checkWork(root *jsonschema.Schema) error {
	var places []string
	w := work{most: freeWork, counted: map[look]int{}}
	eachSchema(root, func(s *jsonschema.Schema) {
		if w.of(s, nil) > w.most {
			places = append(places, strings.TrimPrefix(s.Location, baseURL+"#"))
		}
	})
	if places == nil {
		return nil
	}
	place := cmp.Or(slices.Min(places), "(whole)")
	return fmt.Errorf("schema: %s: alternatives within alternatives come to more than %d: want fewer", place, freeWork)
}

// work counts the looks at values that the library takes at the most, up to a number.
type work struct {
	most    int
	counted map[look]int
}

// look is a schema that judges an object or an array, which is known by its address; 0 stands for all other values.
type look struct {
	schema *jsonschema.Schema
	value  uintptr
}

// looksAt is how many looks judging v takes, up to one more than so many.
func looksAt(most int, s *jsonschema.Schema, v any) int {
	w := work{most: max(most, 0), counted: map[look]int{}}
	return w.of(s, v)
}

// of is at most one more than what is counted up to.
func (w *work) of(s *jsonschema.Schema, v any) int {
	if s == nil {
		return 0
	}
	at := look{schema: s}
	switch v := v.(type) {
	case map[string]any:
		at.value = reflect.ValueOf(v).Pointer()
	case []any:
		if len(v) > 0 {
			at.value = reflect.ValueOf(v).Pointer()
		}
	}
	if n, known := w.counted[at]; known {
		return n
	}
	w.counted[at] = 0 // a schema that asks about the same value by way of itself is not asked again
	n := 1 + w.same(s, v)
	switch v := v.(type) {
	case map[string]any:
		n += w.members(s, v)
	case []any:
		n += w.items(s, v)
	}
	n = min(n, w.most+1)
	w.counted[at] = n
	return n
}

// same counts what schemas within s look at the same value.
func (w *work) same(s *jsonschema.Schema, v any) int {
	n := w.of(s.Ref, v) + w.of(s.RecursiveRef, v) + w.of(s.Not, v) + w.of(s.If, v) + max(w.of(s.Then, v), w.of(s.Else, v))
	if s.DynamicRef != nil {
		n += w.of(s.DynamicRef.Ref, v)
	}
	for _, list := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range list {
			n = min(n+w.of(sub, v), w.most)
		}
	}
	return n
}

func (w *work) members(s *jsonschema.Schema, v map[string]any) int {
	n := 0
	patterns := inOrder(s.PatternProperties)
	rest, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		value := v[name]
		sub, named := s.Properties[name]
		n += w.of(sub, value) + w.of(s.DependentSchemas[name], v)
		for _, pattern := range patterns {
			if pattern.MatchString(name) {
				n, named = n+w.of(s.PatternProperties[pattern], value), true
			}
		}
		switch {
		case named:
		case rest != nil:
			n += w.of(rest, value)
		default:
			n += w.of(s.UnevaluatedProperties, value)
		}
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			n += w.of(sub, v)
		}
		for _, e := range s.Extensions {
			if names, ok := e.(memberNames); ok {
				n += w.of(names.names, name)
			}
		}
		if n >= w.most {
			return w.most
		}
	}
	return n
}

// inOrder are patterns by their texts, of which no two are the same.
func inOrder(patterns map[jsonschema.Regexp]*jsonschema.Schema) []jsonschema.Regexp {
	texts, byText := make([]string, 0, len(patterns)), make(map[string]jsonschema.Regexp, len(patterns))
	for pattern := range patterns {
		text := pattern.String()
		texts, byText[text] = append(texts, text), pattern
	}
	slices.Sort(texts)
	ordered := make([]jsonschema.Regexp, 0, len(texts))
	for _, text := range texts {
		ordered = append(ordered, byText[text])
	}
	return ordered
}

func (w *work) items(s *jsonschema.Schema, v []any) int {
	first, each := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) {
	case []*jsonschema.Schema:
		first = items
		each, _ = s.AdditionalItems.(*jsonschema.Schema)
	case *jsonschema.Schema:
		each = items
	}
	n := 0
	for i, item := range v {
		switch {
		case i < len(first):
			n += w.of(first[i], item)
		case each != nil:
			n += w.of(each, item)
		default:
			n += w.of(s.UnevaluatedItems, item)
		}
		if n += w.of(s.Contains, item); n >= w.most {
			return w.most
		}
	}
	return n
}
