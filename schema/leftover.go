package schema

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Of a branch that fails the library takes nothing for described, and so refuses all members that it describes, good or bad, where those
// that nothing describes are refused. They are not at fault: they are told of only where nothing else is wrong that would explain it.

// atFault are the causes of the failure of one schema without those.
func (x explainer) atFault(causes []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	if x.schema == nil || len(causes) == 1 || !slices.ContainsFunc(causes, isLeftover) {
		return causes
	}
	schema, explained := leavesWhatFails(causes)
	if !explained {
		return causes
	}
	nodes, names := x.besideAt(tokensOf(schema)), patterns{}
	return slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
		return isLeftover(c) && leaves(c) == schema && slices.ContainsFunc(nodes, func(n map[string]any) bool {
			return names.describes(n, c.InstanceLocation[len(c.InstanceLocation)-1])
		})
	})
}

// patterns are those of names, by their texts; nil for one that is none.
type patterns map[string]*regexp.Regexp

func (p patterns) match(pattern, name string) bool {
	if _, known := p[pattern]; !known {
		p[pattern], _ = regexp.Compile(pattern)
	}
	return p[pattern] != nil && p[pattern].MatchString(name)
}

// isLeftover reports whether a member or item is refused because nothing describes it.
func isLeftover(c *jsonschema.ValidationError) bool {
	keyword := path.Base(c.SchemaURL)
	left := keyword == "unevaluatedProperties" || keyword == "unevaluatedItems"
	return left && len(c.InstanceLocation) > 0 && !slices.Contains(named, path.Base(leaves(c)))
}

// leaves is the address of the schema that leaves something, of what it says of that.
func leaves(c *jsonschema.ValidationError) string {
	return c.SchemaURL[:max(strings.LastIndexByte(c.SchemaURL, '/'), 0)]
}

// leavesWhatFails is the address of the schema that all causes are of and that leaves something, and whether a branch of it fails, which
// explains that.
func leavesWhatFails(causes []*jsonschema.ValidationError) (schema string, explained bool) {
	for _, c := range causes {
		if isLeftover(c) && (schema == "" || len(leaves(c)) < len(schema)) {
			schema = leaves(c)
		}
	}
	for _, c := range causes {
		way, within := strings.CutPrefix(c.SchemaURL, schema)
		if !within || way != "" && way[0] != '/' {
			return "", false
		}
		explained = explained || !isLeftover(c) && !isOwn(c.ErrorKind, way)
	}
	return schema, explained
}

// named are the keywords under which schemas have names.
var named = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}

// endsIn reports whether a place in a schema is what stands under a keyword.
func endsIn(at []string, keyword string) bool {
	n := len(at) - 1
	return n >= 0 && at[n] == keyword && (n == 0 || !slices.Contains(named, at[n-1]))
}

// ofOthers are the keywords of schemas for what is within a value.
var ofOthers = []string{
	"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "prefixItems", "items", "additionalItems",
	"unevaluatedItems", "contains",
}

// isOwn reports whether a failure is not one of a branch of a schema, but of what that says itself: at the place itself, or by some way from
// it.
func isOwn(k jsonschema.ErrorKind, way string) bool {
	if way != "" {
		keyword, _, _ := strings.Cut(way[1:], "/")
		return slices.Contains(ofOthers, keyword)
	}
	switch k.(type) {
	case *kind.AllOf, *kind.AnyOf, *kind.OneOf, *kind.Reference:
		return false
	}
	return true
}

// besideAt are the nodes that speak of the same value as the one at a place of the schema does.
func (x explainer) besideAt(at []string) []map[string]any {
	node, _ := lookup(x.schema.tree, at)
	return x.schema.beside(nil, []any{node})
}

// describes reports whether a node says what is right of a member or an item.
func (p patterns) describes(node map[string]any, name string) bool {
	members, _ := node["properties"].(map[string]any)
	if _, ok := members[name]; ok {
		return true
	}
	byPattern, _ := node["patternProperties"].(map[string]any)
	for pattern := range byPattern {
		if p.match(pattern, name) {
			return true
		}
	}
	if n, ok := itemOf(name); ok {
		first, _ := node["prefixItems"].([]any)
		items, said := node["items"]
		if list, ok := items.([]any); ok {
			first, said = list, node["additionalItems"] != nil
		}
		if said || n < len(first) {
			return true
		}
	}
	return node["additionalProperties"] != nil
}

// describedMembers says that a member is not to be there, and which may be.
func (x explainer) describedMembers(e *jsonschema.ValidationError) string {
	expected := phrase("unevaluatedProperties", map[string]any{})
	if x.schema == nil || len(e.InstanceLocation) == 0 || !endsIn(tokensOf(e.SchemaURL), "unevaluatedProperties") {
		return expected
	}
	all := map[string]any{}
	at := tokensOf(e.SchemaURL)
	for _, node := range x.besideAt(at[:len(at)-1]) {
		members, _ := node["properties"].(map[string]any)
		maps.Copy(all, members)
	}
	if _, ok := all[e.InstanceLocation[len(e.InstanceLocation)-1]]; ok {
		return expected + " beside the others"
	}
	return clip(expected + allowed(all))
}

// describeMember says in a few words what a missing member should be, by the schema that requires it or one that speaks of the same value.
func (x explainer) describeMember(e *jsonschema.ValidationError, name string) string {
	if x.schema == nil {
		return ""
	}
	at := tokensOf(e.SchemaURL)
	for inner := true; inner; at, inner = outward(at) {
		if said := x.memberAt(at, name); said != "" {
			return said
		}
	}
	return ""
}

func (x explainer) memberAt(at []string, name string) string {
	for _, node := range x.besideAt(at) {
		members, _ := node["properties"].(map[string]any)
		if said := x.describe(members[name], maxSteps); said != "" {
			return clip(said)
		}
	}
	return ""
}

// outward is the place of the schema that the one at a place is a branch of; false where it is none.
func outward(at []string) ([]string, bool) {
	n := len(at)
	for _, keyword := range []string{"if", "then", "else"} {
		if endsIn(at, keyword) {
			return at[:n-1], true
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"} {
		if n > 1 && endsIn(at[:n-1], keyword) {
			return at[:n-2], true
		}
	}
	return at, false
}
