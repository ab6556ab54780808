package schema

import (
	"maps"
	"slices"
)

// evaluation is one check of one document.
type evaluation struct {
	*Budget
	tracks  bool // the schema uses unevaluatedProperties or unevaluatedItems
	answers map[question]*answer
	depth   int // how many shared schemas are being evaluated
	lowest  int // the outermost of them that the current answer depends on
}

// question is a shared schema asked about a value. Dynamic references make the answer depend on the scope.
type question struct {
	*node
	*value
	*scope
}

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
func (s *scope) enter(home *resource) *scope {
	if next, known := s.next[home]; known {
		return next
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

// judge evaluates a schema for a value. A schema that several places refer to is evaluated once for each
// value, so that work is bounded by the size of the schema times the size of the document.
func (e *evaluation) judge(n *node, v *value, s *scope) (*refusal, bits) {
	if !e.spend(1) {
		return &refusal{}, nil
	}
	if n.Bool != nil {
		if *n.Bool {
			return nil, nil
		}
		return &refusal{own: []failure{{at: n, value: v, rule: n.standsUnder()}}}, nil
	}
	if !n.shared {
		return e.evaluate(n, v, s)
	}
	q := question{n, v, s}
	if known := e.answers[q]; known != nil {
		if known.asking {
			e.lowest = min(e.lowest, known.depth)
			return &refusal{own: []failure{{at: n, value: v, rule: "$ref"}}}, nil
		}
		return known.refusal, known.described
	}
	e.depth++
	if e.answers == nil {
		e.answers = map[question]*answer{}
	}
	a, outer := &answer{asking: true, depth: e.depth}, e.lowest
	e.answers[q], e.lowest = a, e.depth
	a.refusal, a.described = e.evaluate(n, v, s)
	a.asking = false
	if e.lowest < a.depth {
		delete(e.answers, q) // it depends on a schema that is still being evaluated
	}
	e.lowest = min(e.lowest, outer)
	e.depth--
	return a.refusal, a.described
}

// collector collects what one schema refuses in one value.
type collector struct {
	*evaluation
	n       *node
	v       *value
	scope   *scope
	refusal *refusal
	seen    bits // the evaluated members or items
	failed  bool // a branch refused the value
}

func (f *collector) fail(rule string) { f.report(failure{at: f.n, value: f.v, rule: rule}) }

func (f *collector) report(x failure) {
	if f.refusal == nil {
		f.refusal = &refusal{}
		f.refusal.own = f.refusal.first[:0]
	}
	f.refusal.own = append(f.refusal.own, x)
}

// within evaluates a schema for a child.
func (f *collector) within(n *node, child *value) {
	if r, _ := f.judge(n, child, f.scope); r != nil {
		f.add(r)
	}
}

func (f *collector) add(r *refusal) {
	if f.refusal == nil {
		f.refusal = &refusal{}
	}
	f.refusal.subs = append(f.refusal.subs, r)
}

// tellsEnough reports whether the limit of issues is reached. The rest of the value is skipped then.
func (f *collector) tellsEnough() bool {
	return f.refusal != nil && len(f.refusal.own)+len(f.refusal.subs) >= maxIssues
}

// ask evaluates a schema for the same value.
func (f *collector) ask(n *node) *refusal {
	r, seen := f.judge(n, f.v, f.scope)
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
func (e *evaluation) evaluate(n *node, v *value, s *scope) (*refusal, bits) {
	f := collector{evaluation: e, n: n, v: v, scope: s}
	if s != nil {
		f.scope = s.enter(n.home)
	}
	switch {
	case n.types != 0 && n.types&v.kind == 0:
		f.fail("type")
		return f.refusal, nil
	case n.constant != nil && f.spend(v.size()) && !n.constant[v.key()]:
		f.fail("const")
		return f.refusal, nil
	case n.values != nil && f.spend(v.size()) && !n.values[v.key()]:
		f.fail("enum")
		return f.refusal, nil
	case n.format != nil && n.format.Validate(v.any()) != nil:
		f.fail("format")
	}
	if e.tracks && v.count > 0 {
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
	f.branches()
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
		if r, _ := f.judge(n.not, f.v, f.scope); r == nil {
			f.fail(n.notRule())
		}
	}
	if n.cond == nil {
		return
	}
	if f.ask(n.cond) == nil {
		f.demand(n.then)
	} else {
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
	if n := tag.branchFor(f.v); n != nil {
		f.demand(n)
		return
	}
	var refused []*refusal
	for _, b := range list {
		if r := f.ask(b); r != nil {
			refused = append(refused, r)
		} else if rule == "anyOf" && f.seen == nil {
			return
		}
	}
	switch fitting := len(list) - len(refused); {
	case fitting == 0:
		f.failed = true
		f.report(failure{at: f.n, value: f.v, rule: rule, branches: refused})
	case fitting > 1 && rule == "oneOf":
		f.failed = true
		f.fail(rule)
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
