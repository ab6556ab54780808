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
//   - Alternatives that nothing fits are left out, where there are others.
//   - If each alternative has one issue, at this very place, they are joined: "string or null".
//   - Alternatives for another kind of value, or for another constant, are set aside, and so are those that do
//     not know the members that were sent as others do. If one alternative is left, its issues are the answer.
//   - If each alternative only lacks members, the missing members are listed by alternative.
//   - Otherwise the nearest alternative is explained: no wrong constants, then fewest issues right here, then
//     one whose members are there, then fewest in all, then deepest, then first. One more issue says that
//     there are other alternatives, unless the value right here fits this one alone or has the members of this
//     one alone.
//   - Where very many failures were compared for a reply, that there are alternatives is all that is said.
//
// Objects that a tag tells apart do not come here, unless some may lack it.
//
// The failures are the last ones, from a place on. ends are where those of each alternative end.
func (f *collector) reduce(rule string, of []*node, from int, ends []int) {
	list := f.since(from)
	branches, start, total := make([]branch, len(of)), 0, len(of)
	for n, end := range ends {
		branches[n] = branch{of: of[n], all: inOrder(list[start:end])}
		start, total = end, total+len(branches[n].all)
	}
	if !f.spend(2 * total) {
		return // all that is told is that the budget is spent
	}
	isNone := func(b branch) bool { return len(b.all) == 1 && b.all[0].rule == "false" && b.all[0].isOf(f.v) }
	if some := slices.DeleteFunc(slices.Clone(branches), isNone); len(some) > 0 {
		branches = some
	}
	if isJoined(branches, f.v) {
		for n, b := range branches {
			list[n] = b.all[0]
		}
		f.failures = append(f.failures, joined(rule, list[:len(branches)]))
		return
	}
	meant := near(branches, f.v)
	if !f.spend(len(meant) * (len(meant) + maxWeighedMembers) / patternSteps) {
		return
	}
	if meant = knowing(meant, f.v); len(meant) == 1 {
		f.failures = append(f.failures, meant[0].all...)
		return
	}
	whole := f.noneOf(rule, len(branches))
	if said := lacking(meant, f.v); said != "" {
		whole.said, whole.others = said, false
		f.failures = append(f.failures, *whole)
		return
	}
	best, settled := nearest(meant)
	if f.failures = append(f.failures, best.all...); !settled {
		f.failures = append(f.failures, *whole)
	}
}

// forItsKind returns the alternative that is for the value, where all others are for other kinds or
// constants; nil where all are. isSo is false where more are for it.
func (f *collector) forItsKind(list []*node) (only *node, isSo bool) {
	for _, n := range list {
		switch {
		case isForeign(f.excludes(n)):
		case only != nil:
			return nil, false
		default:
			only = n
		}
	}
	return only, true
}

// ofOne applies the one alternative that is for the value, if there is one. What is wrong within the value,
// and several things that are wrong with it, are the answer as they are.
func (f *collector) ofOne(rule string, list []*node, only *node) {
	from := len(f.failures)
	if only == nil {
		f.failures = append(f.failures, failure{value: f.v})
	} else if f.ask(only) {
		return
	}
	f.failed = true
	if slices.ContainsFunc(f.failures[from:], func(x failure) bool { return !x.isOf(f.v) }) {
		return
	}
	own := inOrder(f.failures[from:])
	if f.failures = f.failures[:from+len(own)]; len(own) == 1 {
		own[0] = f.orOthers(rule, list, only, own[0])
		own[0].value = f.v
	}
}

// orOthers joins what is wrong by the one alternative that is for the value with what the others want. Where
// only the keyword counts, it is made once.
func (f *collector) orOthers(rule string, list []*node, only *node, own failure) failure {
	f.spend(len(list))
	at, key := cmp.Or(only, list[0]), wrongBy{own.at, own.rule, f.v.kind}
	isPlain := own.said == "" && own.joined == nil && own.rule != "unevaluatedProperties" // which tells the name
	if known, isKnown := at.orOthers.Load(key); isKnown && isPlain {
		return *known.(*failure)
	}
	all := make([]failure, 0, len(list))
	for _, n := range list {
		if n != only {
			all = append(all, failure{at: n, rule: f.excludes(n)})
		} else if own.rule != "false" || len(list) == 1 {
			all = append(all, own)
		}
	}
	one := joined(rule, all)
	if isPlain {
		one.said, one.joined, one.value = one.expected(), all[:0:0], value{}
		at.orOthers.Store(key, &one)
	}
	return one
}

// wrongBy is a keyword that a value of a kind fails.
type wrongBy struct {
	*node
	rule string
	kind kind
}

// noneOf says no more than that a value fits none of so many alternatives.
func (f *collector) noneOf(rule string, count int) *failure {
	said := "a value that fits one of " + strconv.Itoa(count) + " alternatives"
	return &failure{at: f.n, value: f.v, rule: rule, said: said, others: true}
}

// isOf reports whether a failure is of the value itself.
func (f *failure) isOf(v value) bool { return f.value == v && f.lacks == "" }

func (f *failure) isAt(o *failure) bool { return f.value == o.value && f.lacks == o.lacks }

// depth returns how many steps lead from a value to the place.
func (f *failure) depth(from value) int {
	steps := int(f.value.depth - from.depth)
	if f.lacks != "" {
		steps++
	}
	return steps
}

// isJoined reports whether branches each fail by one thing, at the value itself.
func isJoined(branches []branch, v value) bool {
	return !slices.ContainsFunc(branches, func(b branch) bool { return len(b.all) != 1 || !b.all[0].isOf(v) })
}

// joined returns one failure of several at one place, which refuse the alternatives of a rule.
func joined(rule string, all []failure) failure {
	var rules []string
	for _, f := range all {
		rules = appendNew(rules, f.rule)
	}
	if len(rules) > 1 {
		rules = slices.DeleteFunc(rules, isForeign)
	}
	if len(rules) == 1 {
		rule = rules[0]
	}
	return failure{at: all[0].at, value: all[0].value, rule: rule, joined: all}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// excludes returns the keyword by which a schema is for other kinds or values; empty where it may be for the
// value.
func (f *collector) excludes(n *node) string {
	switch {
	case n.types != 0 && n.types&f.v.kind == 0:
		return "type"
	case n.values != nil && !f.isListed(n):
		return n.listing
	}
	return ""
}

// isForeign reports whether a rule refuses another kind of value altogether, or another constant.
func isForeign(rule string) bool { return rule == "type" || rule == "const" }

// branch is what is wrong with a value by an alternative.
type branch struct {
	of        *node
	all       []failure
	right     int // how many lie right at the value, which tells whether the alternative was meant
	constants int // how many of these are wrong constants: a tag tells which alternative was meant
	depth     int // of the deepest
	shaped    int // 1 if the value has the members that the alternative is known by, and is not wrong as a whole
	// strange is how much of an object says that another alternative is meant: members that this one does not
	// know and another one does, and wrong constants in members that others know too. A constant weighs more.
	strange int
}

// near returns the branches that are not for another kind of value altogether. There are some, for those that
// are have one issue each, and would be joined.
func near(branches []branch, v value) (near []branch) {
	for _, b := range branches {
		if len(b.all) == 1 && b.all[0].isOf(v) && b.all[0].isForeign() {
			continue
		}
		b.shaped = 1
		for _, f := range b.all {
			depth := f.depth(v)
			b.depth = max(b.depth, depth)
			if depth > 1 || depth == 1 && f.others {
				continue
			}
			b.right++
			if f.isConstant() {
				b.constants++
			}
			if depth == 0 || slices.Contains(shape, f.rule) {
				b.shaped = 0
			}
		}
		near = append(near, b)
	}
	return near
}

func (f *failure) isConstant() bool { return f.rule == "const" || f.rule == "enum" }

// isForeign reports whether a failure refuses another kind of value altogether, or another constant.
func (f *failure) isForeign() bool {
	kinds := f.value.kind
	if kinds&(kindInteger|kindNumber) != 0 {
		kinds = kindInteger | kindNumber
	}
	return isForeign(f.rule) || f.rule == "enum" && f.joined == nil && f.at.listed&kinds == 0
}

// How many members of an object, and how many alternatives for it, are looked at to find which one was meant.
const (
	maxWeighedMembers  = 32
	maxWeighedBranches = 64
)

// knowing returns the branches for which least is strange in an object.
func knowing(near []branch, v value) []branch {
	if v.kind != kindObject || len(near) < 2 || len(near) > maxWeighedBranches {
		return near
	}
	within, knows := make([][]*node, len(near)), make([]bool, len(near))
	for i, b := range near {
		within[i] = inPlace(b.of)
	}
	for m, n := v.first(), 0; m.isThere() && n < maxWeighedMembers; m, n = m.sibling(), n+1 {
		count := 0
		for i := range near {
			knows[i] = slices.ContainsFunc(within[i], func(n *node) bool { return n.knows(m.name()) })
			if knows[i] {
				count++
			}
		}
		for i := range near {
			if !knows[i] && count > 0 {
				near[i].strange++
			} else if count > 1 && near[i].hasConstantFor(m) {
				near[i].strange += maxWeighedMembers
			}
		}
	}
	least := slices.MinFunc(near, func(a, b branch) int { return cmp.Compare(a.strange, b.strange) }).strange
	return slices.DeleteFunc(near, func(b branch) bool { return b.strange > least })
}

// knows reports whether a schema describes a member of this name, and not just any other.
func (n *node) knows(name string) bool {
	return n.members[name] != nil || slices.ContainsFunc(n.patterns, func(p patternNode) bool { return p.MatchString(name) })
}

// hasConstantFor reports whether a branch wants a member to be another constant.
func (b *branch) hasConstantFor(m value) bool {
	return slices.ContainsFunc(b.all, func(f failure) bool { return f.isConstant() && f.isOf(m) })
}

// nearest returns the branch that is nearest to a value, of at least two. It is settled where the value right
// at the place fits it and no other, or has its members and those of no other, or where all that is wrong by
// it is wrong by each.
func nearest(of []branch) (best branch, settled bool) {
	fitting, shaped := 0, 0
	for _, b := range of {
		if b.right == 0 {
			fitting++
		}
		shaped += b.shaped
	}
	best = slices.MinFunc(of, func(a, b branch) int {
		return cmp.Or(
			cmp.Compare(a.constants, b.constants),
			cmp.Compare(a.right, b.right),
			cmp.Compare(b.shaped, a.shaped),
			cmp.Compare(len(a.all), len(b.all)),
			cmp.Compare(b.depth, a.depth),
		)
	})
	alone := fitting == 1 && best.right == 0 || shaped == 1 && best.shaped == 1
	return best, alone || best.isCommon(of)
}

// isCommon reports whether all that is wrong by a branch is wrong by each.
func (b branch) isCommon(of []branch) bool {
	if len(b.all) > maxListed {
		return false
	}
	return !slices.ContainsFunc(of, func(other branch) bool {
		return slices.ContainsFunc(b.all, func(f failure) bool {
			return !slices.ContainsFunc(other.all, func(o failure) bool {
				return f.isAt(&o) && f.rule == o.rule && f.expected() == o.expected()
			})
		})
	})
}

// shape are the rules by which a value has not the members, or the constants, that a branch is known by.
var shape = []string{
	"required", "additionalProperties", "unevaluatedProperties", "propertyNames", "dependentRequired", "dependencies", "const", "enum",
}

// lacking says which members a value lacks by each branch, where it lacks nothing else and has nothing that
// it should not have.
func lacking(near []branch, v value) string {
	var lists []string
	count := 0
	for _, b := range near {
		var names []string
		for _, f := range b.all {
			if f.rule != "required" || f.value != v {
				return ""
			}
			names = append(names, f.lacks[1:])
		}
		if count += len(names); count <= maxListed {
			lists = appendNew(lists, membersNamed(names))
		}
	}
	if count > maxListed {
		lists = append(lists, "those of another alternative")
	}
	return clip(orList(lists))
}

func membersNamed(names []string) string {
	if len(names) == 1 {
		return "the member " + nameOf(names[0])
	}
	return "the members " + bounded(names[:len(names)-1], nameOf) + " and " + nameOf(names[len(names)-1])
}

// tag is a member that tells alternatives apart: each wants it to be a value of its own. Of an object only
// the alternative is asked that its tag names, for all others refuse it.
type tag struct {
	name     string
	branches map[key]*node
	all      []*node // the alternatives that want it
	wants    []*node // what each of them wants it to be
	rule     string  // const, if each of them has one, else enum
	optional bool    // an alternative may take objects without it
}

// byTag applies the alternative that an object's tag names. Without it none fits if the tag is of no
// alternative, or is missing and each requires it; false where some may fit.
func (f *collector) byTag(rule string, t *tag) bool {
	m := f.v.member(t.name)
	if m.isThere() && m.kind&(kindObject|kindArray) == 0 {
		if n := t.branches[m.key()]; n != nil {
			f.demand(n)
			return true
		}
	}
	if !m.isThere() && t.optional {
		return false
	} else if !f.spend(len(t.all)) {
		return true
	}
	x := &failure{at: f.n, value: f.v, rule: "required", lacks: "/" + t.name}
	if m.isThere() {
		x.value, x.rule, x.lacks = m, t.rule, ""
	}
	x.said = f.n.expects(rule+" by "+x.rule, func() string { return t.expected(x) })
	f.failed = true
	f.report(x)
	return true
}

// expected returns what the alternatives want where an object has another tag, or lacks it.
func (t *tag) expected(x *failure) string {
	all := make([]failure, len(t.all))
	for n, want := range t.wants {
		all[n] = failure{at: want, rule: want.listing}
		if x.lacks != "" {
			all[n].at, all[n].lacks = t.all[n], x.lacks
		}
	}
	return clip(orList(expectedOf(all)))
}

// maxTries bounds the members that are tried as tags in one schema document.
const maxTries = 1 << 16

// tagOf finds the tag of alternatives, the first by name; nil where they have none. tries is how many members
// may still be tried.
func tagOf(branches []*node, tries *int) *tag {
	names := map[string]bool{}
	for _, b := range branches {
		for _, n := range b.demanded() {
			*tries -= len(n.members)
			for name := range n.members {
				names[name] = true
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if *tries < 0 {
		return nil
	}
	for _, name := range canon.Keys(names) {
		t := &tag{name: name, branches: map[key]*node{}}
		if !slices.ContainsFunc(branches, func(b *node) bool { return !t.add(b) }) && len(t.wants) > 1 {
			return t
		}
	}
	return nil
}

// demanded lists a schema, and those that all values must fit which fit it.
func (n *node) demanded() []*node {
	nodes := []*node{n}
	for i := 0; i < len(nodes) && len(nodes) < maxSteps; i++ {
		nodes = append(nodes, nodes[i].all...)
		if ref := nodes[i].ref; ref != nil {
			nodes = append(nodes, ref)
		}
	}
	return nodes
}

// add enters an alternative by the constants of its tag; false where it may take an object with any tag, or
// with one of another alternative.
func (t *tag) add(branch *node) bool {
	var member *node
	requires, refuses := false, false // the tag
	for _, n := range branch.demanded() {
		if n.types != 0 && n.types&kindObject == 0 {
			return true
		}
		requires = requires || slices.Contains(n.Required, t.name)
		m := n.members[t.name]
		refuses = refuses || m == nil && n.closed && n.patterns == nil
		if member == nil && m != nil && m.values != nil && m.listed&(kindObject|kindArray) == 0 {
			member = m
		}
	}
	if t.optional = t.optional || !requires; member == nil {
		return refuses
	}
	t.all, t.wants = append(t.all, branch), append(t.wants, member)
	if t.rule != "enum" {
		t.rule = member.listing
	}
	for _, v := range member.values {
		if t.branches[v] != nil {
			return false
		}
		t.branches[v] = branch
	}
	return true
}
