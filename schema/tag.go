package schema

import (
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
	for m := v.first; m != nil; m = m.next {
		if m.name == t.name && m.kind == kindString {
			return t.branches[m.text]
		}
	}
	return nil
}

// tagOf finds the tag of alternatives, the first by name; nil where they have none.
func tagOf(branches []*node) *tag {
	if len(branches) < 2 {
		return nil
	}
	first := branches[0].resolved()
	if first == nil {
		return nil
	}
	for _, name := range slices.Sorted(slices.Values(first.mentions)) {
		t := &tag{name, map[string]*node{}}
		if !slices.ContainsFunc(branches, func(b *node) bool { return !t.add(b) }) {
			return t
		}
	}
	return nil
}

// resolved is a schema, or what it refers to where it does nothing else; nil where that goes too far or
// depends on the way to it.
func (n *node) resolved() *node {
	for range maxSteps {
		if n.ref == nil || len(n.same) > 1 || len(n.mentions) > 0 {
			break
		}
		n = n.ref
	}
	return n
}

// add enters an alternative by the constants of its tag; false where it has none, or another has the same.
func (t *tag) add(branch *node) bool {
	n := branch.resolved()
	at, named := n.names[t.name]
	if !named || n.members[at] == nil {
		return false
	}
	member := n.members[at]
	var values []any
	switch {
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
