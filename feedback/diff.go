package feedback

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// compare returns what changed since the issues before. Both lists are in canonical order.
func compare(before, now []fault.Issue, class fault.Class) Diff {
	before = fault.SortIssues(before)
	return Diff{
		Fixed:      pick(before, passed(now, class)),
		New:        pick(now, func(i fault.Issue) bool { return !has(before, i) }),
		Persistent: pick(now, func(i fault.Issue) bool { return has(before, i) }),
	}
}

// passed reports whether what has the issues of now was checked for an earlier issue, and has it no more.
func passed(now []fault.Issue, class fault.Class) func(fault.Issue) bool {
	reached := reach(now, class)
	return func(i fault.Issue) bool { return !has(now, i) && layer(i) <= reached && !hidden(i, now) }
}

// pick returns the issues that fit, or nil.
func pick(issues []fault.Issue, fits func(fault.Issue) bool) (picked []fault.Issue) {
	for _, i := range issues {
		if fits(i) {
			picked = append(picked, i)
		}
	}
	return picked
}

// has reports whether sorted issues contain one with the same [fault.Issue.ID].
func has(sorted []fault.Issue, issue fault.Issue) bool {
	_, found := slices.BinarySearchFunc(sorted, issue, compareKeys)
	return found
}

// compareKeys compares the parts of an issue's ID, in canonical order.
func compareKeys(a, b fault.Issue) int {
	return cmp.Or(
		strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Rule, b.Rule),
		strings.Compare(a.Expected, b.Expected),
	)
}

// layers are the checks, in their order: invalid JSON is not checked against the schema, and arguments that
// the schema refuses do not reach the tool. Issues with an unknown source count as the first layer.
var layers = []fault.Source{
	fault.FromReply, fault.FromJSON, fault.FromSchema, fault.FromRules, fault.FromTool,
}

func layer(i fault.Issue) int {
	if i.Rule == fault.RuleReducer {
		return len(layers)
	}
	return max(0, slices.Index(layers, i.Source))
}

// reach returns the last layer that certainly checked the attempt, or -1 if unknown.
func reach(now []fault.Issue, class fault.Class) int {
	if class == fault.Reducer {
		return len(layers)
	}
	reached := -1
	for _, i := range now {
		reached = max(reached, layer(i))
	}
	return reached
}

// hidden reports whether an issue of now may have kept the check from reaching the place of the earlier one,
// such as a wrong kind at or above it. No issue hides an earlier one about the kind itself at the same place.
func hidden(earlier fault.Issue, now []fault.Issue) bool {
	kind := earlier.Rule == "type" || earlier.Rule == "required"
	return slices.ContainsFunc(now, func(i fault.Issue) bool {
		return below(earlier.Pointer, i.Pointer) && !(kind && i.Pointer == earlier.Pointer)
	})
}

// below reports whether pointer is place or inside it.
func below(pointer, place string) bool {
	rest, ok := strings.CutPrefix(pointer, place)
	return ok && (rest == "" || rest[0] == '/')
}
