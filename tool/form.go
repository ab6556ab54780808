package tool

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
)

// ownForms are the interfaces of types that write their own JSON.
var ownForms = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[jsonv2.MarshalerTo](),
	reflect.TypeFor[encoding.TextMarshaler](),
	reflect.TypeFor[encoding.TextAppender](),
}

// hasOwnForm reports whether the values of a type write their own JSON.
func hasOwnForm(t reflect.Type) bool {
	for _, own := range ownForms {
		if reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// formFault returns an error that names the place in a type of results whose values have no JSON form; nil if
// there is none. Values of interfaces are seen only at run time.
func formFault(t reflect.Type) error { return formFaultAt(part{t, true}, t.String(), map[part]bool{}) }

// part is a type within a type of results.
type part struct {
	reflect.Type
	isAlways bool // in every result: not behind a pointer, nor in a list or a map
}

func formFaultAt(t part, place string, seen map[part]bool) error {
	if seen[t] || hasOwnForm(t.Type) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("%s is of type %s, which has no JSON form: leave it out (`json:\"-\"`), or give "+
			"its type a method MarshalJSON", place, t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return formFaultAt(part{t.Elem(), false}, place, seen)
	case reflect.Map:
		if !isKey(t.Key()) {
			return fmt.Errorf("%s is of type %s, whose keys are no names of JSON members: use strings or "+
				"whole numbers, or give %s a method MarshalText", place, t, t.Key())
		}
		return formFaultAt(part{t.Elem(), false}, place, seen)
	case reflect.Struct:
		if err := layoutFault(t.Type); t.isAlways && err != nil {
			return fmt.Errorf("%s is of type %s, which has no JSON form (%w): leave it out (`json:\"-\"`), or give "+
				"its type a method MarshalJSON", place, t, err)
		}
		return fieldFault(t, place, seen)
	}
	return nil
}

// layoutFault returns why the library refuses a struct by its fields alone: none of them is exported, for
// example.
func layoutFault(t reflect.Type) error {
	for _, reads := range []reflect.Type{reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[jsonv2.UnmarshalerFrom]()} {
		if reflect.PointerTo(t).Implements(reads) {
			return nil // it would be asked, and the library would not look at the fields
		}
	}
	var refused *jsonv2.SemanticError
	if errors.As(jsonv2.Unmarshal([]byte("{}"), reflect.New(t).Interface()), &refused) {
		return refused.Err
	}
	return nil
}

// isKey reports whether the values of a type can be the names of members, as encoding/json has it: a
// fraction is none, for NaN has no form and 0.1 has many.
func isKey(t reflect.Type) bool {
	switch k := t.Kind(); {
	case hasOwnForm(t), k == reflect.String, k == reflect.Interface:
		return true
	case k == reflect.Pointer:
		return isKey(t.Elem())
	default:
		return k >= reflect.Int && k <= reflect.Uintptr
	}
}

// fieldFault is formFault of the fields of a struct that are written.
func fieldFault(t part, place string, seen map[part]bool) error {
	for n := range t.NumField() {
		f := t.Field(n)
		tag, _ := f.Tag.Lookup("json")
		_, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() && !f.Anonymous || strings.Contains(options, "omitzero") {
			continue
		}
		if err := formFaultAt(part{f.Type, t.isAlways}, place+"."+f.Name, seen); err != nil {
			return err
		}
	}
	return nil
}
