package schema

import (
	"maps"
	"slices"
	"strings"
)

// Bounds of what a description adds to a type. What is longer is left out: it is told when it is broken.
const (
	maxDetail  = 60  // bytes of one constraint
	maxDigits  = 9   // bytes of a number in it: the bounds of wide Go types tell nobody anything
	maxMembers = 120 // bytes of the names of an object's members
	maxSteps   = 8   // references followed
	maxLists   = 3   // lists within lists that are named
)

// describe says in a few words what a value should be: its constant, its values, or its type with its plain constraints.
func (x explainer) describe(node any, steps int) string {
	at, ok := node.(map[string]any)
	if !ok || steps == 0 {
		return ""
	}
	for _, keyword := range []string{"const", "enum"} {
		if _, ok := at[keyword]; ok {
			return phrase(keyword, at)
		}
	}
	if _, ok := at["type"]; ok {
		return x.describeType(at)
	}
	if target, ok := x.target(at); ok {
		return x.describe(target, steps-1)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, _ := at[keyword].([]any)
		var wants []string
		for _, sub := range list {
			if want := x.describe(sub, steps-1); want != "" {
				wants = appendNew(wants, want)
			}
		}
		if len(wants) > 0 {
			return orList(wants)
		}
	}
	return ""
}

// target is what a node refers to.
func (x explainer) target(node map[string]any) (any, bool) {
	if x.schema == nil {
		return nil, false
	}
	return x.schema.target(node)
}

// describeType is a type with what else its node plainly says: "integer (at least 1, at most 30)", "array of strings".
func (x explainer) describeType(node map[string]any) string {
	types := stringsOf(node["type"])
	named := make([]string, len(types))
	for n, t := range types {
		named[n] = t
		if t == "array" {
			named[n] += x.ofItems(node, maxLists)
		}
	}
	text := orList(named)
	if details := x.details(node, types); len(details) > 0 {
		text += " (" + strings.Join(details, ", ") + ")"
	}
	return clip(text)
}

// ofItems says what an array is of, where one word can: " of strings", " of arrays of numbers".
func (x explainer) ofItems(node map[string]any, lists int) string {
	items, ok := x.items(node)
	if !ok || lists == 0 {
		return ""
	}
	types := stringsOf(items["type"])
	named := make([]string, len(types))
	for n, t := range types {
		named[n] = t + "s"
		if t == "array" {
			named[n] += x.ofItems(items, lists-1)
		}
	}
	if len(named) == 0 {
		return ""
	}
	return " of " + orList(named)
}

// items is the schema of all items of an array, with references followed.
func (x explainer) items(node map[string]any) (map[string]any, bool) {
	if _, tuple := node["prefixItems"]; tuple {
		return nil, false
	}
	items, ok := node["items"].(map[string]any)
	for range maxSteps {
		target, refers := x.target(items)
		if !refers {
			break
		}
		items, ok = target.(map[string]any)
	}
	return items, ok
}

// plain are the constraints a description tells, each with the types it is for.
var plain = []struct {
	keyword string
	types   []string
}{
	{"minimum", []string{"integer", "number"}}, {"exclusiveMinimum", []string{"integer", "number"}},
	{"maximum", []string{"integer", "number"}}, {"exclusiveMaximum", []string{"integer", "number"}},
	{"multipleOf", []string{"integer", "number"}},
	{"minLength", []string{"string"}}, {"maxLength", []string{"string"}}, {"pattern", []string{"string"}}, {"format", []string{"string"}},
	{"minItems", []string{"array"}}, {"maxItems", []string{"array"}},
}

// details are the plain constraints of a node, and of what it adds in allOf, that concern its types.
func (x explainer) details(node map[string]any, types []string) []string {
	all, _ := node["allOf"].([]any)
	var details []string
	for _, sub := range append([]any{node}, all...) {
		at, _ := sub.(map[string]any)
		for _, p := range plain {
			said := says(at, p.keyword)
			fits := slices.ContainsFunc(types, func(t string) bool { return slices.Contains(p.types, t) })
			if said && fits && (p.types[0] == "string" || len(literal(at[p.keyword])) <= maxDigits) {
				details = appendShort(details, x.constraint(p.keyword, at), maxDetail)
			}
		}
	}
	if slices.Contains(types, "object") {
		details = appendShort(details, membersPhrase(node, "member: ", "members: "), maxMembers)
	}
	if slices.Contains(types, "array") {
		details = appendShort(details, x.eachItem(node), maxMembers)
	}
	return details
}

// says reports whether a node has a constraint. In draft 4 an exclusive bound is a plain one that is marked by true.
func says(node map[string]any, keyword string) bool {
	v, ok := node[keyword]
	marked := keyword == "minimum" && node["exclusiveMinimum"] == true || keyword == "maximum" && node["exclusiveMaximum"] == true
	return ok && v != false && !marked
}

func appendShort(list []string, s string, limit int) []string {
	if s == "" || len(s) > limit {
		return list
	}
	return appendNew(list, s)
}

// constraint is the phrase of a keyword beside a type that has been named. A format that is a judge's says what the judge does.
func (x explainer) constraint(keyword string, node map[string]any) string {
	if j, ok := x.judge(textOf(node[keyword])); ok && keyword == "format" {
		if !j.tells() {
			return ""
		}
		return j.expected()
	}
	return strings.TrimPrefix(phrase(keyword, node), "a string ")
}

// eachItem says of items what their type leaves open: their values, or the members of objects.
func (x explainer) eachItem(node map[string]any) string {
	items, ok := x.items(node)
	if !ok {
		return ""
	}
	for _, keyword := range []string{"const", "enum"} {
		if _, ok := items[keyword]; ok {
			return "each " + phrase(keyword, items)
		}
	}
	if !slices.Contains(stringsOf(items["type"]), "object") {
		return ""
	}
	return membersPhrase(items, "each with the member ", "each with the members ")
}

// membersPhrase names the members of an object; empty where the schema names none.
func membersPhrase(node map[string]any, one, many string) string {
	members, _ := node["properties"].(map[string]any)
	switch len(members) {
	case 0:
		return ""
	case 1:
		many = one
	}
	return many + bounded(slices.Sorted(maps.Keys(members)))
}
