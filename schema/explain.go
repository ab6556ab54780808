package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// refusal is why a schema refuses a value: its own keywords that fail, and the refusals of its subschemas.
// One refusal may be part of several.
type refusal struct {
	own       []failure
	first     [1]failure // the memory of the first of own
	subs      []*refusal
	issues    []fault.Issue // set when it is explained
	explained bool
	kept      bool // it is part of a remembered answer
}

// failure is one keyword that fails.
type failure struct {
	at       *node
	value    *value // for a member that is not allowed, the member
	rule     string
	name     string // the missing member
	because  string // the member that requires it, if one does
	branches []*refusal
}

// explain turns a refusal into issues: sorted, each once, maxIssues at most. There are none of nil.
func (e *evaluation) explain(r *refusal) []fault.Issue {
	switch {
	case r == nil:
		return nil
	case r.explained:
		return r.issues
	}
	r.explained = true
	var issues []fault.Issue
	if len(r.own) > 0 {
		issues = make([]fault.Issue, 0, min(len(r.own)+len(r.subs), maxIssues))
	}
	for _, f := range r.own {
		if len(issues) >= maxIssues || !e.spend(costOfIssue+costOfPointer(f.value)) {
			break
		}
		issues = e.tell(issues, f)
	}
	for _, sub := range r.subs {
		if len(issues) >= maxIssues || !e.spend(1) {
			break
		}
		more := e.explain(sub)
		if !e.sorts(len(more)) {
			break
		}
		if issues == nil {
			issues = more[:len(more):len(more)]
			continue
		}
		issues = append(issues, more...)
	}
	if len(r.subs) > 0 && len(issues) > 1 {
		issues = sorted(issues)
	}
	r.issues = issues[:min(len(issues), maxIssues)]
	return r.issues
}

// costOfIssue is the work of making an issue.
const costOfIssue = 4

// costOfPointer is the work of writing a place. Long ones cost more, for they are copied and compared.
func costOfPointer(v *value) int {
	size := v.pointerSize()
	return size / patternSteps * (1 + size/16384)
}

// sorts spends the work of sorting so many issues into others, and of comparing them.
func (e *evaluation) sorts(issues int) bool { return e.spend(2 * issues) }

// sorted is [fault.SortIssues], which copies, for issues that may be sorted already.
func sorted(issues []fault.Issue) []fault.Issue {
	for n := 1; n < len(issues); n++ {
		if issues[n-1].Pointer >= issues[n].Pointer {
			return fault.SortIssues(issues)
		}
	}
	return issues
}

// tell adds the issues of one failure to a list.
func (e *evaluation) tell(issues []fault.Issue, f failure) []fault.Issue {
	v := f.value
	issue := fault.Issue{Pointer: v.pointer(), Rule: f.rule, Got: v.kind.name(), Source: fault.FromSchema}
	issue.Sent = v.sent(f.rule)
	switch f.rule {
	case "anyOf", "oneOf":
		if f.branches != nil {
			return append(issues, e.reduce(f, issue)...)
		}
		issue.Expected = f.at.expects(f.rule, func() string { return phrase(f.rule, f.at.raw) })
	case "required", "dependentRequired", "dependencies":
		issue.Pointer += "/" + pointerEscaper.Replace(f.name)
		issue.Got, issue.Sent = "", ""
		issue.Expected = f.at.expects("/"+f.name, func() string { return f.at.describeMember(f.name) })
		if f.because != "" {
			issue.Expected = clip(cmp.Or(issue.Expected, "a value") + ", for " + nameOf(f.because) + " is given")
		}
	case "propertyNames":
		var wants []string
		for _, i := range sorted(e.explain(f.branches[0])) {
			wants = append(wants, i.Expected)
		}
		issue.Got = "" // the value is not at fault
		issue.Expected = clip("a member name that is " + strings.Join(wants, " and "))
	case "type":
		issue.Expected = f.at.expects(f.rule, func() string { return f.at.describe(maxSteps) })
	case "not":
		issue.Expected = f.at.expects(f.rule, func() string { return phrase("not", f.at.raw) })
		if f.at.types != 0 && f.at.types&^(kindInteger|kindNumber) == 0 {
			issue.Expected = strings.Replace(issue.Expected, anythingBut, "a number other than ", 1)
		}
	case "unevaluatedProperties":
		issue.Expected = f.at.describedMembers(f.value.name)
	case "contains", "minContains", "maxContains":
		issue.Expected = f.at.expects(f.rule, func() string { return f.at.describeContents(f.rule) })
	default:
		issue.Expected = f.at.expects(f.rule, func() string { return phrase(f.rule, f.at.raw) })
	}
	return append(issues, issue)
}

// describeContents says how many items are wanted, and what they are like.
func (n *node) describeContents(rule string) string {
	if fitting := n.contains.describe(maxSteps); fitting != "" {
		return clip(countOfFitting(rule, n.raw) + " like this: " + fitting)
	}
	return phrase(rule, n.raw)
}

// describeMember describes a missing member in a few words, by the schema that requires it or by one for the
// same value.
func (n *node) describeMember(name string) string {
	for ; n != nil; n = n.branchOf() {
		for _, b := range inPlace(n) {
			if said := b.members[name].describe(maxSteps); said != "" {
				return clip(said)
			}
		}
	}
	return ""
}

// describedMembers says that a member is not allowed, and which members are.
func (n *node) describedMembers(name string) string {
	around := inPlace(n.up)
	if slices.ContainsFunc(around, func(b *node) bool { return b.members[name] != nil }) {
		return phrase("unevaluatedProperties", map[string]any{}) + " beside the others"
	}
	return n.expects("unevaluatedProperties", func() string {
		all := map[string]any{}
		for _, b := range around {
			for name := range b.members {
				all[name] = true
			}
		}
		return clip(phrase("unevaluatedProperties", map[string]any{}) + allowed(all))
	})
}

// finish sorts and bounds the issues of a document. It adds echoed values, and says what may be left out.
func (s *Schema) finish(root *value, issues []fault.Issue) []fault.Issue {
	for n := range issues {
		i := &issues[n]
		if !s.marked && !mayBeLeftOut(*i) {
			continue
		}
		path := pathOf(i.Pointer)
		levels := s.levelsTo(path)
		if s.marked {
			i.Value = echoed(root.at(path), levels)
		}
		if s.marked && anyMarked(levels, noEchoKeyword, secretKeyword) {
			i.Sent = ""
		}
		if isOfKind(i.Rule) && i.Got == fault.String {
			i.Expected += root.at(path).notQuoted(levels[len(path)])
		}
		if mayBeLeftOut(*i) && optional(levels, path) {
			i.Optional = true
		}
	}
	issues = sorted(issues)
	return issues[:min(len(issues), maxIssues)]
}

// levelsTo lists the schemas of each value on the path to a place, from the root.
func (s *Schema) levelsTo(path []string) (levels [][]*node) {
	nodes := inPlace(s.root)
	levels = append(make([][]*node, 0, len(path)+1), nodes)
	for _, tok := range path {
		nodes = inPlace(forChild(nodes, tok)...)
		levels = append(levels, nodes)
	}
	return levels
}

func isOfKind(rule string) bool { return rule == "type" || rule == "anyOf" || rule == "oneOf" }

// notQuoted is a hint for a string that holds, as JSON, an object or array that one of the schemas accepts.
func (v *value) notQuoted(by []*node) string {
	if v == nil || !strings.ContainsAny(v.text, "{[") { // a type's own issue may name any place
		return ""
	}
	held := jsontext.Value(v.text)
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
	name, around := path[len(path)-1], levels[len(path)-1]
	named := slices.ContainsFunc(around, func(n *node) bool { return n.members[name] != nil })
	demanded := slices.ContainsFunc(around, func(n *node) bool { return n.demands(name) })
	null := slices.ContainsFunc(levels[len(path)], (*node).allowsNull)
	return named && !demanded && !null && len(around) < maxNodes
}

// demands reports whether a node requires a member, always or under a condition, or a number of members.
func (n *node) demands(name string) bool {
	mayNeed := func(of need) bool { return slices.Contains(of.others, name) }
	required := slices.Contains(n.Required, name) || slices.ContainsFunc(n.needs, mayNeed)
	return required || n.MinProperties != nil
}

func (n *node) allowsNull() bool {
	null := key{kindNull, "null"}
	return n.types != 0 && n.types&kindNull != 0 || n.values[null] || n.constant[null]
}

const (
	echoKeyword   = "x-echo"
	noEchoKeyword = "x-noecho"
)

// maxEcho bounds an echoed value, in bytes.
const maxEcho = 100

// echoed is the value at a place as JSON, where a schema of the place or of one above it marks it as safe to
// echo. Where a place has very many schemas, nothing is echoed.
func echoed(v *value, levels [][]*node) string {
	tooMany := slices.ContainsFunc(levels, func(nodes []*node) bool { return len(nodes) >= maxNodes })
	isHidden := anyMarked(levels, noEchoKeyword, secretKeyword)
	if v == nil || tooMany || isHidden || !anyMarked(levels, echoKeyword) {
		return ""
	}
	return canon.Cut(string(v.appendUpTo(nil, maxEcho+1)), maxEcho)
}

// anyMarked reports whether one of the keywords is true in a schema of a place, or of one above it.
func anyMarked(levels [][]*node, keywords ...string) bool {
	isMarked := func(n *node) bool {
		return slices.ContainsFunc(keywords, func(keyword string) bool { return n.raw[keyword] == true })
	}
	anyOf := func(nodes []*node) bool { return slices.ContainsFunc(nodes, isMarked) }
	return slices.ContainsFunc(levels, anyOf)
}

const secretKeyword = "x-secret"

// maxPlaces bounds the places that are searched for secrets: each reference may double their number.
const maxPlaces = 4096

// Secrets lists the places whose values must not be kept, as JSON Pointers in ascending order; "*" stands for
// any member or item. The tag `retake:"secret"` marks a field as secret, the keyword "x-secret" a place in a
// raw schema. In a recursive type, a part that may hold a secret at any depth is secret as a whole. Beyond
// 4096 places, everything else counts as secret. The slice is the caller's own.
func (s *Schema) Secrets() []string {
	w := &secrets{left: maxPlaces, dynamic: isMarked(s.tree, secretKeyword)}
	w.walk(s.root, "")
	slices.Sort(w.found)
	return slices.Compact(w.found)
}

type secrets struct {
	found   []string
	left    int
	dynamic bool    // the target of a dynamic reference may be secret
	under   []*node // the targets of references that are being walked
}

func (w *secrets) walk(n *node, at string) {
	if n == nil {
		return
	}
	w.left--
	if n.raw[secretKeyword] == true || w.left < 0 || n.dynamic != nil && w.dynamic {
		w.found = append(w.found, at)
	}
	if n.raw[secretKeyword] == true || w.left < 0 {
		return
	}
	for _, sub := range n.same {
		if sub == n.target() {
			w.follow(sub, at)
			continue
		}
		w.walk(sub, at)
	}
	inner := []*node{n.each, n.rest, n.contains, n.unevaluatedItems, n.unevaluatedMembers}
	for _, sub := range slices.Concat(n.first, inner) {
		w.walk(sub, at+"/*")
	}
	for _, name := range canon.Keys(n.members) {
		w.walk(n.members[name], at+"/"+pointerEscaper.Replace(name))
	}
	for _, p := range n.patterns {
		w.walk(p.node, at+"/*")
	}
}

// follow walks the target of a reference. A recursive target is secret as a whole if anything in it is.
func (w *secrets) follow(n *node, at string) {
	if slices.Contains(w.under, n) {
		if isMarked(n.raw, secretKeyword) {
			w.found = append(w.found, at)
		}
		return
	}
	w.under = append(w.under, n)
	w.walk(n, at)
	w.under = w.under[:len(w.under)-1]
}

// isMarked reports whether a keyword is true anywhere in a schema document.
func isMarked(tree any, keyword string) bool {
	switch at := tree.(type) {
	case map[string]any:
		within := func(v any) bool { return isMarked(v, keyword) }
		return at[keyword] == true || slices.ContainsFunc(slices.Collect(maps.Values(at)), within)
	case []any:
		return slices.ContainsFunc(at, func(v any) bool { return isMarked(v, keyword) })
	}
	return false
}
