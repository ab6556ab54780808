package canon

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encoder appends the canonical form of the values of one type, which stand so deep in what is written.
type encoder func(dst []byte, v reflect.Value, depth int) ([]byte, *Error)

// encoders holds the encoder of each type that was met.
var encoders sync.Map

func encoderOf(t reflect.Type) encoder {
	if e, ok := encoders.Load(t); ok {
		return e.(encoder)
	}
	e := newEncoder(t)
	encoders.Store(t, e)
	return e
}

// newEncoder makes an encoder. What is rare, or writes itself, is left to the library, whose output is then
// put in order.
func newEncoder(t reflect.Type) encoder {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return encodeTime
	case t == reflect.TypeFor[stdjson.RawMessage](), t == reflect.TypeFor[jsontext.Value]():
		return encodeRaw
	case t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[stdjson.Marshaler]()):
		return encodeByMethod
	case writesItself(t):
		return encodeByLibrary
	}
	switch t.Kind() {
	case reflect.Bool:
		return encodeBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return encodeInt
	case reflect.String:
		return encodeString
	case reflect.Pointer:
		return pointerEncoder(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return listEncoder(t)
		}
	case reflect.Struct:
		if members, ok := membersOf(t, nil); ok {
			return structEncoder(members)
		}
	}
	return encodeByLibrary
}

// writesItself reports whether a type, or the pointer to it, says how it is written.
func writesItself(t reflect.Type) bool {
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		for _, own := range []reflect.Type{
			reflect.TypeFor[stdjson.Marshaler](), reflect.TypeFor[json.MarshalerTo](),
			reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextAppender](),
		} {
			if t.Implements(own) {
				return true
			}
		}
	}
	return false
}

func encodeByMethod(dst []byte, v reflect.Value, depth int) ([]byte, *Error) {
	raw, err := v.Interface().(stdjson.Marshaler).MarshalJSON()
	if err == nil {
		if to, err := appendJSON(dst, raw, depth); err == nil {
			return to, nil
		}
	}
	return dst, &Error{Rule: Encode, GoType: v.Type()}
}

func encodeByLibrary(dst []byte, v reflect.Value, depth int) ([]byte, *Error) {
	at := reflect.New(v.Type())
	at.Elem().Set(v)
	raw, err := json.Marshal(at.Interface(), goOptions)
	if err != nil {
		e := fromLibrary(err, Encode)
		e.Rule = Encode
		return dst, e
	}
	return appendJSON(dst, raw, depth)
}

func encodeRaw(dst []byte, v reflect.Value, depth int) ([]byte, *Error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	dst, err := appendJSON(dst, v.Bytes(), depth)
	if err != nil && err.Rule != Depth {
		err = &Error{Rule: Encode}
	}
	return dst, err
}

func encodeTime(dst []byte, v reflect.Value, _ int) ([]byte, *Error) {
	at := v.Interface().(time.Time)
	dst, err := at.AppendText(append(dst, '"'))
	if err != nil {
		return dst, &Error{Rule: Encode, GoType: v.Type()}
	}
	return append(dst, '"'), nil
}

func encodeBool(dst []byte, v reflect.Value, _ int) ([]byte, *Error) {
	return strconv.AppendBool(dst, v.Bool()), nil
}

func encodeInt(dst []byte, v reflect.Value, _ int) ([]byte, *Error) {
	return strconv.AppendInt(dst, v.Int(), 10), nil
}

func encodeString(dst []byte, v reflect.Value, _ int) ([]byte, *Error) {
	dst, ok := AppendString(dst, v.String())
	if !ok {
		return dst, &Error{Rule: Encode}
	}
	return dst, nil
}

func pointerEncoder(t reflect.Type) encoder {
	of := sync.OnceValue(func() encoder { return encoderOf(t.Elem()) })
	return func(dst []byte, v reflect.Value, depth int) ([]byte, *Error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		return of()(dst, v.Elem(), depth)
	}
}

func listEncoder(t reflect.Type) encoder {
	of := sync.OnceValue(func() encoder { return encoderOf(t.Elem()) })
	return func(dst []byte, v reflect.Value, depth int) (_ []byte, err *Error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if depth == MaxDepth {
			return dst, &Error{Rule: Depth, Offset: len(dst)}
		}
		dst = append(dst, '[')
		for n := range v.Len() {
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, err = of()(dst, v.Index(n), depth+1); err != nil {
				return dst, err.in(strconv.Itoa(n))
			}
		}
		return append(dst, ']'), nil
	}
}

// member is a field of a struct as it is written.
type member struct {
	name string
	// key is the name in quotation marks, with the colon.
	key   string
	index []int
	// omits reports whether a value is left out; nil where none is.
	omits func(reflect.Value) bool
	value func() encoder
}

func structEncoder(members []member) encoder {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return func(dst []byte, v reflect.Value, depth int) (_ []byte, err *Error) {
		if depth == MaxDepth {
			return dst, &Error{Rule: Depth, Offset: len(dst)}
		}
		open := byte('{')
		for n := range members {
			m := &members[n]
			field := v.FieldByIndex(m.index)
			if m.omits != nil && m.omits(field) {
				continue
			}
			dst = append(append(dst, open), m.key...)
			if dst, err = m.value()(dst, field, depth+1); err != nil {
				return dst, err.in(m.name)
			}
			open = ','
		}
		if open == '{' {
			dst = append(dst, open)
		}
		return append(dst, '}'), nil
	}
}

// membersOf are the members of a struct, with those of the structs that are embedded in it; false where one
// is rare: the library then writes the struct.
func membersOf(t reflect.Type, at []int) (all []member, ok bool) {
	for f := range t.Fields() {
		index := append(slices.Clone(at), f.Index...)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || tag != "" || writesItself(f.Type) {
				return nil, false
			}
			embedded, ok := membersOf(f.Type, index)
			if !ok {
				return nil, false
			}
			all = append(all, embedded...)
			continue
		case name == "":
			name = f.Name
		}
		omits, ok := omitsFor(f.Type, options)
		if !ok || !f.IsExported() || !IsPlain(name) || slices.ContainsFunc(all, func(m member) bool { return m.name == name }) {
			return nil, false
		}
		all = append(all, member{name, `"` + name + `":`, index, omits, sync.OnceValue(func() encoder { return encoderOf(f.Type) })})
	}
	return all, true
}

// omitsFor says which values of a type the options of a tag leave out; false where an option is not known
// here.
func omitsFor(t reflect.Type, options string) (omits func(reflect.Value) bool, ok bool) {
	zeroes := reflect.TypeFor[interface{ IsZero() bool }]()
	switch {
	case options == "":
		return nil, true
	case options == "omitzero" && t == reflect.TypeFor[time.Time]():
		return func(v reflect.Value) bool { return v.Interface().(time.Time).IsZero() }, true
	case options == "omitzero":
		return reflect.Value.IsZero, !reflect.PointerTo(t).Implements(zeroes)
	case options != "omitempty":
		return nil, false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array:
		return func(v reflect.Value) bool { return v.Len() == 0 }, true
	case reflect.Struct:
		return nil, true
	}
	return reflect.Value.IsZero, true
}
