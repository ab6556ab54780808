package schema

import (
	"maps"
	"slices"
)

// secretKeyword marks a place whose values are not to be kept: the tag `retake:"secret"` on a field, or the keyword itself in a
// raw schema.
const secretKeyword = "x-secret"

// Secrets are the places whose values are not to be kept, as JSON Pointers in ascending order; "*" stands for any member or
// item. Of a type that holds itself, all that may hold a secret at some depth is one, and so is what is left where there are very many
// places. The slice is the caller's own.
func (s *Schema) Secrets() []string {
	w := &secrets{schema: s, left: maxPlaces}
	w.walk(s.tree, "")
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

// maxPlaces bounds how many places are looked at: references may lead to twice as many with each step.
const maxPlaces = 4096

// secrets walks a schema document.
type secrets struct {
	schema *Schema
	found  []string
	left   int
	// under are the nodes that references lead to and that are being walked.
	under []uintptr
}

// withinKeywords have schemas that hold for any part of a value, sameKeywords those that hold for the value itself.
var (
	withinKeywords = []string{
		"items", "prefixItems", "additionalItems", "contains", "unevaluatedItems", "additionalProperties", "unevaluatedProperties",
	}
	sameKeywords = []string{"allOf", "anyOf", "oneOf", "if", "then", "else"}
)

func (w *secrets) walk(node any, at string) {
	n, ok := node.(map[string]any)
	if !ok {
		return
	}
	w.left--
	if n[secretKeyword] == true || w.left < 0 {
		w.found = append(w.found, at)
		return
	}
	if to, ok := w.schema.target(n); ok {
		w.follow(to, at)
	}
	if (n["$dynamicRef"] != nil || n["$recursiveRef"] != nil) && hasSecret(w.schema.tree) {
		w.found = append(w.found, at) // where that leads depends on the way to it
	}
	for _, keyword := range withinKeywords {
		w.each(n[keyword], at+"/*")
	}
	for _, keyword := range sameKeywords {
		w.each(n[keyword], at)
	}
	w.each(slices.Concat(valuesOf(n["dependentSchemas"]), valuesOf(n["dependencies"])), at)
	if members, ok := n["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			w.walk(members[name], at+"/"+pointerEscaper.Replace(name))
		}
	}
	if patterns, ok := n["patternProperties"].(map[string]any); ok {
		for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
			w.walk(patterns[pattern], at+"/*")
		}
	}
}

// each walks a schema, or each of a list of them.
func (w *secrets) each(node any, at string) {
	list, ok := node.([]any)
	if !ok {
		list = []any{node}
	}
	for _, item := range list {
		w.walk(item, at)
	}
}

// follow walks what a reference within the document leads to. One that comes back to itself is secret as a whole where anything in it is.
func (w *secrets) follow(to any, at string) {
	target, ok := to.(map[string]any)
	if !ok {
		return
	}
	if slices.Contains(w.under, address(target)) {
		if hasSecret(target) {
			w.found = append(w.found, at)
		}
		return
	}
	w.under = append(w.under, address(target))
	w.walk(target, at)
	w.under = w.under[:len(w.under)-1]
}

// hasSecret reports whether anything in a schema document is marked.
func hasSecret(tree any) bool {
	switch at := tree.(type) {
	case map[string]any:
		for name, member := range at {
			if name == secretKeyword && member == true || hasSecret(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(at, hasSecret)
	}
	return false
}
