package schema

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// reduce says what is wrong with a value that fits none of several alternatives, without listing all issues
// of all alternatives:
//
//   - If each alternative has one issue, at this very place, they are joined: "string or null".
//   - Alternatives for another kind of value, or for another constant, are set aside. If one alternative is
//     left, its issues are the answer.
//   - A tag is a member that has a different constant in each alternative. If the value has the tag of one,
//     that alternative is explained. If it has the tag of none, or lacks it, the tag alone is at fault.
//   - If each alternative only lacks members, the missing members are listed by alternative.
//   - Otherwise the nearest alternative is explained: no wrong constants, then fewest issues right here, then
//     fewest in all, then deepest, then first. One more issue says that there are other alternatives, unless
//     the value right here fits this one alone or has the members of this one alone.
func (e *evaluation) reduce(f failure, whole fault.Issue) []fault.Issue {
	here, rule := whole.Pointer, f.rule
	all := make([][]fault.Issue, 0, len(f.branches))
	total := len(f.branches)
	for _, b := range f.branches {
		all = append(all, sorted(e.explain(b)))
		total += len(all[len(all)-1])
	}
	if !e.sorts(total + len(here)/patternSteps) {
		return nil
	}
	if joined, ok := join(all, here, rule); ok {
		return []fault.Issue{joined}
	}
	near := branchesNear(all, here)
	if len(near) == 1 {
		return near[0].all
	}
	if one, ok := atOnce(near, whole, rule); ok {
		return []fault.Issue{one}
	}
	if !e.spend(len(near) * len(near) / patternSteps) {
		return nil
	}
	best, settled := nearest(near, here)
	if settled {
		return best.all
	}
	whole.Expected = others(len(all))
	return append(slices.Clone(best.all), whole)
}

const fitsOneOf = "a value that fits one of "

// others says that there are so many alternatives.
func others(number int) string { return fitsOneOf + strconv.Itoa(number) + " alternatives" }

// tellsOthers reports whether an issue says no more than that there are alternatives.
func tellsOthers(i fault.Issue) bool { return strings.HasPrefix(i.Expected, fitsOneOf) }

// join makes one issue of branches that each fail by one thing at the place itself.
func join(branches [][]fault.Issue, here, rule string) (fault.Issue, bool) {
	var wants, rules []string
	sent := ""
	for _, b := range branches {
		if len(b) != 1 || b[0].Pointer != here {
			return fault.Issue{}, false
		}
		wants = appendNew(wants, b[0].Expected)
		rules = appendNew(rules, b[0].Rule)
		sent = cmp.Or(sent, b[0].Sent)
	}
	if len(branches) == 0 {
		return fault.Issue{}, false
	}
	one := branches[0][0]
	one.Expected, one.Sent = clip(orList(wants)), sent
	plain := func(r string) bool { return r == "type" || r == "const" || r == "isdefault" }
	telling := slices.DeleteFunc(slices.Clone(rules), plain)
	switch {
	case len(rules) == 1:
	case len(telling) == 1:
		one.Rule = telling[0]
	default:
		one.Rule = rule
	}
	return one, true
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// isForeign reports whether a branch is for another kind of value altogether, or is a single other constant.
func isForeign(branch []fault.Issue, here string) bool {
	if len(branch) != 1 || branch[0].Pointer != here {
		return false
	}
	return slices.Contains([]string{"type", "const", "isdefault"}, branch[0].Rule)
}

// branch is an alternative by its place among all, and what is wrong by it: of that, right is what lies right
// at the place itself, which tells whether the branch was meant.
type branch struct {
	at         int
	all, right []fault.Issue
}

// branchesNear are those that are not for another kind of value altogether; all where there are none.
func branchesNear(all [][]fault.Issue, here string) []branch {
	var near, far []branch
	for n, issues := range all {
		if b := newBranch(n, issues, here); isForeign(issues, here) {
			far = append(far, b)
		} else {
			near = append(near, b)
		}
	}
	if near == nil {
		return far
	}
	return near
}

func newBranch(at int, all []fault.Issue, here string) branch {
	var right []fault.Issue
	for _, i := range all {
		if depth := strings.Count(i.Pointer[len(here):], "/"); depth == 0 || depth == 1 && !tellsOthers(i) {
			right = append(right, i)
		}
	}
	return branch{at, all, right}
}

// nearest is the branch that is nearest to a value, of at least two. It is settled where the value right at
// the place fits it and no other, or has its tag, or has its members and those of no other, and where all
// that is wrong by it is wrong by each.
func nearest(of []branch, here string) (best branch, settled bool) {
	for _, b := range of {
		if isTagged(b, of, here) {
			return b, true
		}
	}
	fitting, shaped := 0, 0
	for _, b := range of {
		if len(b.right) == 0 {
			fitting++
		}
		if b.hasShape(here) {
			shaped++
		}
	}
	best = slices.MinFunc(of, branch.compare)
	alone := fitting == 1 && len(best.right) == 0 || shaped == 1 && best.hasShape(here)
	return best, alone || best.isCommon(of)
}

// isCommon reports whether all that is wrong by a branch is wrong by each.
func (b branch) isCommon(of []branch) bool {
	if len(b.all) == 0 || len(b.all) > maxListed {
		return false
	}
	return !slices.ContainsFunc(of, func(other branch) bool {
		return slices.ContainsFunc(b.all, func(i fault.Issue) bool { return !slices.Contains(other.all, i) })
	})
}

func (a branch) compare(b branch) int {
	return cmp.Or(
		cmp.Compare(wrongConstants(a.right), wrongConstants(b.right)),
		cmp.Compare(len(a.right), len(b.right)),
		cmp.Compare(len(a.all), len(b.all)),
		cmp.Compare(deepest(b.all), deepest(a.all)),
	)
}

// wrongConstants counts the constants a branch misses: the tag of a tagged union tells which branch was
// meant.
func wrongConstants(branch []fault.Issue) int {
	n := 0
	for _, i := range branch {
		if i.Rule == "const" || i.Rule == "enum" {
			n++
		}
	}
	return n
}

func deepest(branch []fault.Issue) int {
	depth := 0
	for _, i := range branch {
		depth = max(depth, strings.Count(i.Pointer, "/"))
	}
	return depth
}

// atOnce is the one issue that says what is wrong by all branches, where there is one: whole is of the value
// as a whole.
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
		if wants, all := tagsAt(near, i.Pointer, none); all && i.Pointer != here && len(wants) > 1 {
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
	first := near[0]
	if first.at == of.at {
		first = near[1]
	}
	for _, i := range first.right {
		same := func(o fault.Issue) bool { return o.Pointer == i.Pointer }
		if i.Pointer == here || !refusesTag(i) || slices.ContainsFunc(of.right, same) {
			continue
		}
		if wants, all := tagsAt(near, i.Pointer, of.at); all && len(wants) > 0 {
			return true
		}
	}
	return false
}

// none is the place of no branch.
const none = -1

// tagsAt is what branches want of a tag, and whether all refuse the one there is. One branch is not asked.
func tagsAt(near []branch, pointer string, but int) (wants [][]fault.Issue, all bool) {
	for _, b := range near {
		if b.at == but {
			continue
		}
		refuses := func(i fault.Issue) bool { return i.Pointer == pointer && refusesTag(i) }
		n := slices.IndexFunc(b.right, refuses)
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
	oneValue := i.Rule == "enum" && !strings.HasPrefix(i.Expected, oneOfMany)
	return oneValue || i.Rule == "const" || i.Rule == "additionalProperties"
}

// shape are the rules by which a value has not the members, or the constants, that a branch is known by.
var shape = []string{
	"required", "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentRequired", "dependencies", "const", "enum", "isdefault",
}

// hasShape reports whether a value has the members that a branch is known by, and nothing is wrong with it as
// a whole.
func (b branch) hasShape(here string) bool {
	return !slices.ContainsFunc(b.right, func(i fault.Issue) bool {
		return i.Pointer == here || slices.Contains(shape, i.Rule)
	})
}

// lacking says which members a value lacks by each branch, where it lacks nothing else and has nothing that
// it should not have.
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
		return "the member " + nameOf(names[0])
	}
	return "the members " + boundedNames(names[:len(names)-1]) + " and " + nameOf(names[len(names)-1])
}

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

// maxTries bounds the members that are tried as tags in one schema document.
const maxTries = 1 << 16

// tagOf finds the tag of alternatives, the first by name; nil where they have none. tries is how many members
// may still be tried.
func tagOf(branches []*node, tries *int) *tag {
	if len(branches) < 2 {
		return nil
	}
	members := branches[0].resolved().members
	if *tries -= len(members); *tries < 0 {
		return nil
	}
	for _, name := range canon.Keys(members) {
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
