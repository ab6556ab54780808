package schema

import (
	"maps"
	"slices"
)

// tag is a member that tells alternatives apart: each wants it to be a string of its own. Of a value with
// such a member only one alternative is asked, for all others refuse it, and it is the one that is explained.
type tag struct {
	name     string
	branches map[string]*node
}

// branchFor is the alternative that a value's tag names; nil where that is not told.
func (t *tag) branchFor(v *value) *node {
	if t == nil || v.kind != kindObject {
		return nil
	}
	if m := v.member(t.name); m != nil && m.kind == kindString {
		return t.branches[m.text]
	}
	return nil
}

// tagOf finds the tag of alternatives, the first by name; nil where they have none.
func tagOf(branches []*node) *tag {
	if len(branches) < 2 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(branches[0].resolved().members)) {
		t := &tag{name, map[string]*node{}}
		if !slices.ContainsFunc(branches, func(b *node) bool { return !t.add(b) }) {
			return t
		}
	}
	return nil
}

// resolved is a schema, or what it refers to where it names no members itself.
func (n *node) resolved() *node {
	for range maxSteps {
		if n.ref == nil || len(n.members) > 0 {
			break
		}
		n = n.ref
	}
	return n
}

// add enters an alternative by the constants of its tag; false where it has none, or another has the same.
func (t *tag) add(branch *node) bool {
	member := branch.resolved().members[t.name]
	var values []any
	switch {
	case member == nil:
	case member.Const != nil:
		values = []any{*member.Const}
	case member.Enum != nil:
		values = member.Enum.Values
	}
	for _, v := range values {
		text, isText := v.(string)
		if _, taken := t.branches[text]; !isText || taken {
			return false
		}
		t.branches[text] = branch
	}
	return len(values) > 0
}
