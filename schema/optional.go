package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// maxNodes bounds the places of a schema that are looked at for one place of a document; where there are more, nothing is said.
const maxNodes = 256

// tellOptional adds to what is expected of a member that it may be left out, where the schema plainly allows that and does not
// allow null: for many models null means just this. What was received makes no difference here.
func (s *Schema) tellOptional(issues []fault.Issue) {
	for n, i := range issues {
		kind := i.Source == fault.FromSchema && slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf"}, i.Rule)
		told := i.Expected == "" || strings.HasSuffix(i.Expected, fault.OrLeaveOut)
		if kind && !told && i.Pointer != "" && s.optional(pathOf(i.Pointer)) {
			issues[n].Expected = i.Expected + fault.OrLeaveOut
		}
	}
}

// optional reports whether a place is a named member that nothing requires and that may not be null, as far as the schema says so
// plainly: a condition under which the member is required counts as if it always held.
func (s *Schema) optional(path []string) bool {
	var fromRoom, subRoom [8]any
	var room, besideRoom [8]map[string]any
	name := path[len(path)-1]
	nodes := s.beside(room[:0], append(fromRoom[:0], s.tree))
	for _, tok := range path[:len(path)-1] {
		nodes = s.beside(room[:0], below(subRoom[:0], nodes, tok))
	}
	named := slices.ContainsFunc(nodes, func(n map[string]any) bool {
		members, _ := n["properties"].(map[string]any)
		_, ok := members[name]
		return ok
	})
	demanded := slices.ContainsFunc(nodes, func(n map[string]any) bool { return demands(n, name) })
	null := slices.ContainsFunc(s.beside(besideRoom[:0], below(subRoom[:0], nodes, name)), allowsNull)
	return named && !demanded && !null && len(nodes) < maxNodes
}

// beside appends the nodes that speak of the same place as some nodes do, these included; maxNodes at most.
func (s *Schema) beside(nodes []map[string]any, from []any) []map[string]any {
	for n := 0; n < len(from) && len(nodes) < maxNodes; n++ {
		at, ok := from[n].(map[string]any)
		if !ok || slices.ContainsFunc(nodes, func(n map[string]any) bool { return address(n) == address(at) }) {
			continue
		}
		nodes = append(nodes, at)
		if target, ok := s.target(at); ok {
			from = append(from, target)
		}
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := at[keyword].([]any)
			from = append(from, list...)
		}
		for _, keyword := range []string{"if", "then", "else"} {
			if sub, ok := at[keyword]; ok {
				from = append(from, sub)
			}
		}
		from = append(from, valuesOf(at["dependentSchemas"])...)
		from = append(from, valuesOf(at["dependencies"])...)
	}
	return nodes
}

// below appends the schemas that some nodes have for a member or an item.
func below(subs []any, nodes []map[string]any, tok string) []any {
	for _, at := range nodes {
		members, _ := at["properties"].(map[string]any)
		if sub, ok := members[tok]; ok {
			subs = append(subs, sub)
		}
		if n, ok := itemOf(tok); ok {
			prefix, _ := at["prefixItems"].([]any)
			if n < len(prefix) {
				subs = append(subs, prefix[n])
			}
			subs = append(subs, at["items"])
		}
		subs = append(subs, valuesOf(at["patternProperties"])...)
		if rest, ok := at["additionalProperties"]; ok {
			subs = append(subs, rest)
		}
	}
	return subs
}

func valuesOf(v any) []any {
	members, _ := v.(map[string]any)
	if len(members) == 0 {
		return nil
	}
	values := make([]any, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		values = append(values, members[name])
	}
	return values
}

// demands reports whether a node requires a member, or may do so, or requires some number of members.
func demands(node map[string]any, name string) bool {
	if _, counts := node["minProperties"]; counts {
		return true
	}
	lists := func(v any) bool {
		list, _ := v.([]any)
		return slices.ContainsFunc(list, func(v any) bool { return v == name })
	}
	return lists(node["required"]) || slices.ContainsFunc(valuesOf(node["dependentRequired"]), lists) ||
		slices.ContainsFunc(valuesOf(node["dependencies"]), lists)
}

func allowsNull(node map[string]any) bool {
	values, _ := node["enum"].([]any)
	constant, has := node["const"]
	return slices.Contains(stringsOf(node["type"]), "null") || slices.Contains(values, nil) || has && constant == nil
}
