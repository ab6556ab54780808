package flat

import (
	"encoding"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	jsonx "github.com/go-json-experiment/json"
)

// Type is how values of one flat Go type are written. A nil one is that of a Go type that is not flat: its values are left to package canon.
// It is immutable, and the same for the same Go type.
type Type struct {
	form   form
	fields []field // of an object, in the order of their names
}

// form is what a value is written as.
type form uint8

const (
	text form = iota
	boolean
	whole   // a signed whole number
	natural // an unsigned one
	real
	object
)

// field is one that is written.
type field struct {
	*Type
	at int
	// head is its name, and the colon after it.
	head string
	// omitted is set where a zero one is not written.
	omitted bool
}

// types are those that were asked for: as many as a program has.
var types sync.Map

// Of returns how values of a Go type are written; nil where it is not flat. Safe for concurrent use.
func Of[T any]() *Type { return of(reflect.TypeFor[T]()) }

func of(goType reflect.Type) *Type {
	known, ok := types.Load(goType)
	if !ok {
		known, _ = types.LoadOrStore(goType, typeOf(goType))
	}
	return known.(*Type)
}

// typeOf is nil where the type is not flat.
func typeOf(goType reflect.Type) *Type {
	if goType == reflect.TypeFor[json.Number]() || writesItself(goType) {
		return nil
	}
	switch k := goType.Kind(); k {
	case reflect.String:
		return &Type{form: text}
	case reflect.Bool:
		return &Type{form: boolean}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Type{form: whole}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Type{form: natural}
	case reflect.Float64:
		return &Type{form: real}
	case reflect.Struct:
		return objectOf(goType)
	}
	return nil
}

// own are the interfaces by which a type says itself how it is written or read, or what of it is zero.
var own = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[jsonx.MarshalerTo](), reflect.TypeFor[jsonx.UnmarshalerFrom](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextAppender](), reflect.TypeFor[encoding.TextUnmarshaler](),
	reflect.TypeFor[interface{ IsZero() bool }](),
}

func writesItself(goType reflect.Type) bool {
	return slices.ContainsFunc(own, reflect.PointerTo(goType).Implements)
}

func objectOf(goType reflect.Type) *Type {
	t := &Type{form: object}
	for n := range goType.NumField() {
		f, ok := fieldOf(goType.Field(n))
		if !ok {
			return nil
		}
		at, twice := slices.BinarySearchFunc(t.fields, f.name(), func(f field, name string) int { return strings.Compare(f.name(), name) })
		if twice {
			return nil
		}
		f.at = n
		t.fields = slices.Insert(t.fields, at, f)
	}
	return t
}

// plainName is a name that every reader of tags takes for one.
var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// fieldOf reports false for a field that a struct with it could not be read back with, or whose tag asks for more than a name and omission.
func fieldOf(from reflect.StructField) (field, bool) {
	name, options, omitted := strings.Cut(from.Tag.Get("json"), ",")
	if name == "" {
		name = from.Name
	}
	f := field{Type: typeOf(from.Type), head: `"` + name + `":`, omitted: omitted}
	ok := f.Type != nil && from.IsExported() && !from.Anonymous && plainName().MatchString(name)
	if omitted && ok { // -0 would be left out, and 0 be read
		ok = f.form != object && f.form != real && (options == "omitempty" || options == "omitzero")
	}
	return f, ok
}

func (f *field) name() string { return f.head[1 : len(f.head)-2] }
