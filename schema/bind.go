package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

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
	p := newParser(doc, lim)
	defer p.free()
	root, issue := p.read()
	if issue != nil {
		return []fault.Issue{*issue}
	}
	e := p.evaluation(budget, t.schema)
	whole := collector{evaluation: e, scope: t.schema.scope()}
	whole.bind(t.schema.root, root, t.root, reflect.ValueOf(v).Elem(), nil)
	found := e.merge(e.explain(whole.refusal))
	if e.spent() {
		return tooMuch(root)
	}
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

// binder keeps what is found while the values of a document are stored in Go variables, beside what the
// schema refuses.
type binder struct {
	doc     []byte
	found   []finding
	unbound []*value   // the values that were skipped
	around  []variable // those that the one which is stored is in
}

// variable is a variable that is not behind pointers, and its place in the Go type.
type variable struct {
	*spot
	to     reflect.Value
	around any // the struct that it is a field of, or nil
	// key and elem hold the entry of a map that is being stored.
	key, elem reflect.Value
}

// anything is the schema of a value that no schema describes.
var anything = &node{Schema: &jsonschema.Schema{}}

// inner is the subschema that stores a value in its place: what a reference leads to, or the alternative to
// null; nil where the schema itself does.
func (n *node) inner(to *variable) *node {
	if n.ref == nil && to.pointer && len(n.any) == 2 && n.any[1].types == kindNull {
		return n.any[0]
	}
	return n.ref
}

// costOfRule is the work of a rule that the validator checks.
const costOfRule = 4

// finding is an issue of a value. The value is nil for a member that is missing.
type finding struct {
	*value
	fault.Issue
}

func (b *binder) find(v *value, at, rule, expected string, source fault.Source) {
	i := fault.Issue{Pointer: at, Rule: rule, Expected: clip(expected), Source: source}
	if v != nil {
		i.Got, i.Sent = v.kind.name(), v.sent(rule)
	}
	b.note(v, i)
}

func (b *binder) note(v *value, i fault.Issue) {
	if len(b.found) < maxIssues {
		b.found = append(b.found, finding{v, i})
	}
}

// skip notes that a value is not stored.
func (b *binder) skip(v *value) {
	if len(b.unbound) < maxIssues {
		b.unbound = append(b.unbound, v)
	}
}

// refuse skips a value and says why. It returns false.
func (f *collector) refuse(v *value, rule, expected string) bool {
	f.skip(v)
	if len(f.found) < maxIssues && f.spend(costOfPointer(v)) {
		f.find(v, v.pointer(), rule, expected, fault.FromSchema)
	}
	return false
}

// store judges a child by a schema, and stores it in its variable.
func (f *collector) store(n *node, child *value) {
	switch f.to.class {
	case classStruct:
		m, known := f.to.members.byName[child.name]
		if !known {
			f.refuse(child, "additionalProperties", "no member of this name")
			return
		}
		member := &f.to.members.members[m]
		f.bind(n, child, member.spot, f.to.to.FieldByIndex(member.index), f.to.to.Addr().Interface())
	case classList:
		if int(child.place) < f.to.to.Len() {
			f.bind(n, child, f.to.each, f.to.to.Index(int(child.place)), f.to.around)
		}
	case classMap:
		f.storeEntry(n, child)
	}
}

// bind judges a value by the schema of its place, stores it in a zero variable and checks its rules. around is
// the struct around the variable.
func (f *collector) bind(n *node, v *value, at *spot, to reflect.Value, around any) {
	kinds := classes[at.class].kinds
	isNull := v.kind == kindNull && at.pointer
	if isNull || kinds != 0 && kinds&v.kind == 0 {
		r, _ := f.judge(n, v, f.scope, nil)
		if r != nil {
			f.add(r)
		}
		if r == nil && !isNull {
			f.refuse(v, "type", at.class.jsonType())
		} else if !isNull {
			f.skip(v)
		}
		return
	}
	if !f.spend(costOfRule * len(at.rules)) {
		return
	}
	for to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if r := f.judgeInto(n, v, variable{spot: at, to: to, around: around}); r != nil {
		f.add(r)
	}
	if !f.read(v, at, to) || len(f.found) >= maxIssues {
		return
	}
	for _, r := range at.broken(to, around) {
		if !f.spend(costOfPointer(v)) {
			return
		}
		f.find(v, v.pointer(), ruleName(r, at.class), rulePhrase(r, at.class, nil), fault.FromRules)
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

// read stores a value that has no parts, and checks the rules that compare the members of a struct; false where
// the value cannot be read.
func (f *collector) read(v *value, at *spot, to reflect.Value) bool {
	switch at.class {
	case classBytes, classText, classOpaque, classAny:
		if json.Unmarshal(f.doc[v.start:v.end], to.Addr().Interface(), decodeOptions) != nil {
			to.SetZero()
			return f.refuse(v, "format", decoderPhrase(at.typ))
		}
	case classString:
		to.SetString(f.own(v.text))
	case classBool:
		to.SetBool(v.truth)
	case classInt, classUint:
		return f.readInteger(v, at, to)
	case classFloat:
		n, err := strconv.ParseFloat(v.text, to.Type().Bits())
		if err != nil {
			return f.refuse(v, "format", decoderPhrase(at.typ))
		}
		to.SetFloat(n)
	case classStruct:
		for _, n := range at.members.related {
			f.compare(v, at.members, &at.members.members[n], to)
		}
	}
	return true
}

// judgeInto judges a value by a schema, and stores its members or items on the way.
func (f *collector) judgeInto(n *node, v *value, in variable) *refusal {
	switch {
	case in.class == classMap:
		in.to.Set(reflect.MakeMapWithSize(in.to.Type(), int(v.count)))
		in.key, in.elem = reflect.New(in.to.Type().Key()).Elem(), reflect.New(in.to.Type().Elem()).Elem()
	case in.class == classList && in.to.Kind() == reflect.Slice:
		in.to.Grow(int(v.count))
		in.to.SetLen(int(v.count))
	case in.class != classStruct && in.class != classList:
		r, _ := f.judge(n, v, f.scope, nil)
		return r
	}
	f.around = append(f.around, in)
	last := len(f.around) - 1
	r, _ := f.judge(n, v, f.scope, &f.around[last])
	f.around = f.around[:last]
	return r
}

// own copies a text of a large document, so that the text does not keep the document in memory.
func (b *binder) own(text string) string {
	if len(b.doc) > maxShared {
		return strings.Clone(text)
	}
	return text
}

func (f *collector) readInteger(v *value, at *spot, to reflect.Value) bool {
	text := wholeNumber(v.text)
	bits := to.Type().Bits()
	if at.class == classUint {
		n, err := strconv.ParseUint(text, 10, bits)
		if to.SetUint(n); err != nil {
			return f.refuse(v, "maximum", "at most "+strconv.FormatUint(1<<bits-1, 10))
		}
		return true
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch to.SetInt(n); {
	case err == nil:
		return true
	case n < 0:
		return f.refuse(v, "minimum", "at least "+strconv.FormatInt(n, 10))
	}
	return f.refuse(v, "maximum", "at most "+strconv.FormatInt(n, 10))
}

// compare checks the rules that compare a member with others. For an absent member, only the rules count that
// say when it must be given. A rule is skipped if a value that it looks at could not be read.
func (f *collector) compare(object *value, l *layout, m *member, in reflect.Value) {
	v, to := object.member(m.name), in.FieldByIndex(m.index)
	f.spend(int(object.count) / patternSteps)
	isThere := v != nil && v.kind != kindNull
	for _, r := range m.related {
		if r.omits() && m.isEmpty(to, r) {
			return
		}
		if r.omits() || !isThere && !r.conditional() || f.lacks(object, l, m, r) || !f.spend(costOfRule) {
			continue
		}
		beside := in.FieldByIndex(m.index[:len(m.index)-1])
		if !r.holds(to, m.class, beside.Addr().Interface()) {
			pointer := object.pointer() + "/" + pointerEscaper.Replace(m.name)
			f.find(v, pointer, ruleName(r, m.class), rulePhrase(r, m.class, l.names), fault.FromRules)
		}
	}
}

// lacks reports whether the member, or a field that its rule names, could not be read.
func (f *collector) lacks(object *value, l *layout, m *member, r rule) bool {
	if len(f.unbound) == 0 || !f.spend(len(f.unbound)) {
		return false
	}
	names := []string{m.name}
	for _, word := range r.others() {
		first, _, _ := strings.Cut(word, ".")
		names = append(names, l.names[first])
	}
	return slices.ContainsFunc(f.unbound, func(lost *value) bool {
		for lost != nil && lost.parent != object {
			lost = lost.parent
		}
		return lost != nil && slices.Contains(names, lost.name)
	})
}

// storeEntry stores an entry of a map, and checks the rules of its key.
func (f *collector) storeEntry(n *node, m *value) {
	at, key := f.to.spot, f.to.key
	key.SetString(f.own(m.name))
	f.to.elem.SetZero()
	f.bind(n, m, at.each, f.to.elem, f.to.around)
	f.to.to.SetMapIndex(key, f.to.elem)
	if at.key == nil {
		return
	}
	for _, r := range at.key.broken(key, f.to.around) {
		wants := clip("a member name that is " + rulePhrase(r, classString, nil))
		f.note(m, fault.Issue{
			Pointer: m.pointer(), Rule: ruleName(r, classString), Expected: wants, Source: fault.FromRules,
		})
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
