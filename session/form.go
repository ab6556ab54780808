package session

import (
	"reflect"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/flat"
)

// form is what there is to know of a Go type whose values slices hold. It is immutable, and the same for the same type.
type form struct {
	// apart is set where a copy of a value shares nothing with it.
	apart bool
	// written is how values are written, where their type is flat.
	written *flat.Type
}

// forms are those that were asked for, by type: as many as a program has.
var forms sync.Map

func formOf[T any]() *form {
	goType := reflect.TypeFor[T]()
	known, ok := forms.Load(goType)
	if !ok {
		known, _ = forms.LoadOrStore(goType, &form{apart: sharesNothing(goType), written: flat.Of[T]()})
	}
	return known.(*form)
}

// sharesNothing reports whether a copy of a value of the type shares nothing with it that could be written to.
func sharesNothing(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Time]() {
		return true // its pointer is to an immutable location
	}
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !sharesNothing(f.Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return sharesNothing(t.Elem())
	case reflect.String:
		return true
	}
	return reflect.Bool <= t.Kind() && t.Kind() <= reflect.Complex128 && t.Kind() != reflect.Uintptr
}
