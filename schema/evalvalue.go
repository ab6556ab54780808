package schema

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// object holds an object to the keywords of objects.
func (f *collector) object() {
	n, v := f.n, f.v
	if n.MinProperties != nil && int(v.count) < *n.MinProperties {
		f.fail("minProperties")
	}
	if n.MaxProperties != nil && int(v.count) > *n.MaxProperties {
		f.fail("maxProperties")
	}
	for m := v.first; m != nil; m = m.next {
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
	f.missing("required", n.Required, "")
	for _, need := range n.needs {
		if v.member(need.name) != nil {
			f.missing(need.rule, need.others, need.name)
			f.demand(need.schema)
		}
	}
}

// member holds a member to all that is said of its name; false where nothing is.
func (f *collector) member(m *value) (described bool) {
	n := f.n
	if sub := n.members[m.name]; sub != nil {
		described = true
		f.within(sub, m)
	}
	for _, p := range n.patterns {
		if p.matches(m.name, f.Budget) {
			described = true
			f.within(p.node, m)
		}
	}
	switch {
	case described:
	case n.closed:
		f.report(failure{at: n, value: m, rule: "additionalProperties"})
	case n.rest != nil:
		f.within(n.rest, m)
	default:
		return n.open
	}
	return true
}

// memberName holds the name of a member to the schema for names.
func (f *collector) memberName(m *value) {
	name := &value{kind: kindString, text: m.name}
	if r, _ := f.judge(f.n.nameRule, name, f.scope); r != nil {
		f.report(failure{at: f.n, value: m, rule: "propertyNames", branches: []*refusal{r}})
	}
}

// missing reports members that are not there. because is the member that calls for them, if one does.
func (f *collector) missing(rule string, wanted []string, because string) {
	for _, name := range wanted {
		if f.spend(int(f.v.count)/patternSteps) && f.v.member(name) == nil {
			f.report(failure{at: f.n, value: f.v, rule: rule, name: name, because: because})
		}
	}
}

// array holds an array to the keywords of arrays.
func (f *collector) array() {
	n, v := f.n, f.v
	if n.MinItems != nil && int(v.count) < *n.MinItems {
		f.fail("minItems")
	}
	if n.MaxItems != nil && int(v.count) > *n.MaxItems {
		f.fail("maxItems")
	}
	if n.UniqueItems && f.spend(v.size()) && !v.itemsDiffer() {
		f.fail("uniqueItems")
	}
	if n.full && int(v.count) > len(n.first) {
		f.fail("additionalItems")
	}
	fitting := 0
	for item := v.first; item != nil; item = item.next {
		if !f.spend(1) || f.tellsEnough() {
			return
		}
		sub := n.each
		if int(item.place) < len(n.first) {
			sub = n.first[item.place]
		}
		if sub != nil {
			f.within(sub, item)
		}
		if sub != nil || n.full || n.AdditionalItems == true {
			f.seen.set(int(item.place))
		}
		if n.contains == nil {
			continue
		}
		if r, _ := f.judge(n.contains, item, f.scope); r == nil {
			fitting++
			if n.DraftVersion >= 2020 {
				f.seen.set(int(item.place))
			}
		}
	}
	if n.contains != nil {
		f.counts(fitting)
	}
}

// counts judges how many items are as the array is to contain.
func (f *collector) counts(fitting int) {
	switch least := f.n.MinContains; {
	case least != nil && fitting < *least:
		f.fail("minContains")
	case least == nil && fitting == 0:
		f.fail("contains")
	}
	if most := f.n.MaxContains; most != nil && fitting > *most {
		f.fail("maxContains")
	}
}

// str holds a string to the keywords of strings. Lengths count characters.
func (f *collector) str() {
	n, text := f.n, f.v.text
	if n.MinLength != nil && utf8.RuneCountInString(text) < *n.MinLength {
		f.fail("minLength")
	}
	if n.MaxLength != nil && len(text) > *n.MaxLength && utf8.RuneCountInString(text) > *n.MaxLength {
		f.fail("maxLength")
	}
	if n.text != nil && !n.text.matches(text, f.Budget) {
		f.fail("pattern")
	}
}

// number holds a number to the keywords of numbers.
func (f *collector) number() {
	n, text := f.n, f.v.text
	for _, test := range [...]struct {
		rule   string
		bound  *bound
		refuse [3]bool // a number below the bound, equal to it, above it
	}{
		{"minimum", n.minimum, [3]bool{true, false, false}}, {"maximum", n.maximum, [3]bool{false, false, true}},
		{"exclusiveMinimum", n.above, [3]bool{true, true, false}}, {"exclusiveMaximum", n.below, [3]bool{false, true, true}},
	} {
		if test.bound != nil && test.refuse[test.bound.compare(text)+1] {
			f.fail(test.rule)
		}
	}
	if n.of != nil && !n.of.divides(text) {
		f.fail("multipleOf")
	}
}

// isIn reports whether a value is one of some, which are told by their keys.
func (v *value) isIn(keys map[string]bool) bool {
	switch {
	case v.kind == kindString:
		return keys[v.text]
	case v.kind == kindInteger && isPlain(v.text):
		return keys[otherKey+v.text]
	case v.kind == kindBoolean:
		return keys[otherKey+strconv.FormatBool(v.truth)]
	}
	return keys[keyOf(v.any())]
}

// itemsDiffer reports whether no two items are equal.
func (v *value) itemsDiffer() bool {
	if v.count < 2 {
		return true
	}
	keys := make(map[string]bool, v.count)
	for item := v.first; item != nil; item = item.next {
		keys[keyOf(item.any())] = true
	}
	return len(keys) == int(v.count)
}

// keyOf is a text that is the same for equal values and for no others. That of a string is the string itself;
// others begin with a byte that no string has.
func keyOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return otherKey + rat(string(v)).RatString()
	}
	text, _ := json.Marshal(keyed(v))
	return otherKey + string(text)
}

// otherKey begins the keys of values that are no strings.
const otherKey = "\xff"

// keyed is a value whose JSON is the same where the value is, and no other: numbers are written in one form.
func keyed(v any) any {
	switch v := v.(type) {
	case json.Number:
		return []string{rat(string(v)).RatString()}
	case []any:
		list := make([]any, len(v))
		for n, item := range v {
			list[n] = keyed(item)
		}
		return map[string]any{"a": list}
	case map[string]any:
		members := make(map[string]any, len(v))
		for name, member := range v {
			members[name] = keyed(member)
		}
		return []any{members}
	}
	return v
}
