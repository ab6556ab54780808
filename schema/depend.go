package schema

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// needed is what a member that is there requires, by their names.
type needed struct {
	name   string
	others []string
	old    bool // said by the keyword of old drafts
}

func needsIn(s *jsonschema.Schema) (all []needed) {
	for _, name := range slices.Sorted(maps.Keys(s.DependentRequired)) {
		all = append(all, needed{name, s.DependentRequired[name], false})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		if others, ok := s.Dependencies[name].([]string); ok {
			all = append(all, needed{name, others, true})
		}
	}
	return all
}

// of is the same by the places of the names.
func (n needed) of(names []string) need {
	by := need{member: slices.Index(names, n.name), old: n.old}
	for _, other := range n.others {
		by.others |= 1 << slices.Index(names, other)
	}
	return by
}

// dependents are what a whole object is held to where a member is there.
func (l *lowering) dependents(s *jsonschema.Schema) (all []*node) {
	for _, name := range slices.Sorted(maps.Keys(s.DependentSchemas)) {
		all = append(all, l.dependent(s, name, s.DependentSchemas[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			all = append(all, l.dependent(s, name, sub))
		}
	}
	return all
}

// dependent is a node that is another one where a member is there, and else anything.
func (l *lowering) dependent(s *jsonschema.Schema, name string, sub *jsonschema.Schema) *node {
	has := &node{types: kindObject, list: anything.list}
	has.object = &objectTests{members: []member{{name: name, node: anything}}, required: 1, rest: anything, max: -1}
	n := madeUp(&jsonschema.Schema{
		DraftVersion: s.DraftVersion, Location: s.Location, Dependencies: map[string]any{name: sub},
	})
	n.more = &branches{cond: has, onTrue: l.node(sub, nil)}
	return n
}

// madeUp is a node for what the library has no schema of its own for: it says nothing yet.
func madeUp(lib *jsonschema.Schema) *node {
	return &node{lib: lib, whole: lib, list: anything.list, object: anything.object}
}

// several is what the value of a member is held to that several schemas describe.
func (l *lowering) several(named *node, said bool, patterns []pattern, name string) *node {
	b := &branches{}
	if said {
		b.all = append(b.all, named)
	}
	for _, p := range patterns {
		if p.name.MatchString(name) {
			b.all = append(b.all, p.node)
		}
	}
	lib := &jsonschema.Schema{DraftVersion: b.all[0].lib.DraftVersion, Location: b.all[0].lib.Location}
	for _, n := range b.all {
		lib.AllOf = append(lib.AllOf, n.whole)
	}
	n := madeUp(lib)
	n.more = b
	return n
}
