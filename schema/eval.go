package schema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/retake-go/retake/fault"
)

// evaluation is one check of one document.
type evaluation struct {
	*Budget
	tree
	binder                   // of the values of a Go type
	tracks  bool             // the schema uses unevaluatedProperties or unevaluatedItems
	name    *datum           // free memory for the name of a member as a value
	asking  map[question]int // how many there were when each was asked
	answers map[question]*answer
	// failures are what the schemas refuse. Those of a schema are the last ones when it was evaluated: what
	// turns out not to matter is cut off.
	failures []failure
	nested   int // how many schemas are being evaluated
	lowest   int // the outermost of the questions asked that the current answer depends on

	budget Budget // where no other is given
}

// question is a shared schema asked about a value. Dynamic references make the answer depend on the scope.
type question struct {
	*node
	value
	*scope
}

// costOfAnswer is the work of remembering an answer.
const costOfAnswer = 1

// answer is what a schema says of a value.
type answer struct {
	failures  []failure // none where it fits
	described bits      // the evaluated members or items, where they are tracked
}

// scope is the dynamic scope of a value. The outermost resource that has an anchor decides where a dynamic
// reference leads.
type scope struct {
	anchors map[string]*node
	next    map[*resource]*scope
}

// enter returns the scope within a resource.
func (e *evaluation) enter(s *scope, home *resource) *scope {
	if next, known := s.next[home]; known || !e.spend(len(home.anchors)+len(s.anchors)) {
		return cmp.Or(next, s)
	}
	anchors := maps.Clone(home.anchors)
	maps.Copy(anchors, s.anchors) // the outermost counts
	next := s
	if len(anchors) > len(s.anchors) {
		next = &scope{anchors, map[*resource]*scope{}}
	}
	s.next[home] = next
	return next
}

// judge evaluates a schema for a value, and stores the value in a variable of its type, if one is given. A
// schema that several places refer to is evaluated once for each value, so that work is bounded by the size
// of the schema times the size of the document; a variable is stored once.
func (e *evaluation) judge(n *node, v value, s *scope, to *variable) (fits bool, described bits) {
	if e.nested == maxNested {
		e.left = 0
	}
	if n.meant != nil {
		n = n.meant
	}
	switch e.nested++; {
	case !e.spend(1):
		e.refuse(n, v, fault.RuleWork)
	case n.never:
		e.refuse(n, v, n.standsUnder())
	case n.always && to == nil:
		fits = true
	case n.shared && to == nil:
		fits, described = e.answer(question{n, v, s})
	default:
		fits, described = e.evaluate(n, v, s, to)
	}
	e.nested--
	return fits, described
}

// maxNested bounds the schemas that are being evaluated, each within another: they take about 50 MB of the
// stack, of which a program has 1 GB. Where there are more, the budget is spent.
const maxNested = 1 << 15

// answer is what a shared schema says of a value: what it said before, if that is remembered.
func (e *evaluation) answer(q question) (fits bool, described bits) {
	if depth, isAsked := e.asking[q]; isAsked {
		e.lowest = min(e.lowest, depth)
		return e.refuse(q.node, q.value, "$ref"), nil
	}
	if known := e.answers[q]; known != nil {
		e.spend(len(known.failures))
		e.failures = append(e.failures, known.failures...)
		return len(known.failures) == 0, known.described
	}
	if e.answers == nil {
		e.asking, e.answers = map[question]int{}, map[question]*answer{}
	}
	e.spend(costOfAnswer)
	outer, depth, left, from := e.lowest, len(e.asking), e.left, len(e.failures)
	e.asking[q], e.lowest = depth, depth
	fits, described = e.evaluate(q.node, q.value, q.scope, nil)
	e.failures = e.failures[:min(len(e.failures), from+maxIssues)] // else they could double at each level
	delete(e.asking, q)
	depends := e.lowest < depth // on a schema that is still being evaluated
	if !depends && e.remembers(left-e.left, len(e.failures)-from) {
		e.answers[q] = &answer{slices.Clone(e.failures[from:]), described}
	}
	e.lowest = min(e.lowest, outer)
	return fits, described
}

// refuse adds a failure of a value by a keyword. It returns false.
func (e *evaluation) refuse(n *node, v value, rule string) bool {
	e.failures = append(e.failures, failure{at: n, value: v, rule: rule})
	return false
}

// since returns the failures after the first ones, which are cut off.
func (e *evaluation) since(first int) []failure {
	cut := slices.Clone(e.failures[first:])
	e.failures = e.failures[:first]
	return cut
}

// collector collects what one schema refuses in one value.
type collector struct {
	*evaluation
	n       *node
	v       value
	to      *variable // what the value is stored in; nil for none
	inner   *node     // the subschema for the same value that stores it in its place; nil for none
	scope   *scope
	field   int  // the number of the member that is being stored in a struct; -1 for one that has none
	present int  // how many of the required members there are, as far as they have schemas
	from    int  // the failures before are of other schemas
	seen    bits // the evaluated members or items
	failed  bool // a branch refused the value, or it lacks a member
}

// fail notes that the value fails a keyword.
func (f *collector) fail(rule string) { f.report(&failure{at: f.n, value: f.v, rule: rule}) }

// report notes a failure that has more to say.
func (f *collector) report(x *failure) {
	if !f.tellsEnough() && f.spend(1) {
		f.failures = append(f.failures, *x)
	}
}

// within evaluates a schema for a child, which is stored where the value itself is.
func (f *collector) within(n *node, child value) {
	if f.to != nil && f.inner == nil {
		f.store(n, child)
	} else {
		f.judge(n, child, f.scope, nil)
	}
}

// tellsEnough reports whether the limit of issues is reached. The rest of the value is skipped then.
func (f *collector) tellsEnough() bool { return len(f.failures)-f.from >= maxIssues }

// ask evaluates a schema for the same value.
func (f *collector) ask(n *node) (fits bool) {
	var to *variable
	if n == f.inner {
		to = f.to
	}
	fits, seen := f.judge(n, f.v, f.scope, to)
	if fits {
		f.seen.add(seen)
	}
	return fits
}

// demand evaluates a schema for the same value, which must fit it; nil is no schema.
func (f *collector) demand(n *node) { f.failed = n != nil && !f.ask(n) || f.failed }

// fits reports whether a value fits a schema. What is wrong with it otherwise does not matter.
func (f *collector) fits(n *node, v value) bool {
	from := len(f.failures)
	fits, _ := f.judge(n, v, f.scope, nil)
	f.failures = f.failures[:from]
	return fits
}

// evaluate applies the keywords of a schema to a value.
func (e *evaluation) evaluate(n *node, v value, s *scope, to *variable) (fits bool, described bits) {
	var f collector // a literal would be made beside it, and copied
	f.evaluation, f.n, f.v, f.to, f.scope, f.from = e, n, v, to, s, len(e.failures)
	f.field = -1
	if to != nil {
		f.inner = n.inner(to)
	}
	if s != nil {
		f.scope = e.enter(s, n.home)
	}
	if rule := f.excludes(n); rule != "" {
		f.fail(rule)
		return false, nil
	}
	if n.format != nil && v.kind == kindString && n.format.Validate(v.text()) != nil {
		f.fail("format")
	}
	if e.tracks && v.count > 0 && e.spend(int(v.count)/patternSteps) {
		f.seen = make(bits, (v.count+63)/64)
	}
	switch v.kind {
	case kindObject:
		f.object()
	case kindArray:
		f.array()
	case kindString:
		f.str()
	case kindInteger, kindNumber:
		f.number()
	}
	if len(n.same) > 0 || n.not != nil {
		f.branches()
	}
	if n.unevaluatedMembers != nil && v.kind == kindObject {
		f.unevaluated(n.unevaluatedMembers)
	}
	if n.unevaluatedItems != nil && v.kind == kindArray {
		f.unevaluated(n.unevaluatedItems)
	}
	return len(e.failures) == f.from, f.seen
}

func (f *collector) branches() {
	n := f.n
	f.demand(n.ref)
	f.demand(f.target())
	for _, b := range n.all {
		f.demand(b)
	}
	f.alternatives("anyOf", n.any, n.anyTag)
	f.alternatives("oneOf", n.one, n.oneTag)
	if n.not != nil && f.fits(n.not, f.v) {
		f.fail(n.notRule())
	}
	if from := len(f.failures); n.cond == nil || f.isOpen() {
		return
	} else if f.ask(n.cond) {
		f.demand(n.then)
	} else {
		f.failures = f.failures[:from]
		f.demand(n.els)
	}
}

// isOpen reports whether the condition looks at a required member that is missing: nobody knows yet which way
// it will go, and it is told that the member is missing.
func (f *collector) isOpen() bool {
	return f.v.kind == kindObject && slices.ContainsFunc(f.n.asks, func(name string) bool {
		return f.spend(1+int(f.v.count)/patternSteps) && !f.v.member(name).isThere()
	})
}

// target returns where a dynamic reference leads from here.
func (f *collector) target() *node {
	if to := f.n.dynamic; to == nil || f.n.anchor == "" || f.scope.anchors[f.n.anchor] == nil {
		return to
	}
	return f.scope.anchors[f.n.anchor]
}

// alternatives applies anyOf or oneOf. anyOf stops at the first that fits, unless evaluated members are
// tracked.
func (f *collector) alternatives(rule string, list []*node, tag *tag) {
	if len(list) == 0 {
		return
	}
	if tag != nil && f.v.kind == kindObject && f.byTag(rule, tag) {
		return
	}
	if only, isSo := f.forItsKind(list); isSo {
		f.ofOne(rule, list, only)
		return
	}
	var few [16]int
	from, fitting, weighs, ends := len(f.failures), 0, f.weighs(0), few[:0] // ends of the failures of each
	for _, b := range list {
		if f.ask(b) {
			fitting++
		} else if weighs = weighs && len(f.failures) < maxWeighed; !weighs {
			f.failures = f.failures[:from]
		}
		if fitting == 1 && rule == "anyOf" && f.seen == nil {
			break
		}
		if weighs {
			ends = append(ends, len(f.failures)-from)
		}
	}
	if fitting > 0 {
		f.failures = f.failures[:from]
	}
	if fitting == 1 || fitting > 1 && rule == "anyOf" {
		return
	}
	switch f.failed = true; {
	case fitting > 1:
		f.fail(rule)
	case !weighs:
		f.report(f.noneOf(rule, len(list)))
	default:
		f.weighs(len(f.failures) - from)
		f.reduce(rule, list, from, ends)
	}
}

// unevaluated applies a schema to the members or items that no other keyword evaluated. Those that a failing
// branch would have evaluated are skipped: the branch is at fault, and not they.
func (f *collector) unevaluated(rule *node) {
	var around []*node
	if f.failed {
		around = inPlace(f.n)
	}
	for child := f.v.first(); child.isThere() && !f.tellsEnough(); child = child.sibling() {
		if !f.seen.has(int(child.place)) && !f.describes(around, child) {
			f.within(rule, child)
		}
		f.seen.set(int(child.place))
	}
}

func (f *collector) describes(around []*node, child value) bool {
	return slices.ContainsFunc(around, func(n *node) bool { return !f.spend(1) || n.describes(child, f.Budget) })
}

// describes reports whether a schema has a schema for a member or an item.
func (n *node) describes(child value, b *Budget) bool {
	if child.parent().kind == kindArray {
		return n.item(int(child.place)) != nil
	}
	return n.members[child.name()] != nil || n.rest != nil || n.closed || n.open ||
		slices.ContainsFunc(n.patterns, func(p patternNode) bool { return p.matches(child.name(), b) })
}

// bits is a set of small numbers. Nil keeps nothing.
type bits []uint64

func (b bits) has(n int) bool { return b != nil && b[n/64]>>(n%64)&1 != 0 }

func (b bits) set(n int) {
	if b != nil {
		b[n/64] |= 1 << (n % 64)
	}
}

// add adds all numbers of another set of the same size.
func (b bits) add(other bits) {
	if b == nil {
		return
	}
	for n, word := range other {
		b[n] |= word
	}
}
