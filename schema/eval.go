package schema

import (
	"cmp"
	"maps"
	"slices"
)

// evaluation is one check of one document.
type evaluation struct {
	*Budget
	binder         // of the values of a Go type
	tracks  bool   // the schema uses unevaluatedProperties or unevaluatedItems
	name    *value // the memory of a member's name as a value
	answers map[question]*answer
	free    []*refusal // those that turned out not to matter, for further ones
	unused  []*answer  // those that are not remembered, for further ones
	refused []*refusal // of the alternatives that are being asked
	depth   int        // how many shared schemas are being evaluated
	lowest  int        // the outermost of them that the current answer depends on
}

// question is a shared schema asked about a value. Dynamic references make the answer depend on the scope.
type question struct {
	*node
	*value
	*scope
}

// costOfAnswer is the work of remembering an answer.
const costOfAnswer = 1

// answer is what a schema says of a value.
type answer struct {
	refusal   *refusal // nil where it fits
	described bits     // the evaluated members or items, where they are tracked
	asking    bool
	depth     int
}

// scope is the dynamic scope of a value. The outermost resource that has an anchor decides where a dynamic
// reference leads.
type scope struct {
	anchors map[string]*node
	next    map[*resource]*scope
}

// enter is the scope within a resource.
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
func (e *evaluation) judge(n *node, v *value, s *scope, to *variable) (*refusal, bits) {
	switch {
	case !e.spend(1):
		return &refusal{}, nil
	case n.Bool != nil && !*n.Bool:
		return e.refuse(failure{at: n, value: v, rule: n.standsUnder()}), nil
	case n.Bool != nil && to == nil:
		return nil, nil
	case !n.shared || to != nil:
		return e.evaluate(n, v, s, to)
	}
	q := question{n, v, s}
	if known := e.answers[q]; known != nil {
		if known.asking {
			e.lowest = min(e.lowest, known.depth)
			return e.refuse(failure{at: n, value: v, rule: "$ref"}), nil
		}
		return known.refusal, known.described
	}
	e.depth++
	if e.answers == nil {
		e.answers = map[question]*answer{}
	}
	e.spend(costOfAnswer)
	a, outer, left := e.answer(), e.lowest, e.left
	e.answers[q], e.lowest = a, e.depth
	r, described := e.evaluate(n, v, s, nil)
	a.refusal, a.described, a.asking = r, described, false
	depends := e.lowest < a.depth // on a schema that is still being evaluated
	if depends || !e.remembers(left-e.left) {
		delete(e.answers, q)
		e.unused = append(e.unused, a)
	} else if r != nil {
		r.kept = true
	}
	e.lowest = min(e.lowest, outer)
	e.depth--
	return r, described
}

// answer is an answer that is still to be found.
func (e *evaluation) answer() *answer {
	last := len(e.unused) - 1
	if last < 0 {
		return &answer{asking: true, depth: e.depth}
	}
	a := e.unused[last]
	e.unused = e.unused[:last]
	*a = answer{asking: true, depth: e.depth}
	return a
}

// refuse is the refusal for one failure.
func (e *evaluation) refuse(x failure) *refusal {
	r := e.fresh()
	r.own = append(r.own, x)
	return r
}

// fresh is an empty refusal.
func (e *evaluation) fresh() *refusal {
	last := len(e.free) - 1
	if last < 0 {
		r := &refusal{}
		r.own = r.first[:0]
		return r
	}
	r := e.free[last]
	e.free = e.free[:last]
	return r
}

// drop takes back a refusal that does not matter, because an alternative fits. Each has one owner, unless it
// is kept.
func (e *evaluation) drop(r *refusal) {
	if r == nil || r.kept {
		return
	}
	for _, sub := range r.subs {
		e.drop(sub)
	}
	for _, x := range r.own {
		for _, b := range x.branches {
			e.drop(b)
		}
	}
	clear(r.own)
	clear(r.subs)
	*r = refusal{own: r.own[:0], subs: r.subs[:0]}
	e.free = append(e.free, r)
}

// collector collects what one schema refuses in one value.
type collector struct {
	*evaluation
	n       *node
	v       *value
	to      *variable // what the value is stored in; nil for none
	inner   *node     // the subschema for the same value that stores it in its place; nil for none
	scope   *scope
	refusal *refusal
	seen    bits // the evaluated members or items
	failed  bool // a branch refused the value
}

func (f *collector) fail(rule string) { f.report(failure{at: f.n, value: f.v, rule: rule}) }

func (f *collector) report(x failure) {
	if f.refusal == nil {
		f.refusal = f.fresh()
	}
	if len(f.refusal.own) < maxIssues && f.spend(1) {
		f.refusal.own = append(f.refusal.own, x)
	}
}

// within evaluates a schema for a child, which is stored where the value itself is.
func (f *collector) within(n *node, child *value) {
	if f.to != nil && f.inner == nil {
		f.store(n, child)
	} else if r, _ := f.judge(n, child, f.scope, nil); r != nil {
		f.add(r)
	}
}

func (f *collector) add(r *refusal) {
	if f.refusal == nil {
		f.refusal = f.fresh()
	}
	f.refusal.subs = append(f.refusal.subs, r)
}

// tellsEnough reports whether the limit of issues is reached. The rest of the value is skipped then.
func (f *collector) tellsEnough() bool {
	return f.refusal != nil && len(f.refusal.own)+len(f.refusal.subs) >= maxIssues
}

// ask evaluates a schema for the same value.
func (f *collector) ask(n *node) *refusal {
	var to *variable
	if n == f.inner {
		to = f.to
	}
	r, seen := f.judge(n, f.v, f.scope, to)
	if r == nil {
		f.seen.add(seen)
	}
	return r
}

// demand evaluates a schema for the same value, which must fit it; nil is no schema.
func (f *collector) demand(n *node) {
	if n == nil {
		return
	}
	if r := f.ask(n); r != nil {
		f.failed = true
		f.add(r)
	}
}

// evaluate applies the keywords of a schema to a value.
func (e *evaluation) evaluate(n *node, v *value, s *scope, to *variable) (*refusal, bits) {
	f := collector{evaluation: e, n: n, v: v, scope: s, to: to}
	if to != nil {
		f.inner = n.inner(to)
	}
	if s != nil {
		f.scope = e.enter(s, n.home)
	}
	switch {
	case n.types != 0 && n.types&v.kind == 0:
		f.fail("type")
		return f.refusal, nil
	case n.constant != nil && !f.isAmong(n.constant):
		f.fail("const")
		return f.refusal, nil
	case n.values != nil && !f.isAmong(n.values):
		f.fail("enum")
		return f.refusal, nil
	case n.format != nil && v.kind == kindString && n.format.Validate(v.text) != nil:
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
	return f.refusal, f.seen
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
	if n.not != nil {
		if r, _ := f.judge(n.not, f.v, f.scope, nil); r == nil {
			f.fail(n.notRule())
		} else {
			f.drop(r)
		}
	}
	if n.cond == nil {
		return
	}
	if r := f.ask(n.cond); r == nil {
		f.demand(n.then)
	} else {
		f.drop(r)
		f.demand(n.els)
	}
}

// target is where a dynamic reference leads from here.
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
	from := len(f.refused)
	defer func() { f.refused = f.refused[:from] }()
	for _, b := range list {
		if r := f.ask(b); r != nil {
			f.refused = append(f.refused, r)
		} else if rule == "anyOf" && f.seen == nil {
			f.dropAll(f.refused[from:])
			return
		}
	}
	refused := f.refused[from:]
	if len(refused) < len(list) {
		f.dropAll(refused)
	}
	switch fitting := len(list) - len(refused); {
	case fitting == 0:
		f.failed = true
		f.report(failure{at: f.n, value: f.v, rule: rule, branches: slices.Clone(refused)})
	case fitting > 1 && rule == "oneOf":
		f.failed = true
		f.fail(rule)
	}
}

func (f *collector) dropAll(refused []*refusal) {
	for _, r := range refused {
		f.drop(r)
	}
}

// unevaluated applies a schema to the members or items that no other keyword evaluated. Those that a failing
// branch would have evaluated are skipped: the branch is at fault, and not they.
func (f *collector) unevaluated(rule *node) {
	var around []*node
	if f.failed {
		around = inPlace(f.n)
	}
	for child := f.v.first; child != nil; child = child.next {
		if !f.seen.has(int(child.place)) && !f.describes(around, child) {
			f.within(rule, child)
		}
		f.seen.set(int(child.place))
	}
}

func (f *collector) describes(around []*node, child *value) bool {
	for _, n := range around {
		if !f.spend(1) || n.describes(child, f.Budget) {
			return true
		}
	}
	return false
}

// describes reports whether a schema has a schema for a member or an item.
func (n *node) describes(child *value, b *Budget) bool {
	if child.parent.kind == kindArray {
		return int(child.place) < len(n.first) || n.each != nil
	}
	return n.members[child.name] != nil || n.rest != nil || n.closed || n.open ||
		slices.ContainsFunc(n.patterns, func(p patternNode) bool { return p.matches(child.name, b) })
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
