package schema

import (
	"cmp"
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// decodeOptions are those of types that read their own JSON: exact names, no unknown members; strict text is
// the default.
var decodeOptions = json.JoinOptions(json.RejectUnknownMembers(true))

// maxShared is how much text may share one piece of memory, all of which lives as long as one string in it.
const maxShared = 4 << 10

// binder keeps what is found while the values of a document are stored in Go variables, beside what the
// schema refuses.
type binder struct {
	texts     strings.Builder // memory that strings share
	found     []failure
	told      []fault.Issue // what methods Issues say
	variables []*variable   // those that are being stored, each in the one before; then free memory
}

// variable is a variable with parts that is not behind pointers, and its place in the Go type.
type variable struct {
	*spot
	to reflect.Value
	up *variable // the one that it is in
	// key and elem hold the entry of a map that is being stored.
	key, elem reflect.Value
}

// around returns a pointer to the innermost struct around what is in a variable; nil for none.
func (v *variable) around() any {
	for v != nil && v.class != classStruct {
		v = v.up
	}
	if v == nil {
		return nil
	}
	return v.to.Addr().Interface()
}

// anything is the schema of a value that no schema describes.
var anything = &node{Schema: &jsonschema.Schema{}}

// inner returns the subschema that stores a value in its place: what a reference leads to, or the alternative
// to null; nil where the schema itself does.
func (n *node) inner(to *variable) *node {
	if n.ref == nil && to.null && len(n.any) == 2 && n.any[1].types == kindNull {
		return n.any[0]
	}
	return n.ref
}

// costOfRule is the work of a rule that the validator checks.
const costOfRule = 4

// find notes what a Go type refuses. Where the schema has refused the value, only rules are noted, and none
// of a value that is missing, empty or of the wrong kind. What is expected is said.
func (f *collector) find(x *failure) {
	isEmpty := x.lacks != "" || x.value.kind == kindString && x.value.text() == ""
	isRefused := func(r failure) bool {
		return r.isAt(x) && (!x.isRule || isEmpty || r.rule == "type" || r.rule == "minProperties")
	}
	if len(f.found) < maxIssues && !slices.ContainsFunc(f.failures, isRefused) {
		x.said = clip(x.said)
		f.found = append(f.found, *x)
	}
}

// skip notes that a value is not stored, so that those around it are incomplete.
func (v value) skip() {
	for ; v.isThere() && !v.incomplete; v = v.parent() {
		v.incomplete = true
	}
}

// decline skips a value and says why. It returns false.
func (f *collector) decline(v value, rule, expected string) bool {
	v.skip()
	f.find(&failure{value: v, rule: rule, said: expected})
	return false
}

// store judges a child by a schema, and stores it in its variable.
func (f *collector) store(n *node, child value) {
	switch f.to.class {
	case classStruct:
		if f.field < 0 {
			f.decline(child, "additionalProperties", fault.NoMember(""))
			return
		}
		field := &f.to.members.members[f.field]
		f.bind(n, child, field.spot, f.to.to.FieldByIndex(field.index))
	case classList:
		if int(child.place) < f.to.to.Len() {
			f.bind(n, child, f.to.each, f.to.to.Index(int(child.place)))
		}
	case classMap:
		f.storeEntry(n, child)
	}
}

// bind judges a value by the schema of its place, stores it in a zero variable and checks its rules, unless a
// part of it could not be read.
func (f *collector) bind(n *node, v value, at *spot, to reflect.Value) {
	kinds := classes[at.class].kinds
	isNull := v.kind == kindNull && at.null
	if isNull || kinds != 0 && kinds&v.kind == 0 {
		if fits, _ := f.judge(n, v, f.scope, nil); fits && !isNull {
			f.decline(v, "type", at.class.jsonType())
		} else if !isNull {
			v.skip()
		}
		return
	}
	if len(at.rules) > 0 && !f.spend(costOfRule*len(at.rules)) {
		return
	}
	for to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	refused, found := len(f.failures), len(f.found)
	f.judge(n, v, f.scope, f.open(v, at, to))
	if f.spent() || !f.read(v, at, to) || v.incomplete || len(f.found) >= maxIssues {
		return
	}
	rules := at.rules
	if len(at.rounded) > len(rules) && len(f.failures) == refused && v.rounds(at.typ.Bits()) {
		rules = at.rounded
	}
	if len(rules) > 0 {
		f.holdTo(rules, at, to, v, false)
	}
	if at.issues && len(f.failures) == refused && len(f.found) == found {
		f.ownIssues(v, at, to)
	}
}

// ownIssues notes what a value says of itself. Places are below that of the value. What an embedded struct
// with a name in JSON has said is not said once more by its method in the struct around.
func (f *collector) ownIssues(v value, at *spot, to reflect.Value) {
	own := inBounds(fault.PrintableIssues(to.Addr().Interface().(issuer).Issues()))
	for _, i := range own[:min(len(own), maxIssues-len(f.told))] {
		place, inner := canon.Pointer(v.path()...), i
		isPromoted := func(m member) bool {
			inner.Pointer = place + canon.Pointer(m.name) + i.Pointer
			return at.typ.FieldByIndex(m.index).Anonymous && slices.Contains(f.told, inner)
		}
		if at.members != nil && slices.ContainsFunc(at.members.members, isPromoted) {
			continue
		}
		i.Pointer = place + i.Pointer
		f.told = append(f.told, i)
	}
}

// holdTo notes the rules that what is stored of a value, or of its name, breaks.
func (f *collector) holdTo(rules []*rule, at *spot, to reflect.Value, v value, ofName bool) {
	for _, r := range rules {
		switch {
		case !r.omits():
			if !r.holds(to, at, f.to.around()) {
				f.breaks(r, failure{value: v, ofName: ofName})
			}
		case at.isEmpty(to, r):
			return
		}
	}
}

// breaks notes a broken rule. What is expected is that of the rule where nothing else is said.
func (f *collector) breaks(r *rule, like failure) {
	like.rule, like.said, like.isRule = r.name, cmp.Or(like.said, r.said), true
	if like.ofName {
		like.said = "a member name that is " + r.said
	}
	f.find(&like)
}

// rounds reports whether a number may be another one in Go, and on the other side of a bound.
func (v value) rounds(bits int) bool {
	exact := maxExactDigits
	if bits == 32 {
		exact = 6
	}
	d, _ := decimalOf(v.text())
	return !d.isExact(exact)
}

// decode lets a type read a value by itself. For common types it calls at once what the library would call in
// the end.
func (f *collector) decode(v value, c class, into any) error {
	switch own := into.(type) {
	case *any:
		*own = f.plain(v)
		return nil
	case *stdjson.RawMessage:
		*own = v.canonical()
		return nil
	case *jsontext.Value:
		*own = v.canonical()
		return nil
	case encoding.TextUnmarshaler:
		if c == classText && v.kind == kindString {
			return own.UnmarshalText([]byte(v.text()))
		}
	}
	return json.Unmarshal(v.canonical(), into, decodeOptions)
}

// plain returns a value as the library makes it where any value may stand.
func (f *collector) plain(v value) any {
	switch v.kind {
	case kindNull:
		return nil
	case kindBoolean:
		return v.text() == "true"
	case kindString:
		return f.own(v.text())
	case kindArray:
		items := make([]any, 0, v.count)
		for item := range v.children {
			items = append(items, f.plain(item))
		}
		return items
	case kindObject:
		members := make(map[string]any, v.count)
		for m := range v.children {
			members[f.own(m.name())] = f.plain(m)
		}
		return members
	}
	return f.near(v)
}

// read stores a value that has no parts, and checks the rules that compare the members of a struct; false
// where the value cannot be read.
func (f *collector) read(v value, at *spot, to reflect.Value) bool {
	switch at.class {
	case classBytes, classText, classOpaque, classAny:
		if f.decode(v, at.class, to.Addr().Interface()) != nil {
			to.SetZero()
			return f.decline(v, "format", at.decoderPhrase())
		}
	case classString:
		to.SetString(f.own(v.text()))
	case classBool:
		to.SetBool(v.text() == "true")
	case classInt, classUint:
		return f.readInteger(v, at, to)
	case classFloat:
		return f.readFloat(v, at, to)
	case classStruct:
		for _, n := range at.members.compared {
			f.compare(v, &at.members.members[n], to)
		}
	}
	return true
}

// open makes the variable of a value ready for its members or items, which are stored while it is judged; nil
// for a value that has none.
func (f *collector) open(v value, at *spot, to reflect.Value) *variable {
	if at.class != classMap && at.class != classList && at.class != classStruct {
		return nil
	}
	if len(f.variables) == int(v.depth) {
		f.variables = append(f.variables, new(variable))
	}
	in := f.variables[v.depth]
	if at.class == classMap && in.spot != at {
		in.key, in.elem = reflect.New(at.typ.Key()).Elem(), reflect.New(at.typ.Elem()).Elem()
	}
	switch in.spot, in.to, in.up = at, to, f.to; {
	case at.class == classMap:
		to.Set(reflect.MakeMapWithSize(at.typ, int(v.count)))
	case to.Kind() == reflect.Slice:
		to.Grow(max(int(v.count), 1)) // an empty list is not nil
		to.SetLen(int(v.count))
	}
	return in
}

// own copies a text of a large document, so that the text does not keep the document in memory.
func (e *evaluation) own(text string) string {
	switch {
	case len(e.text) <= maxShared:
		return text
	case len(text) > maxShared/4:
		return strings.Clone(text)
	case len(text) > e.texts.Cap()-e.texts.Len():
		e.texts.Reset()
		e.texts.Grow(maxShared)
	}
	e.texts.WriteString(text)
	return e.texts.String()[e.texts.Len()-len(text):]
}

func (f *collector) readFloat(v value, at *spot, to reflect.Value) bool {
	if to.Kind() == reflect.Float64 {
		to.SetFloat(f.near(v))
		return true
	}
	n, err := strconv.ParseFloat(v.text(), 32)
	if err != nil {
		return f.decline(v, "format", at.decoderPhrase())
	}
	to.SetFloat(n)
	return true
}

func (f *collector) readInteger(v value, at *spot, to reflect.Value) bool {
	text := wholeNumber(v.text())
	bits := at.typ.Bits()
	if at.class == classUint {
		n, err := strconv.ParseUint(text, 10, bits)
		if to.SetUint(n); err != nil {
			return f.decline(v, "maximum", "at most "+strconv.FormatUint(n, 10))
		}
		return true
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch to.SetInt(n); {
	case err == nil:
		return true
	case n < 0:
		return f.decline(v, "minimum", "at least "+strconv.FormatInt(n, 10))
	}
	return f.decline(v, "maximum", "at most "+strconv.FormatInt(n, 10))
}

// compare checks the rules that compare a member with others. For an absent member, only the rules count that
// say when it must be given. A rule is skipped if a value that it looks at could not be read.
func (f *collector) compare(object value, m *member, in reflect.Value) {
	v, to := object.member(m.name), in.FieldByIndex(m.index)
	f.spend(int(object.count) / patternSteps)
	isThere, beside := v.isThere() && v.kind != kindNull, in.FieldByIndex(m.index[:len(m.index)-1])
	for _, r := range m.related {
		if r.omits() && m.isEmpty(to, r) {
			return
		}
		if r.omits() || r.isMet(to) || !isThere && !r.conditional() || m.lacks(object, r, beside.Type()) || !f.spend(costOfRule) {
			continue
		}
		// reflect does not hand out an embedded struct of an unexported type, but for its address.
		around := reflect.NewAt(beside.Type(), beside.Addr().UnsafePointer())
		if !r.holds(to, m.spot, around.Interface()) {
			like := failure{value: v}
			if !v.isThere() {
				like.value, like.lacks = object, "/"+m.name
			} else if isThere {
				like.said = m.emptied(r.said) + r.absence(object, beside.Type())
			}
			f.breaks(r, like)
		}
	}
}

// lacks reports whether the member, or a field that its rule names, could not be read.
func (m *member) lacks(object value, r *rule, beside reflect.Type) bool {
	isIncomplete := func(name string) bool {
		member := object.member(name)
		return member.isThere() && member.incomplete
	}
	isOther := func(field string) bool {
		first, _, _ := strings.Cut(field, ".")
		return isIncomplete(jsonPath(first, beside))
	}
	return object.incomplete && (isIncomplete(m.name) || slices.ContainsFunc(r.others(), isOther))
}

// absence says that the field which a rule compares with was not given, so that its value cannot be seen.
func (r *rule) absence(object value, beside reflect.Type) string {
	if len(r.alts) > 0 || r.how != "field" {
		return ""
	}
	first, _, _ := strings.Cut(r.param, ".")
	if other := object.member(jsonPath(first, beside)); other.isThere() && other.kind != kindNull {
		return ""
	}
	return ", which is not given"
}

// storeEntry stores an entry of a map, and checks the rules of its key.
func (f *collector) storeEntry(n *node, m value) {
	at, key := f.to.spot, f.to.key
	key.SetString(f.own(m.name()))
	f.to.elem.SetZero()
	f.bind(n, m, at.each, f.to.elem)
	f.to.to.SetMapIndex(key, f.to.elem)
	if at.key != nil {
		f.holdTo(at.key.rules, at.key, key, m, true)
	}
}
