package schema

import (
	"cmp"
	"slices"
	"strconv"

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
func (e *evaluation) reduce(f *failure) []*failure {
	u := union{e, f}
	all := make([][]*failure, 0, len(f.branches))
	total := len(f.branches)
	for _, b := range f.branches {
		all = append(all, e.sorted(e.list(nil, b)))
		total += len(all[len(all)-1])
	}
	if !e.spend(2 * total) {
		return nil
	}
	if joined := u.join(all); joined != nil {
		return []*failure{joined}
	}
	near := u.near(all)
	if len(near) == 1 {
		return near[0].all
	}
	if one := u.atOnce(near); one != nil {
		return []*failure{one}
	}
	if !e.spend(len(near) * len(near) / patternSteps) {
		return nil
	}
	best, settled := u.nearest(near)
	if settled {
		return best.all
	}
	others := u.whole("a value that fits one of " + strconv.Itoa(len(all)) + " alternatives")
	others.others = true
	return append(slices.Clone(best.all), others)
}

// union is a value that fits none of several alternatives.
type union struct {
	*evaluation
	*failure
}

// whole is a failure of the value as a whole, with its words.
func (u union) whole(said string) *failure {
	return &failure{at: u.at, value: u.value, rule: u.rule, said: said}
}

// isOf reports whether a failure is of the value itself.
func (f *failure) isOf(v *value) bool { return f.value == v && f.lacks == "" }

func (f *failure) isAt(o *failure) bool { return f.value == o.value && f.lacks == o.lacks }

// depth is how many steps lead from a value to the place.
func (f *failure) depth(from *value) (steps int) {
	if f.lacks != "" {
		steps++
	}
	for v := f.value; v != nil && v != from; v = v.parent {
		steps++
	}
	return steps
}

// join makes one failure of branches that each fail by one thing, at the value itself; nil where they do not.
func (u union) join(branches [][]*failure) *failure {
	for _, b := range branches {
		if len(b) != 1 || !b[0].isOf(u.value) {
			return nil
		}
	}
	return u.joined(branches)
}

// joined is one failure of several at one place; nil of none.
func (u union) joined(branches [][]*failure) *failure {
	if len(branches) == 0 {
		return nil
	}
	var rules []string
	first := branches[0][0]
	one := &failure{at: first.at, value: first.value, lacks: first.lacks, rule: first.rule}
	for _, b := range branches {
		one.joined = append(one.joined, b[0])
		rules = appendNew(rules, b[0].rule)
	}
	if len(rules) == 1 {
		return one
	}
	one.rule = u.rule
	if telling := slices.DeleteFunc(rules, isForeign); len(telling) == 1 {
		one.rule = telling[0]
	}
	return one
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// isForeign reports whether a rule refuses another kind of value altogether, or another constant.
func isForeign(rule string) bool { return rule == "type" || rule == "const" }

// branch is an alternative by its place among all, and what is wrong by it: of that, right is what lies right
// at the place itself, which tells whether the branch was meant.
type branch struct {
	at         int
	all, right []*failure
}

// near are the branches that are not for another kind of value altogether; all where there are none.
func (u union) near(all [][]*failure) (near []branch) {
	var far []branch
	for n, list := range all {
		b := branch{at: n, all: list}
		for _, f := range list {
			if depth := f.depth(u.value); depth == 0 || depth == 1 && !f.others {
				b.right = append(b.right, f)
			}
		}
		if len(list) == 1 && list[0].isOf(u.value) && isForeign(list[0].rule) {
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

// nearest is the branch that is nearest to a value, of at least two. It is settled where the value right at
// the place fits it and no other, or has its tag, or has its members and those of no other, and where all
// that is wrong by it is wrong by each.
func (u union) nearest(of []branch) (best branch, settled bool) {
	for _, b := range of {
		if u.isTagged(b, of) {
			return b, true
		}
	}
	fitting, shaped := 0, 0
	for _, b := range of {
		if len(b.right) == 0 {
			fitting++
		}
		if u.hasShape(b) {
			shaped++
		}
	}
	best = slices.MinFunc(of, func(a, b branch) int {
		return cmp.Or(
			cmp.Compare(wrongConstants(a.right), wrongConstants(b.right)),
			cmp.Compare(len(a.right), len(b.right)),
			cmp.Compare(len(a.all), len(b.all)),
			cmp.Compare(u.deepest(b.all), u.deepest(a.all)),
		)
	})
	alone := fitting == 1 && len(best.right) == 0 || shaped == 1 && u.hasShape(best)
	return best, alone || u.isCommon(best, of)
}

// isCommon reports whether all that is wrong by a branch is wrong by each.
func (u union) isCommon(b branch, of []branch) bool {
	if len(b.all) == 0 || len(b.all) > maxListed {
		return false
	}
	return !slices.ContainsFunc(of, func(other branch) bool {
		return slices.ContainsFunc(b.all, func(f *failure) bool {
			return !slices.ContainsFunc(other.all, func(o *failure) bool {
				return f == o || f.isAt(o) && f.rule == o.rule && f.expected(u.evaluation) == o.expected(u.evaluation)
			})
		})
	})
}

// wrongConstants counts the constants a branch misses: the tag of a tagged union tells which branch was
// meant.
func wrongConstants(branch []*failure) int {
	n := 0
	for _, f := range branch {
		if f.rule == "const" || f.rule == "enum" {
			n++
		}
	}
	return n
}

func (u union) deepest(branch []*failure) (depth int) {
	for _, f := range branch {
		depth = max(depth, f.depth(u.value))
	}
	return depth
}

// atOnce is the one failure that says what is wrong by all branches; nil where there is none.
func (u union) atOnce(near []branch) *failure {
	if tag := u.wrongTag(near); tag != nil {
		return tag
	}
	if wants, ok := u.lacking(near); ok {
		return u.whole(wants)
	}
	return nil
}

// wrongTag is the one failure of a value whose tag is that of no branch, or that has none.
func (u union) wrongTag(near []branch) *failure {
	for _, f := range near[0].right {
		if wants, all := tagsAt(near, f, none); all && !f.isOf(u.value) && len(wants) > 1 {
			return u.joined(wants)
		}
	}
	for _, f := range near[0].right {
		if wants := u.missingTag(near, f); len(wants) > 1 {
			return u.joined(wants)
		}
	}
	return nil
}

// missingTag is what branches want of a member that is missing and for which each has a constant of its own.
func (u union) missingTag(near []branch, tag *failure) (wants [][]*failure) {
	var told []string
	for _, b := range near {
		n := slices.IndexFunc(b.right, func(f *failure) bool {
			return f.isAt(tag) && f.rule == "required" && f.at.memberNamed(f.lacks[1:]).isConstant(maxSteps)
		})
		if n < 0 || slices.Contains(told, b.right[n].expected(u.evaluation)) {
			return nil
		}
		told, wants = append(told, b.right[n].expected(u.evaluation)), append(wants, b.right[n:n+1])
	}
	return wants
}

// isConstant reports whether a schema takes one value.
func (n *node) isConstant(steps int) bool {
	switch {
	case n == nil || steps == 0:
		return false
	case n.Const != nil, n.Enum != nil:
		return n.Const != nil || len(n.Enum.Values) == 1
	case n.types != 0:
		return n.types == kindNull
	}
	return n.target().isConstant(steps - 1)
}

// isTagged reports whether a value has the tag of the branch, which no other has.
func (u union) isTagged(of branch, near []branch) bool {
	first := near[0]
	if first.at == of.at {
		first = near[1]
	}
	for _, f := range first.right {
		if f.isOf(u.value) || !f.refusesTag() || slices.ContainsFunc(of.right, f.isAt) {
			continue
		}
		if wants, all := tagsAt(near, f, of.at); all && len(wants) > 0 {
			return true
		}
	}
	return false
}

// none is the place of no branch.
const none = -1

// tagsAt is what branches want of a tag, and whether all refuse the one there is. One branch is not asked.
func tagsAt(near []branch, tag *failure, but int) (wants [][]*failure, all bool) {
	for _, b := range near {
		if b.at == but {
			continue
		}
		n := slices.IndexFunc(b.right, func(f *failure) bool { return f.isAt(tag) && f.refusesTag() })
		if n < 0 {
			return nil, false
		}
		if b.right[n].rule != "additionalProperties" {
			wants = append(wants, b.right[n:n+1])
		}
	}
	return wants, true
}

func (f *failure) refusesTag() bool {
	return f.rule == "const" || f.rule == "additionalProperties" || f.rule == "enum" && f.wantsOne()
}

// wantsOne reports whether an enum, or each of several, has one value.
func (f *failure) wantsOne() bool {
	if f.joined != nil {
		return !slices.ContainsFunc(f.joined, func(f *failure) bool { return !f.wantsOne() })
	}
	return f.rule == "const" || f.rule == "enum" && len(f.at.Enum.Values) == 1
}

// shape are the rules by which a value has not the members, or the constants, that a branch is known by.
var shape = []string{
	"required", "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentRequired", "dependencies", "const", "enum",
}

// hasShape reports whether a value has the members that a branch is known by, and nothing is wrong with it as
// a whole.
func (u union) hasShape(b branch) bool {
	return !slices.ContainsFunc(b.right, func(f *failure) bool {
		return f.isOf(u.value) || slices.Contains(shape, f.rule)
	})
}

// lacking says which members a value lacks by each branch, where it lacks nothing else and has nothing that
// it should not have.
func (u union) lacking(near []branch) (wants string, ok bool) {
	var lists []string
	count := 0
	for _, b := range near {
		var names []string
		for _, f := range b.all {
			if f.rule != "required" || f.value != u.value {
				return "", false
			}
			names = append(names, f.lacks[1:])
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
