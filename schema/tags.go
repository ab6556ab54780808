package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// atOnce is the one issue that says what is wrong by all branches, where there is one: whole is of the value as a whole.
func atOnce(near []branch, whole fault.Issue, rule string) (fault.Issue, bool) {
	if tag, ok := wrongTag(near, whole.Pointer, rule); ok {
		return tag, true
	}
	wants, ok := lacking(near, whole.Pointer)
	whole.Rule, whole.Expected = rule, wants
	return whole, ok
}

// wrongTag is the one issue of a value whose tag is that of no branch, or that has none.
func wrongTag(near []branch, here, rule string) (fault.Issue, bool) {
	for _, i := range near[0].right {
		if wants, all := tagsAt(near, i.Pointer); all && i.Pointer != here && len(wants) > 1 {
			return join(wants, i.Pointer, rule)
		}
	}
	for _, i := range near[0].right {
		if wants := missingTag(near, i.Pointer); len(wants) > 1 && i.Pointer != here {
			return join(wants, i.Pointer, rule)
		}
	}
	return fault.Issue{}, false
}

// missingTag is what branches want of a member that is missing and for which each has a constant of its own.
func missingTag(near []branch, pointer string) (wants [][]fault.Issue) {
	var told []string
	for _, b := range near {
		n := slices.IndexFunc(b.right, func(i fault.Issue) bool {
			return i.Pointer == pointer && i.Rule == "required" && json.Valid([]byte(i.Expected))
		})
		if n < 0 || slices.Contains(told, b.right[n].Expected) {
			return nil
		}
		told, wants = append(told, b.right[n].Expected), append(wants, b.right[n:n+1])
	}
	return wants
}

// isTagged reports whether a value has the tag of the branch, which no other has.
func isTagged(of branch, near []branch, here string) bool {
	var others []branch
	for _, b := range near {
		if b.at != of.at {
			others = append(others, b)
		}
	}
	for _, i := range others[0].right {
		wants, all := tagsAt(others, i.Pointer)
		if all && i.Pointer != here && len(wants) > 0 && !slices.ContainsFunc(of.right, func(o fault.Issue) bool { return o.Pointer == i.Pointer }) {
			return true
		}
	}
	return false
}

// tagsAt is what branches want of a tag, and whether all refuse the one there is.
func tagsAt(near []branch, pointer string) (wants [][]fault.Issue, all bool) {
	for _, b := range near {
		n := slices.IndexFunc(b.right, func(i fault.Issue) bool { return i.Pointer == pointer && refusesTag(i) })
		if n < 0 {
			return nil, false
		}
		if b.right[n].Rule != "additionalProperties" {
			wants = append(wants, b.right[n:n+1])
		}
	}
	return wants, true
}

func refusesTag(i fault.Issue) bool {
	return i.Rule == "const" || i.Rule == "additionalProperties" || i.Rule == "enum" && !strings.HasPrefix(i.Expected, oneOfMany)
}

// shape are the rules by which a value has not the members, or the constants, that a branch is known by.
var shape = []string{
	"required", "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentRequired", "dependencies", "const", "enum", "isdefault",
}

// hasShape reports whether a value has the members that a branch is known by, and nothing is wrong with it as a whole.
func (b branch) hasShape(here string) bool {
	return !slices.ContainsFunc(b.right, func(i fault.Issue) bool { return i.Pointer == here || slices.Contains(shape, i.Rule) })
}

// lacking says which members a value lacks by each branch, where it lacks nothing else and has nothing that it should not have.
func lacking(near []branch, here string) (wants string, ok bool) {
	var lists []string
	count := 0
	for _, b := range near {
		var names []string
		for _, i := range b.all {
			if i.Rule != "required" || strings.Count(i.Pointer[len(here):], "/") != 1 {
				return "", false
			}
			names = append(names, pathOf(i.Pointer[len(here):])[0])
		}
		if count += len(names); len(names) == 0 {
			return "", false
		}
		lists = appendNew(lists, membersNamed(names))
	}
	return clip(orList(lists)), len(near) > 1 && count <= maxListed
}

func membersNamed(names []string) string {
	if len(names) == 1 {
		return "the member " + names[0]
	}
	return "the members " + bounded(names[:len(names)-1]) + " and " + names[len(names)-1]
}
