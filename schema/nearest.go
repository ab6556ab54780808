package schema

import (
	"reflect"
	"slices"

	"github.com/retake-go/retake/fault"
)

// tooManyWays is expected where what is wrong cannot be said in little time.
const tooManyWays = "a smaller or less nested value, for there are too many ways to read this one"

// refuseNearest explains, in the library's place, a container that begins at start and that the library would look at too often: by
// what the node itself found in it, or else by the nearest of the alternatives that refuse it. It says what [explainer.reduce] would,
// but that alternatives are compared by what lies right in the container alone.
func (w *walk) refuseNearest(n *node, start, mark int) verdict {
	f := &w.found
	if len(f.issues) > mark {
		return when(!f.lost).orUnsure()
	}
	issue := w.containerIssue(start, fault.RuleDepth, tooManyWays)
	switch rule, list := w.refusing(n.more, start); {
	case rule == "" && n.more != nil:
		if told := w.left(n, start, f); told != good || len(f.issues) > mark {
			return told
		}
	case len(list) > 0 && f.affordsBytes((len(list)+1)*(w.at-start)):
		near := w.branchesNear(list, start, issue.Pointer)
		if one, ok := atOnce(near, issue, rule); ok {
			issue = one
			break
		}
		best, settled := near[0], true
		if len(near) > 1 {
			best, settled = nearest(near, issue.Pointer)
		}
		if told := w.explainBy(list[best.at], start); told != good {
			return told
		}
		if settled && len(f.issues) > mark {
			return when(!f.lost).orUnsure()
		}
		issue.Rule, issue.Expected = rule, others(len(list))
	case len(list) == 0 && rule != "":
		issue.Rule, issue.Expected = rule, fitsExactlyOne
	}
	f.tell(issue)
	f.tellOptional(mark)
	return when(!f.lost).orUnsure()
}

// containerIssue is an issue of the container that begins at start, and that the walk is at.
func (w *walk) containerIssue(start int, rule, expected string) fault.Issue {
	got := fault.Array
	if w.text[start] == '{' {
		got = fault.Object
	}
	return fault.Issue{Pointer: pointerOf(w.found.place()), Rule: rule, Expected: expected, Got: got, Source: fault.FromSchema}
}

// refusing are the branches that refuse the container, and the keyword that they stand under; that alone where more than one fits.
func (w *walk) refusing(b *branches, start int) (rule string, list []*node) {
	if b == nil {
		return "", nil
	}
	for n := range b.all {
		if w.branch(b.all[n], start) == bad {
			return "allOf", b.all[n : n+1]
		}
	}
	takes := func(n *node) bool { return w.branch(n, start) != bad }
	if len(b.any) > 0 && !slices.ContainsFunc(b.any, takes) {
		return "anyOf", b.any
	}
	fitting := 0
	for _, n := range b.one {
		if w.branch(n, start) == good {
			fitting++
		}
	}
	switch {
	case fitting > 1:
		return "oneOf", nil
	case len(b.one) > 0 && !slices.ContainsFunc(b.one, takes):
		return "oneOf", b.one
	}
	return "", nil
}

// branchesNear are branches by what is wrong by them right in the container that begins at start.
func (w *walk) branchesNear(list []*node, start int, here string) []branch {
	all := make([][]fault.Issue, 0, len(list))
	for _, n := range list {
		again := w.again(start)
		again.flat, again.asked = w.depth+1, nil
		again.found = w.found
		again.found.issues, again.found.bare = nil, true
		again.value(n, reflect.Value{})
		all = append(all, fault.SortIssues(again.found.issues))
		w.found.looks, w.found.bytes, w.found.short = again.found.looks, again.found.bytes, again.found.short
	}
	return branchesNear(all, here)
}

// explainBy tells what is wrong by a branch.
func (w *walk) explainBy(n *node, start int) verdict {
	again := w.again(start)
	again.found = w.found
	told := again.value(n, reflect.Value{})
	w.found, w.asked = again.found, again.asked
	return told
}
