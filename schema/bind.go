package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/retake-go/retake/fault"
)

// decodeOptions are those of types that read their own JSON: exact names, no unknown members; strict text is the default.
var decodeOptions = json.JoinOptions(json.RejectUnknownMembers(true))

// maxShared is the largest document whose strings share one copy of it: all of the copy lives as long as one of them.
const maxShared = 4 << 10

// binder puts the values of a document into variables. What cannot be put there is left out and reported.
type binder struct {
	text    string
	issues  []fault.Issue
	unbound []string // the places that were left out
}

// refuse leaves a value out.
func (b *binder) refuse(v *value, rule, expected string) {
	at := v.pointer()
	b.unbound = append(b.unbound, at)
	b.issues = append(b.issues, fault.Issue{Pointer: at, Rule: rule, Expected: clip(expected), Got: v.kind.name(), Source: fault.FromSchema})
}

// bind puts a value into a fresh variable.
func (b *binder) bind(v *value, to reflect.Value) {
	if v.kind == kindNull && to.Kind() == reflect.Pointer {
		return
	}
	c := classOf(to.Type())
	for ; c == classInvalid && to.Kind() == reflect.Pointer; c = classOf(to.Type()) {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch fits := v.kind & kindsOf[c.jsonType()]; {
	case c == classBytes || c == classText || c == classOpaque || c == classAny:
		if json.Unmarshal([]byte(b.text[v.start:v.end]), to.Addr().Interface(), decodeOptions) != nil {
			to.SetZero()
			base, _ := indirect(to.Type())
			b.refuse(v, "format", decoderPhrase(base))
		}
	case fits == 0:
		b.refuse(v, "type", c.jsonType())
	case c == classString:
		to.SetString(b.own(v.text))
	case c == classBool:
		to.SetBool(v.truth)
	case c == classInt, c == classUint:
		b.bindInteger(v, to)
	case c == classFloat:
		f, err := strconv.ParseFloat(v.text, to.Type().Bits())
		if err != nil {
			b.refuse(v, "format", decoderPhrase(to.Type()))
			return
		}
		to.SetFloat(f)
	case c == classStruct:
		b.bindStruct(v, to)
	case c == classList:
		b.bindList(v, to)
	case c == classMap:
		b.bindMap(v, to)
	}
}

// own is a text that keeps no large document alive.
func (b *binder) own(text string) string {
	if len(b.text) > maxShared {
		return strings.Clone(text)
	}
	return text
}

func (b *binder) bindInteger(v *value, to reflect.Value) {
	text, _ := plainInteger(v.text)
	bits := to.Type().Bits()
	if classOf(to.Type()) == classUint {
		n, err := strconv.ParseUint(text, 10, bits)
		if to.SetUint(n); err != nil {
			b.refuse(v, "maximum", "at most "+strconv.FormatUint(1<<bits-1, 10))
		}
		return
	}
	n, err := strconv.ParseInt(text, 10, bits)
	switch to.SetInt(n); {
	case err == nil:
	case n < 0:
		b.refuse(v, "minimum", "at least "+strconv.FormatInt(n, 10))
	default:
		b.refuse(v, "maximum", "at most "+strconv.FormatInt(n, 10))
	}
}

func (b *binder) bindStruct(v *value, to reflect.Value) {
	fields := layoutOf(to.Type())
	for m := v.first; m != nil; m = m.next {
		at, known := fields.byName[m.name]
		if !known {
			b.refuse(m, "additionalProperties", "no member of this name")
			continue
		}
		b.bind(m, to.FieldByIndex(fields.all[at].index))
	}
}

func (b *binder) bindList(v *value, to reflect.Value) {
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), v.count, v.count))
	}
	for item := v.first; item != nil && item.place < to.Len(); item = item.next {
		b.bind(item, to.Index(item.place))
	}
}

func (b *binder) bindMap(v *value, to reflect.Value) {
	to.Set(reflect.MakeMapWithSize(to.Type(), v.count))
	key, elem := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
	for m := v.first; m != nil; m = m.next {
		key.SetString(b.own(m.name))
		elem.SetZero()
		b.bind(m, elem)
		to.SetMapIndex(key, elem)
	}
}

// covered reports whether a place is told already, or lies in one that is missing, of another kind or left out.
func covered(found []fault.Issue, unbound []string, pointer string) bool {
	return slices.ContainsFunc(unbound, func(at string) bool { return isWithin(pointer, at) }) ||
		slices.ContainsFunc(found, func(i fault.Issue) bool {
			whole := i.Rule == "required" || i.Rule == "type" || i.Rule == "minProperties"
			return i.Pointer == pointer || whole && isWithin(pointer, i.Pointer)
		})
}

// holdsAny reports whether any of some places lies in one: of that the rules see less than there was.
func holdsAny(pointer string, places []string) bool {
	return slices.ContainsFunc(places, func(at string) bool { return isWithin(at, pointer) })
}

// isWithin reports whether a place is another, or lies in it.
func isWithin(pointer, in string) bool {
	return strings.HasPrefix(pointer, in) && (len(pointer) == len(in) || pointer[len(in)] == '/')
}
