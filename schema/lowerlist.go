package schema

import (
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func (l *lowering) list(s *jsonschema.Schema, elem reflect.Type) *listTests {
	t := &listTests{min: countOr(s.MinItems, 0), max: countOr(s.MaxItems, -1), unique: s.UniqueItems}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		t.items, t.said = l.node(items, elem), true
	case []*jsonschema.Schema:
		l.tuple(t, s, items)
	default:
		t.items, t.said = l.sub(s.Items2020, elem), s.Items2020 != nil
		t.first = l.nodes(s.PrefixItems)
	}
	l.unknown = l.unknown || t.first != nil && elem != nil
	if s.Contains != nil {
		t.contains = &containsTest{
			node: l.node(s.Contains, nil), min: countOr(s.MinContains, 1), max: countOr(s.MaxContains, -1), counted: s.MinContains != nil,
			marks: s.DraftVersion >= 2020,
		}
	}
	return t
}

// tuple has the first items in the words of drafts up to 2019-09.
func (l *lowering) tuple(t *listTests, s *jsonschema.Schema, first []*jsonschema.Schema) {
	t.first, t.said = l.nodes(first), s.AdditionalItems != nil
	more, _ := s.AdditionalItems.(*jsonschema.Schema)
	t.items = l.sub(more, nil)
	allowed, said := s.AdditionalItems.(bool)
	t.closed = said && !allowed
}
