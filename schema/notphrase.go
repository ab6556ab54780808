package schema

import (
	"strconv"
	"strings"
)

const anythingBut = "anything but "

// notThat says what a value is not to be.
func notThat(v any) string {
	not, _ := v.(map[string]any)
	if c, ok := not["const"]; ok {
		return anythingBut + literal(c)
	}
	if values, ok := not["enum"].([]any); ok {
		return anythingBut + strings.TrimPrefix(oneOf(values), oneOfMany)
	}
	if p, ok := not["pattern"].(string); ok {
		return "a string not matching " + p
	}
	if types := stringsOf(not["type"]); len(types) > 0 && len(not) == 1 {
		return anythingBut + orList(types)
	}
	if names := demandedAlone(not); len(names) == 1 {
		return "no member " + names[0]
	} else if len(names) > 1 {
		return "not all of the members " + bounded(names) + " at once"
	}
	return "a value unlike the one the schema excludes"
}

// onlyOne says which members may not stand together, where alternatives differ in those that they require.
func onlyOne(v any) string {
	list, _ := v.([]any)
	var all []string
	for _, sub := range list {
		at, _ := sub.(map[string]any)
		names := demandedAlone(at)
		if len(names) != 1 {
			return fitsExactlyOne
		}
		all = append(all, names[0])
	}
	if len(all) == 0 {
		return fitsExactlyOne
	}
	return "only one of the members " + bounded(all)
}

// demandedAlone are the members a node requires that asks for nothing else of an object.
func demandedAlone(node map[string]any) []string {
	for keyword := range node {
		if keyword != "required" && keyword != "type" {
			return nil
		}
	}
	return stringsOf(node["required"])
}

// tupleSize is the number of items that are described one by one.
func tupleSize(v any) string {
	first, ok := v.([]any)
	if !ok {
		return "no item here"
	}
	return "at most " + count(number(strconv.Itoa(len(first))), "item")
}

// countOfFitting is how many items are to fit.
func countOfFitting(rule string, node map[string]any) string {
	if rule == "contains" {
		return "at least 1 item"
	}
	return strings.TrimSuffix(phrase(rule, node), " as described")
}
