package schema

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

var (
	bindOfClass = [...]struct {
		class class
		kind  bindKind
	}{
		{classString, bindString}, {classInt, bindInt}, {classUint, bindUint}, {classFloat, bindFloat}, {classBool, bindBool},
		{classList, bindSlice}, {classMap, bindMap}, {classStruct, bindStruct}, {classBytes, bindOther}, {classAny, bindOther},
		{classText, bindOther}, {classOpaque, bindOther},
	}
	textsType = reflect.TypeFor[map[string]string]()
)

// bind says how a value is put into a variable of a Go type, and the fields of a struct.
func (l *lowering) bind(n *node, t reflect.Type) []field {
	if t == nil {
		return nil
	}
	for ; t.Kind() == reflect.Pointer; t = t.Elem() {
		n.bind.pointers++
	}
	c := classOf(t)
	for _, row := range bindOfClass {
		if row.class == c {
			n.bind.kind = row.kind
		}
	}
	if t.Kind() == reflect.Array {
		n.bind.kind = bindOther
	}
	switch n.bind.kind {
	case bindNothing:
		l.unknown = true
	case bindOther:
		n.bind.pointers, l.other = 0, true // the decoder follows them itself
	case bindInt, bindUint, bindFloat:
		n.bind.bits = t.Bits()
	case bindSlice:
		n.bind.elem = t.Elem()
	case bindMap:
		n.bind.elem = t.Elem()
		if t == textsType {
			n.bind.kind = bindTexts
		}
	case bindStruct:
		fields, err := fieldsOf(t, "")
		l.unknown = l.unknown || err != nil
		return fields
	}
	return nil
}

// takes reports whether a container can be put into the variable.
func (b binding) takes(k kinds) bool {
	switch b.kind {
	case bindNothing, bindOther:
		return true
	case bindSlice:
		return k == kindArray
	}
	return k == kindObject && (b.kind == bindMap || b.kind == bindTexts || b.kind == bindStruct)
}

func (b binding) elemOf(kinds ...bindKind) reflect.Type {
	if slices.Contains(kinds, b.kind) {
		return b.elem
	}
	return nil
}

// pointee follows the pointers to a variable, making what they point to.
func (b binding) pointee(v reflect.Value) reflect.Value {
	for range b.pointers {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	return v
}

// maxShared is the largest document whose strings share one copy of it: all of the copy lives as long as one of them.
const maxShared = 4 << 10

// set puts a scalar that is good into a variable.
func (w *walk) set(b binding, v *scalar, to reflect.Value) verdict {
	if v.kind == kindNull {
		return when(b.pointers > 0).orUnsure() // a fresh pointer is nil
	}
	to = b.pointee(to)
	switch {
	case b.kind == bindString && v.kind == kindString:
		if v.shared && len(w.text) > maxShared {
			v.text = strings.Clone(v.text)
		}
		to.SetString(v.text)
	case b.kind == bindBool && v.kind == kindBool:
		to.SetBool(v.truth)
	case b.kind == bindInt && v.whole:
		to.SetInt(v.int)
	case b.kind == bindUint && v.whole && v.int >= 0:
		to.SetUint(uint64(v.int))
	case b.kind == bindFloat && b.bits == 64 && v.kind&kindNumber != 0:
		to.SetFloat(v.asFloat())
	case b.kind == bindFloat && v.kind&kindNumber != 0:
		f, err := strconv.ParseFloat(v.text, b.bits)
		to.SetFloat(f)
		return when(err == nil).orUnsure()
	default:
		return unsure
	}
	return good
}

// decode has the decoder put a value that is good into a variable.
func decode(text string, to reflect.Value) verdict {
	return when(json.Unmarshal([]byte(text), to.Addr().Interface(), decodeOptions) == nil).orUnsure()
}

// orUnsure leaves to the library what should have been good.
func (v verdict) orUnsure() verdict {
	if v == bad {
		return unsure
	}
	return v
}
