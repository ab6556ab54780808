package schema

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/canon"
)

// object applies the keywords of objects.
func (f *collector) object() {
	n, v := f.n, f.v
	f.bounded(int(v.count), n.objectSize, "minProperties", "maxProperties")
	for m := v.first(); m.isThere(); m = m.sibling() {
		if !f.spend(1) || f.tellsEnough() {
			return
		}
		if f.member(m) {
			f.seen.set(int(m.place))
		}
		if n.nameRule != nil {
			f.memberName(m)
		}
	}
	if f.present == len(n.wants) && len(n.needs) == 0 || !f.spend((n.lookups+int(v.count))/patternSteps) {
		return
	}
	has := v.finder(n.lookups)
	f.missing("required", n.wants, "", has)
	for _, need := range n.needs {
		if has(need.name) {
			f.missing(need.rule, need.others, need.name, has)
			f.demand(need.schema)
		}
	}
}

// member applies all schemas for a member's name. It reports whether there are any.
func (f *collector) member(m value) (described bool) {
	n := f.n
	if sub := f.subschema(m); sub != nil {
		described = true
		if sub.required {
			f.present++
		}
		f.within(sub, m)
	}
	for _, p := range n.patterns {
		if p.matches(m.name(), f.Budget) {
			described = true
			f.within(p.node, m)
		}
	}
	switch {
	case described:
	case n.closed:
		f.report(&failure{at: n, value: m, rule: "additionalProperties"})
	case n.rest != nil:
		f.within(n.rest, m)
	case f.to != nil:
		f.within(anything, m)
	default:
		return n.open
	}
	return true
}

// subschema returns the schema for a member's name; nil for none. Of a struct it is the one of the field.
func (f *collector) subschema(m value) *node {
	name := m.name()
	if f.to != nil && f.inner == nil && f.to.class == classStruct {
		f.field = f.to.members.named(name, f.field+1)
		if f.field >= 0 && f.to.members.members[f.field].schema != nil {
			return f.to.members.members[f.field].schema
		}
	}
	return f.n.members[name]
}

// memberName applies propertyNames.
func (f *collector) memberName(m value) {
	from, rule, name := len(f.failures), f.n.nameRule, m.nameIn(f.name)
	fits, _ := f.judge(rule, name, f.scope, nil)
	if f.name = name.datum; !fits || rule.shared || len(rule.same) > 0 {
		f.name = nil // failures and answers keep it
	}
	if !fits {
		wrong := inOrder(f.since(from))
		f.report(&failure{at: f.n, value: m, rule: "propertyNames", ofName: true, joined: wrong})
	}
}

// missing reports members that are absent, of those wanted. because is the member that requires them, if one
// does.
func (f *collector) missing(rule string, wanted []string, because string, has func(name string) bool) {
	for _, lacks := range wanted {
		if f.tellsEnough() {
			return
		}
		if !has(lacks[1:]) {
			f.failed = true
			f.report(&failure{at: f.n, value: f.v, rule: rule, lacks: lacks, because: because})
		}
	}
}

// array applies the keywords of arrays.
func (f *collector) array() {
	n, v := f.n, f.v
	f.bounded(int(v.count), n.listSize, "minItems", "maxItems")
	if n.UniqueItems && f.spend(v.size()) && !f.itemsDiffer() {
		f.fail("uniqueItems")
	}
	if n.full && int(v.count) > len(n.first) {
		f.fail("additionalItems")
	}
	fitting := 0
	for item := v.first(); item.isThere(); item = item.sibling() {
		if !f.spend(1) || f.tellsEnough() {
			return
		}
		sub := n.item(int(item.place))
		if sub == nil && f.to != nil {
			f.within(anything, item)
		} else if sub != nil {
			f.within(sub, item)
		}
		if sub != nil || n.full || n.AdditionalItems == true {
			f.seen.set(int(item.place))
		}
		if n.contains == nil {
			continue
		}
		if f.fits(n.contains, item) {
			fitting++
			if n.DraftVersion >= 2020 {
				f.seen.set(int(item.place))
			}
		}
	}
	if n.contains != nil {
		if n.MinContains == nil && fitting == 0 {
			f.fail("contains")
		}
		f.bounded(fitting, sizeOf(n.MinContains, n.MaxContains), "minContains", "maxContains")
	}
}

// size is the bounds of a count: the least, and the first that is too many; 0 if none is.
type size struct{ least, beyond int }

func sizeOf(least, most *int) (s size) {
	if least != nil {
		s.least = *least
	}
	if most != nil {
		s.beyond = *most + 1
	}
	return s
}

func (s size) isBelow(count int) bool { return count < s.least }
func (s size) isAbove(count int) bool { return s.beyond > 0 && count >= s.beyond }

// bounded reports a count that is out of its bounds.
func (f *collector) bounded(count int, in size, tooFew, tooMany string) {
	if in.isBelow(count) {
		f.fail(tooFew)
	}
	if in.isAbove(count) {
		f.fail(tooMany)
	}
}

// str applies the keywords of strings. Lengths count characters, of which a text has at most as many as
// bytes, and at least a quarter as many.
func (f *collector) str() {
	n, text := f.n, f.v.text()
	if n.textSize.isBelow(len(text)/utf8.UTFMax) || n.textSize.isAbove(len(text)) {
		f.bounded(utf8.RuneCountInString(text), n.textSize, "minLength", "maxLength")
	}
	if n.text != nil && !n.text.matches(text, f.Budget) {
		f.fail("pattern")
	}
}

// number applies the keywords of numbers.
func (f *collector) number() {
	n, text := f.n, f.v.text()
	for i := range n.bounds {
		if b := &n.bounds[i]; b.refuses[b.compare(text, f.near(f.v))+1] {
			f.fail(b.rule)
		}
	}
	if n.MultipleOf != nil && !isMultiple(text, n.MultipleOf) {
		f.fail("multipleOf")
	}
}

// isListed reports whether the value is one of those that a schema lists. It is only written out where one of
// its kind is among them.
func (f *collector) isListed(n *node) bool {
	return f.v.kind&n.listed != 0 && f.spend(f.v.size()) && n.values.has(f.v.key())
}

// itemsDiffer reports whether no two items are equal.
func (f *collector) itemsDiffer() bool {
	return len(f.v.keys()) == int(f.v.count)
}

// key identifies a value: equal values have equal keys.
type key struct {
	kind kind
	text string
}

// key returns the key of a value of a document.
func (v value) key() key {
	k := key{v.kind, v.text()}
	switch v.kind {
	case kindInteger, kindNumber:
		k.text = plainNumber(k.text)
	case kindObject, kindArray:
		k.text = string(canon.Decimals(v.canonical()))
	}
	return k
}

// compare puts keys in an order.
func (k key) compare(o key) int {
	if k.kind != o.kind {
		return cmp.Compare(k.kind, o.kind)
	}
	return strings.Compare(k.text, o.text)
}

// keys are different keys in order: half the memory of a set, and small ones are searched in less time.
type keys []key

func (k keys) has(one key) bool {
	if len(k) < 8 {
		return slices.Contains(k, one)
	}
	_, found := slices.BinarySearchFunc(k, one, key.compare)
	return found
}

// keys returns those of the items.
func (v value) keys() keys {
	all := make(keys, 0, v.count)
	for item := range v.children {
		all = append(all, item.key())
	}
	slices.SortFunc(all, key.compare)
	return slices.Compact(all)
}

func keysOf(values ...any) keys {
	list, _ := new(tree).parse(jsonText(values), documentLimits) // cannot fail: it was read before
	return list.keys()
}

// documentLimits hold for the values in a schema document, which has bounds of its own.
var documentLimits = Limits{maxMaxBytes, maxMaxDepth, maxMaxValues}
