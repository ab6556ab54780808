package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// failure is one keyword or rule that a value fails. It has words when it is told.
type failure struct {
	at      *node  // nil for a rule of a Go type
	value   value  // for a member that is not allowed, the member
	lacks   string // "/" and the name of the member that the value lacks
	because string // the member that requires it, if one does
	rule    string
	said    string    // what is expected, where that is known before it is told
	isRule  bool      // the rule is one of the Go type
	ofName  bool      // it is the member's name that fails
	others  bool      // it says no more than that there are alternatives
	joined  []failure // those of all alternatives, or of the name, which are one
}

// isFree reports whether it is memory that is not used.
func (f *failure) isFree() bool { return !f.value.isThere() }

// costOfIssue is the work of making an issue.
const costOfIssue = 4

// costOfPointer returns the work of writing a place. Long ones cost more, for they are copied and compared.
func costOfPointer(v value) int {
	size := 0
	for ; v.up >= 0; v = v.parent() {
		size += 1 + len(v.name())
	}
	return size / patternSteps * (1 + size/16384)
}

// inOrder puts failures in the order of the document, each once. The list is changed.
func inOrder(all []failure) []failure {
	compare := func(a, b failure) int {
		c := cmp.Compare(a.value.start, b.value.start)
		if c = cmp.Or(c, cmp.Compare(a.lacks, b.lacks), cmp.Compare(a.rule, b.rule)); c != 0 {
			return c
		}
		return cmp.Compare(a.expected(), b.expected())
	}
	slices.SortFunc(all, compare)
	return slices.CompactFunc(all, func(a, b failure) bool { return compare(a, b) == 0 })
}

// expected says what would be right.
func (f *failure) expected() string {
	if f.said == "" && f.at != nil {
		f.said = f.says()
	}
	return f.said
}

func (f *failure) says() string {
	n := f.at
	switch {
	case f.ofName:
		return clip("a member name that is " + strings.Join(expectedOf(f.joined), " and "))
	case f.joined != nil:
		return clip(orList(expectedOf(f.joined)))
	case f.lacks != "":
		wants := n.expects(f.lacks, func() string { return n.describeMember(f.lacks[1:]) })
		if f.because != "" {
			wants = clip(cmp.Or(wants, "a value") + ", for " + nameOf(f.because) + " is given")
		}
		return wants
	case f.rule == "unevaluatedProperties":
		return n.describedMembers(f.value.name())
	}
	return n.expects(f.rule, func() string {
		switch f.rule {
		case "additionalProperties":
			return notAllowed(n.names, nameOf, n.raw["patternProperties"])
		case "type":
			return n.describe()
		case "contains", "minContains", "maxContains":
			return n.describeContents(f.rule)
		case "oneOf":
			return n.onlyOne()
		case "not":
			said := clip(notThat(n.raw))
			if n.types != 0 && n.types&^(kindInteger|kindNumber) == 0 {
				said = strings.Replace(said, anythingBut, "a number other than ", 1)
			}
			return said
		}
		return phrase(f.rule, n.raw)
	})
}

// expectedOf lists what failures expect, each once, and no more than is told.
func expectedOf(all []failure) []string {
	told, wants := 0, make([]string, 0, 4)
	for n := 0; n < len(all) && told <= maxPhrase; n++ {
		want := all[n].expected()
		if slices.Contains(wants, want) {
			continue
		}
		if len(wants) > 0 { // the last one says how it is joined to the others
			told += len(wants[len(wants)-1])
		}
		wants = append(wants, want)
	}
	return wants
}

// report tells all failures, and adds what the marks of the schema and the places of the values say. What is
// beyond the budget has one issue, which says that.
func (s *Schema) report(e *evaluation, root value) []fault.Issue {
	count := len(e.failures) + len(e.found)
	if count == 0 && !e.spent() {
		return nil
	}
	issues := make([]fault.Issue, 0, count)
	at := places{evaluation: e, schema: s}
	for n := range count {
		f := e.failed(n)
		if !e.spend(costOfIssue + costOfPointer(f.value)) {
			break
		}
		path, there := f.value.path(), f.value
		if f.lacks != "" {
			path, there = append(path, f.lacks[1:]), value{}
		}
		e.suggest(f)
		issues = append(issues, f.tell(path))
		at.finish(&issues[len(issues)-1], path, there)
	}
	if e.spent() {
		return []fault.Issue{{
			Rule: fault.RuleWork, Expected: tooMuchWork, Got: root.kind.name(), Source: fault.FromSchema,
		}}
	}
	// Issues that are not in order would be copied.
	slices.SortFunc(issues, func(a, b fault.Issue) int { return strings.Compare(a.Pointer, b.Pointer) })
	return inBounds(issues)
}

// failed returns failure n, counted through the failures first and then those that were found.
func (e *evaluation) failed(n int) *failure {
	if n < len(e.failures) {
		return &e.failures[n]
	}
	return &e.found[n-len(e.failures)]
}

// inBounds returns the issues that are reported, in canonical order.
func inBounds(issues []fault.Issue) []fault.Issue {
	issues = fault.SortIssues(issues)
	return issues[:min(len(issues), maxIssues)]
}

// tell returns the issue of a failure, whose place is a path.
func (f *failure) tell(path []string) fault.Issue {
	i := fault.Issue{Pointer: canon.Pointer(path...), Rule: f.rule, Expected: f.expected(), Source: fault.FromSchema}
	if f.isRule {
		i.Source = fault.FromRules
	}
	if f.lacks == "" && !f.ofName {
		i.Got, i.Sent = f.value.kind.name(), f.value.sent(f.rule)
	}
	return i
}

// describeContents says how many items are wanted, and what they are like.
func (n *node) describeContents(rule string) string {
	fitting := cmp.Or(n.contains.describe(), n.contains.membersPhrase("object (member: ", "object (members: ", ")"))
	if fitting == "" {
		return phrase(rule, n.raw)
	}
	var with []string
	for _, name := range canon.Keys(n.contains.members) {
		if values := n.contains.members[name].valuesPhrase(); values != "" {
			with = append(with, nameOf(name)+" "+values)
		}
	}
	if fitting = countOfFitting(rule, n.raw) + " like this: " + fitting; with != nil {
		fitting += " with " + strings.Join(with, ", ")
	}
	return clip(fitting)
}

// describeMember describes a missing member in a few words, by the schema that requires it.
func (n *node) describeMember(name string) string {
	for _, b := range inPlace(n) {
		if said := b.members[name].describe(); said != "" && b.under != "if" {
			return clip(said)
		}
	}
	return ""
}

// onlyOne says which members may not stand together, where each alternative requires one that no other does.
func (n *node) onlyOne() string {
	requires, count := make([][]string, len(n.one)), map[string]int{}
	for i, sub := range n.one {
		for range maxSteps {
			sub = cmp.Or(sub.target(), sub)
		}
		requires[i] = sub.Required
		for _, name := range sub.Required {
			count[name]++
		}
	}
	var own, members []string
	for _, names := range requires {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return count[name] > 1 })
		if len(names) == 0 {
			return "a value that fits exactly one of the alternatives"
		}
		own, members = append(own, membersNamed(names)), append(members, names...)
	}
	if len(members) == len(own) {
		return "only one of the members " + bounded(members, nameOf)
	}
	return clip("either " + orList(own))
}

// describedMembers says that a member is not allowed, and which members are.
func (n *node) describedMembers(name string) string {
	around := inPlace(n.up)
	if slices.ContainsFunc(around, func(b *node) bool { return b.members[name] != nil }) {
		return fault.NoMember("") + " beside the others"
	}
	return n.expects("unevaluatedProperties", func() string { return notAllowed(namesIn(around), nameOf, nil) })
}

// namesIn returns the names of all members that some schemas of one value describe, sorted.
func namesIn(around []*node) []string {
	all := map[string]bool{}
	for _, b := range around {
		for _, name := range b.names {
			all[name] = true
		}
	}
	return canon.Keys(all)
}

// places are the schemas of the values on the path to one place, which most other places share.
type places struct {
	*evaluation
	schema *Schema
	path   []string
	levels [][]*node // from the root; one more than steps
}

// to lists the schemas of each value on the path to a place, from the root.
func (p *places) to(path []string) [][]*node {
	same := 0
	for same < min(len(path), len(p.path)) && path[same] == p.path[same] {
		same++
	}
	if p.levels == nil {
		p.levels = append(make([][]*node, 0, len(path)+2), inPlace(p.schema.root))
	}
	p.path, p.levels = path, p.levels[:same+1]
	for n, step := range path[same:] {
		p.levels = append(p.levels, inPlace(forChild(p.levels[same+n], step)...))
	}
	return p.levels
}

// finish adds an echoed value to the issue of a value, and says that a string holds what is wanted, what a
// missing member should be, and that a member may be left out. v is none where the value is not there.
func (p *places) finish(i *fault.Issue, path []string, v value) {
	if i.Rule == "required" && i.Expected == "" {
		i.Expected = describedBy(p.to(path)[len(path)-1], path[len(path)-1])
	}
	mayBeLeftOut := mayBeLeftOut(*i)
	if !p.schema.marked && !mayBeLeftOut {
		return
	}
	levels := p.to(path)
	if p.schema.marked {
		i.Value = p.echoed(v, levels)
		if anyMarked(levels, noEchoKeyword, secretKeyword) {
			i.Sent = ""
		}
	}
	if isOfKind(i.Rule) && i.Got == fault.String {
		i.Expected += v.notQuoted(levels[len(path)])
	}
	i.Optional = i.Optional || mayBeLeftOut && optional(levels, path)
}

// describedBy describes a member by the schemas of the whole object, where they agree.
func describedBy(around []*node, name string) string {
	var said []string
	for _, n := range around {
		if want := n.members[name].describe(); want != "" && n.under != "if" {
			said = appendNew(said, want)
		}
	}
	if len(said) != 1 {
		return ""
	}
	return clip(said[0])
}

func isOfKind(rule string) bool { return rule == "type" || rule == "anyOf" || rule == "oneOf" }

// notQuoted returns a hint for a string that holds, as JSON, an object or array that one of the schemas
// accepts.
func (v value) notQuoted(by []*node) string {
	if !v.isThere() || !strings.ContainsAny(v.text(), "{[") { // a type's own issue may name any place
		return ""
	}
	held := jsontext.Value(v.text())
	kind := kindOf[held.Kind()] & (kindObject | kindArray)
	takes := func(n *node) bool { return n.types&kind != 0 }
	if !slices.ContainsFunc(by, takes) || len(held) > DefaultLimits().MaxBytes || !held.IsValid() {
		return ""
	}
	return "; send the " + string(kind.name()) + " itself, not quoted"
}

// mayBeLeftOut reports whether an issue is of a rule that leaving the value out would satisfy too.
func mayBeLeftOut(i fault.Issue) bool {
	return i.Source == fault.FromSchema && i.Pointer != "" && i.Expected != "" &&
		slices.Contains([]string{"type", "enum", "const", "anyOf", "oneOf"}, i.Rule)
}

// optional reports whether a place is a named member that no schema requires and that may not be null: many
// models write null for a member that they mean to leave out. A member that is required under some condition
// counts as required.
func optional(levels [][]*node, path []string) bool {
	name, around, named := path[len(path)-1], levels[len(path)-1], false
	for _, n := range around {
		if n.demands(name) {
			return false
		}
		named = named || n.members[name] != nil
	}
	return named && len(around) < maxNodes && !slices.ContainsFunc(levels[len(path)], (*node).allowsNull)
}

// demands reports whether a node requires a member, always or under a condition, or a number of members.
func (n *node) demands(name string) bool {
	mayNeed := func(of need) bool { return slices.Contains(of.others, "/"+name) }
	required := slices.Contains(n.Required, name) || slices.ContainsFunc(n.needs, mayNeed)
	return required || n.MinProperties != nil
}

func (n *node) allowsNull() bool {
	null := key{kindNull, "null"}
	return n.types != 0 && n.types&kindNull != 0 || n.values.has(null)
}
