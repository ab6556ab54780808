package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/retake-go/retake/fault"
)

// decodeOptions are those of types that read their own JSON: exact names, no unknown members; strict text is
// the default.
var decodeOptions = json.JoinOptions(json.RejectUnknownMembers(true))

// maxShared is the largest document whose strings share one copy of it: all of the copy lives as long as one
// of them.
const maxShared = 4 << 10

// decode reads a document into v, a pointer to a zero value. The schema is checked first, then the rules that
// the schema cannot say exactly, then the type's own method Issues. If there are issues, v is incomplete.
func (t *goType) decode(doc []byte, lim Limits, budget *Budget, v any) []fault.Issue {
	root, issue := parse(doc, lim)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	if budget == nil {
		budget = NewBudget()
	}
	found := t.schema.judge(root, budget)
	if len(found) == 1 && found[0].Rule == fault.RuleWork {
		return found
	}
	b := binder{doc: doc, Budget: budget}
	b.bind(root, t.root, reflect.ValueOf(v).Elem(), nil)
	if budget.spent() {
		return tooMuch(root)
	}
	found = b.merge(found)
	if len(found) == 0 && t.issues != nil {
		for _, i := range t.issues(v) {
			i.Source = fault.FromRules
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return t.schema.finish(root, found)
}

// binder stores the values of a document in Go variables and checks the rules of each. It skips a value that
// does not fit its variable.
type binder struct {
	*Budget
	doc     []byte
	found   []finding
	unbound []*value // the values that were skipped
}

// costOfRule is the work of a rule that the validator checks.
const costOfRule = 4

// finding is an issue of a value. The value is nil for a member that is missing.
type finding struct {
	*value
	fault.Issue
}

func (b *binder) report(v *value, at, rule, expected string, source fault.Source) {
	i := fault.Issue{Pointer: at, Rule: rule, Expected: clip(expected), Source: source}
	if v != nil {
		i.Got, i.Sent = v.kind.name(), v.sent(rule)
	}
	b.add(v, i)
}

func (b *binder) add(v *value, i fault.Issue) {
	if len(b.found) < maxIssues {
		b.found = append(b.found, finding{v, i})
	}
}

// refuse skips a value and says why. It returns false.
func (b *binder) refuse(v *value, rule, expected string) bool {
	if len(b.unbound) < maxIssues {
		b.unbound = append(b.unbound, v)
	}
	if len(b.found) < maxIssues && b.spend(costOfPointer(v)) {
		b.report(v, v.pointer(), rule, expected, fault.FromSchema)
	}
	return false
}

// bind stores a value in a zero variable and checks its rules. around is the struct around the variable.
func (b *binder) bind(v *value, at *spot, to reflect.Value, around any) {
	if v.kind == kindNull && at.pointer || !b.spend(costOfRule*len(at.rules)) {
		return
	}
	for to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if !b.read(v, at, to, around) || len(b.found) >= maxIssues {
		return
	}
	for _, r := range at.broken(to, around) {
		if !b.spend(costOfPointer(v)) {
			return
		}
		b.report(v, v.pointer(), ruleName(r, at.class), rulePhrase(r, at.class, nil), fault.FromRules)
	}
}

// broken lists the rules that a value breaks.
func (at *spot) broken(v reflect.Value, around any) (rules []rule) {
	for _, r := range at.rules {
		switch {
		case !r.omits():
			if !r.holds(v, at.class, around) {
				rules = append(rules, r)
			}
		case at.isEmpty(v, r):
			return rules
		}
	}
	return rules
}

// read is bind without rules; false where the value cannot be read.
func (b *binder) read(v *value, at *spot, to reflect.Value, around any) bool {
	kinds := classes[at.class].kinds
	if kinds != 0 && kinds&v.kind == 0 {
		return b.refuse(v, "type", at.class.jsonType())
	}
	switch at.class {
	case classBytes, classText, classOpaque, classAny:
		if json.Unmarshal(b.doc[v.start:v.end], to.Addr().Interface(), decodeOptions) != nil {
			to.SetZero()
			return b.refuse(v, "format", decoderPhrase(at.typ))
		}
	case classString:
		to.SetString(b.own(v.text))
	case classBool:
		to.SetBool(v.truth)
	case classInt, classUint:
		return b.readInteger(v, at, to)
	case classFloat:
		f, err := strconv.ParseFloat(v.text, to.Type().Bits())
		if err != nil {
			return b.refuse(v, "format", decoderPhrase(at.typ))
		}
		to.SetFloat(f)
	case classStruct:
		b.readStruct(v, at.members, to)
	case classList:
		b.readList(v, at, to, around)
	case classMap:
		b.readMap(v, at, to, around)
	}
	return true
}

// own copies a text of a large document, so that the text does not keep the document in memory.
func (b *binder) own(text string) string {
	if len(b.doc) > maxShared {
		return strings.Clone(text)
	}
	return text
}

func (b *binder) readInteger(v *value, at *spot, to reflect.Value) bool {
	text := wholeNumber(v.text)
	bits := to.Type().Bits()
	if at.class == classUint {
		n, err := strconv.ParseUint(text, 10, bits)
		if to.SetUint(n); err != nil {
			return b.refuse(v, "maximum", "at most "+strconv.FormatUint(1<<bits-1, 10))
		}
		return true
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch to.SetInt(n); {
	case err == nil:
		return true
	case n < 0:
		return b.refuse(v, "minimum", "at least "+strconv.FormatInt(n, 10))
	}
	return b.refuse(v, "maximum", "at most "+strconv.FormatInt(n, 10))
}

func (b *binder) readStruct(v *value, l *layout, to reflect.Value) {
	around := to.Addr().Interface()
	for child := v.first; child != nil; child = child.next {
		n, known := l.byName[child.name]
		if !known {
			b.refuse(child, "additionalProperties", "no member of this name")
			continue
		}
		b.bind(child, l.members[n].spot, to.FieldByIndex(l.members[n].index), around)
	}
	for _, n := range l.related {
		b.compare(v, l, &l.members[n], to)
	}
}

// compare checks the rules that compare a member with others. For an absent member, only the rules count that
// say when it must be given. A rule is skipped if a value that it looks at could not be read.
func (b *binder) compare(object *value, l *layout, m *member, in reflect.Value) {
	v, to := object.member(m.name), in.FieldByIndex(m.index)
	b.spend(int(object.count) / patternSteps)
	isThere := v != nil && v.kind != kindNull
	for _, r := range m.related {
		if r.omits() && m.isEmpty(to, r) {
			return
		}
		if r.omits() || !isThere && !r.conditional() || b.lacks(object, l, m, r) || !b.spend(costOfRule) {
			continue
		}
		beside := in.FieldByIndex(m.index[:len(m.index)-1])
		if !r.holds(to, m.class, beside.Addr().Interface()) {
			pointer := object.pointer() + "/" + pointerEscaper.Replace(m.name)
			b.report(v, pointer, ruleName(r, m.class), rulePhrase(r, m.class, l.names), fault.FromRules)
		}
	}
}

// lacks reports whether the member, or a field that its rule names, could not be read.
func (b *binder) lacks(object *value, l *layout, m *member, r rule) bool {
	if len(b.unbound) == 0 || !b.spend(len(b.unbound)) {
		return false
	}
	names := []string{m.name}
	for _, word := range r.others() {
		first, _, _ := strings.Cut(word, ".")
		names = append(names, l.names[first])
	}
	return slices.ContainsFunc(b.unbound, func(lost *value) bool {
		for lost != nil && lost.parent != object {
			lost = lost.parent
		}
		return lost != nil && slices.Contains(names, lost.name)
	})
}

func (b *binder) readList(v *value, at *spot, to reflect.Value, around any) {
	if to.Kind() == reflect.Slice {
		to.Grow(int(v.count))
		to.SetLen(int(v.count))
	}
	for item := v.first; item != nil && int(item.place) < to.Len(); item = item.next {
		b.bind(item, at.each, to.Index(int(item.place)), around)
	}
}

func (b *binder) readMap(v *value, at *spot, to reflect.Value, around any) {
	to.Set(reflect.MakeMapWithSize(to.Type(), int(v.count)))
	key, elem := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
	for m := v.first; m != nil; m = m.next {
		key.SetString(b.own(m.name))
		elem.SetZero()
		b.bind(m, at.each, elem, around)
		to.SetMapIndex(key, elem)
		if at.key == nil {
			continue
		}
		for _, r := range at.key.broken(key, around) {
			wants := clip("a member name that is " + rulePhrase(r, classString, nil))
			b.add(m, fault.Issue{
				Pointer: m.pointer(), Rule: ruleName(r, classString), Expected: wants, Source: fault.FromRules,
			})
		}
	}
}

// merge adds the findings to the issues of the schema. A value that the schema refused gets only findings of
// validation rules. A value that is missing, empty or of the wrong kind gets none.
func (b *binder) merge(issues []fault.Issue) []fault.Issue {
	if len(b.found) == 0 || len(issues) >= maxIssues {
		return issues
	}
	rules := map[string]string{}
	for _, i := range issues {
		rules[i.Pointer] = i.Rule
	}
	for _, f := range b.found {
		if _, refused := rules[f.Pointer]; refused {
			isEmpty := f.value == nil || f.kind == kindString && f.text == ""
			if f.Source != fault.FromRules || isEmpty {
				continue
			}
		}
		if !isCovered(rules, f.Pointer) {
			issues = append(issues, f.Issue)
		}
	}
	return issues
}

// isCovered reports whether a place, or one around it, is missing or of the wrong kind.
func isCovered(rules map[string]string, pointer string) bool {
	for at := pointer; ; at = at[:strings.LastIndexByte(at, '/')] {
		if r := rules[at]; r == "required" || r == "type" || r == "minProperties" {
			return true
		}
		if at == "" {
			return false
		}
	}
}
