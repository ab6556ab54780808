package tool

import (
	"encoding"
	"encoding/json"
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
// there is none. Keys of maps and values of interfaces are seen only at run time.
func formFault(t reflect.Type, place string, seen map[reflect.Type]bool) error {
	if seen[t] || hasOwnForm(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("%s is of type %s, which has no JSON form: leave it out (`json:\"-\"`), or give "+
			"its type a method MarshalJSON", place, t)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return formFault(t.Elem(), place, seen)
	case reflect.Struct:
		for n := range t.NumField() {
			f := t.Field(n)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			isLeftOut := name == "-" && options == "" || strings.Contains(options, "omitzero") || !f.IsExported() && !f.Anonymous
			if isLeftOut {
				continue
			}
			if err := formFault(f.Type, place+"."+f.Name, seen); err != nil {
				return err
			}
		}
	}
	return nil
}
