package schema

import (
	"reflect"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// object is what a walk knows of an object it is in.
type object struct {
	*objectTests
	node    *node
	to      target
	seen    uint64 // the members that the schema names
	next    int    // the place of the one to be expected
	count   int
	names   []string        // the other members
	many    map[string]bool // the same, where they are many
	refused bool            // by a name, or its number of members
}

// fewNames is how many names are looked through one by one.
const fewNames = 16

func (w *walk) object(n *node, to reflect.Value) verdict {
	w.at++
	o, mark := object{objectTests: n.object, node: n}, len(w.found.issues)
	if !w.found.any() {
		o.to = n.bind.open(to)
	}
	first := w.form.Open()
	for more := w.peek() != '}'; more; more = w.eat(',') {
		w.peek()
		start := w.at
		name, shared, ok := w.str()
		if !ok {
			return unsure
		}
		w.form.Name(start, w.at)
		if !w.eat(':') {
			return unsure
		}
		o.count++
		w.found.enter(leg(start))
		if told := w.member(&o, name, shared); told != good {
			return told
		}
		w.found.leave()
		w.form.Value(w.at)
	}
	if !w.eat('}') {
		return unsure
	}
	w.form.Close(first, w.at)
	if told := w.required(n, &o); told != good {
		return told
	}
	if told := o.counts(o.count); o.refused || told == good || !w.found.asked() {
		return max(when(!o.refused), told)
	}
	return w.found.refuseCount(n, map[string]any{}, mark, o.miscounts(o.count))
}

// required judges an object by the members that must be there, of themselves or for others that are.
func (w *walk) required(n *node, o *object) verdict {
	if missing := o.objectTests.required &^ o.seen; missing != 0 {
		if !w.found.asked() {
			return bad
		}
		w.found.missing(n, missing)
	}
	for _, need := range o.needs {
		missing := need.others &^ o.seen
		if o.seen>>need.member&1 == 0 || missing == 0 {
			continue
		}
		if !w.found.asked() {
			return bad
		}
		w.found.needed(n, need, missing)
	}
	return good
}

// miscounts is what the library says of so many members.
func (o *objectTests) miscounts(n int) (all []jsonschema.ErrorKind) {
	if n < o.min {
		all = append(all, &kind.MinProperties{Got: n, Want: o.min})
	}
	if o.max >= 0 && n > o.max {
		all = append(all, &kind.MaxProperties{Got: n, Want: o.max})
	}
	return all
}

func (w *walk) member(o *object, name string, shared bool) verdict {
	if o.objectTests.names != nil {
		v := scalar{kind: kindString, text: name}
		if told := o.objectTests.names.judge(&v); told == unsure || told == bad && !w.found.asked() {
			return told
		} else if told == bad {
			o.refused = true
		}
	}
	if at, named := o.find(name, o.next); named {
		return w.named(o, at)
	}
	return w.other(o, name, shared)
}

// named walks a member the schema names.
func (w *walk) named(o *object, at int) verdict {
	m := &o.members[at]
	if o.seen>>at&1 != 0 {
		return unsure
	}
	o.seen |= 1 << at
	o.next = at + 1
	if o.to.kind != bindStruct || w.found.any() {
		return w.value(m.node, reflect.Value{})
	}
	to := o.to.value.Field(m.field)
	if len(m.path) > 0 {
		to = to.FieldByIndex(m.path)
	}
	return w.value(m.node, to)
}

// other walks a member the schema does not name.
func (w *walk) other(o *object, name string, shared bool) verdict {
	rest, closed := o.rest, o.closed
	if one, number := o.matching(name); number > 1 {
		return unsure // several schemas are for one value
	} else if number == 1 {
		rest, closed = one, false
	}
	if closed && !w.found.asked() {
		return bad
	}
	if o.to.kind == bindMap || o.to.kind == bindTexts {
		if shared && len(w.text) > maxShared {
			name = strings.Clone(name)
		}
		return w.entry(o, name)
	}
	if !o.isNew(name) {
		return unsure
	}
	w.peek()
	start := w.at
	told := w.value(rest, reflect.Value{})
	if closed && told == good {
		return w.refuseMember(o.node, name, w.text[start:w.at])
	}
	return told
}

// isNew notes a name; false where it was noted before.
func (o *object) isNew(name string) bool {
	if o.many != nil {
		old := o.many[name]
		o.many[name] = true
		return !old
	}
	if slices.Contains(o.names, name) {
		return false
	}
	if o.names == nil {
		o.names = make([]string, 0, fewNames/2)
	}
	o.names = append(o.names, name)
	if len(o.names) > fewNames {
		o.many = map[string]bool{}
		for _, n := range o.names {
			o.many[n] = true
		}
	}
	return true
}

// target is where the members of an object go.
type target struct {
	kind      bindKind
	value     reflect.Value
	texts     map[string]string
	key, elem reflect.Value // used for each entry of a map
}

// open readies a variable for the members of an object.
func (b binding) open(to reflect.Value) target {
	t := target{kind: b.kind}
	switch b.kind {
	case bindStruct:
		t.value = b.pointee(to)
	case bindTexts:
		t.texts = map[string]string{}
		b.pointee(to).Set(reflect.ValueOf(t.texts))
	case bindMap:
		t.value = b.pointee(to)
		t.value.Set(reflect.MakeMap(t.value.Type()))
		t.key, t.elem = reflect.New(t.value.Type().Key()).Elem(), reflect.New(b.elem).Elem()
	}
	return t
}

// entry walks a member that becomes an entry of a map.
func (w *walk) entry(o *object, name string) verdict {
	if o.to.kind == bindTexts {
		return w.textEntry(o, name)
	}
	o.to.key.SetString(name)
	if o.to.value.MapIndex(o.to.key).IsValid() {
		return unsure
	}
	o.to.elem.SetZero()
	told := w.value(o.rest, o.to.elem)
	if told == good {
		o.to.value.SetMapIndex(o.to.key, o.to.elem)
	}
	return told
}

func (w *walk) textEntry(o *object, name string) verdict {
	if _, twice := o.to.texts[name]; twice {
		return unsure
	}
	if b := w.peek(); b == '{' || b == '[' {
		o.to.texts[name] = ""
		return w.value(o.rest, reflect.Value{})
	}
	var v scalar
	if !w.scalar(&v) {
		return unsure
	}
	told := o.rest.judge(&v)
	switch {
	case told == bad && w.found.asked():
		told = w.found.refuseScalar(o.rest, &v)
	case told == good && v.kind != kindString && !w.found.any():
		return unsure
	}
	if v.shared && len(w.text) > maxShared {
		v.text = strings.Clone(v.text)
	}
	o.to.texts[name] = v.text
	return told
}
