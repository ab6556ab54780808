package schema

import (
	"reflect"
	"sync"

	"github.com/retake-go/retake/fault"
)

// Typed is the schema of a Go type, and decodes documents into it. It never changes and is safe for
// concurrent use. Get one from [For].
type Typed[T any] struct{ of *goType }

// made holds the schema of each type once it is made: they never change, and a program has few.
var made sync.Map // reflect.Type to *Typed[T]

// For makes the schema of a Go type: its fields and the rules of its `validate` tags. The first time it costs
// a few milliseconds, then nothing. An error names the field and what would be right: a kind JSON cannot be
// read into, a rule the validator does not know or cannot apply, a json option that no schema could say, two
// fields of one name.
func For[T any]() (*Typed[T], error) {
	t := reflect.TypeFor[T]()
	if known, ok := made.Load(t); ok {
		return known.(*Typed[T]), nil
	}
	of, err := goTypeOf(t)
	if err != nil {
		return nil, err
	}
	typed := &Typed[T]{of}
	made.Store(t, typed)
	return typed, nil
}

// Schema returns the schema for models. Its Check finds what Decode finds.
func (t *Typed[T]) Schema() *Schema { return t.of.schema }

// WithLimits returns a copy whose checks use other limits.
func (t *Typed[T]) WithLimits(l Limits) (*Typed[T], error) {
	of, err := t.of.withLimits(l)
	if err != nil {
		return nil, err
	}
	return &Typed[T]{of}, nil
}

// Decode turns a document into a fresh value, or says everything that is wrong with it, in canonical order.
// With issues the value is the zero value. Strings of a document of up to 4 KiB share one copy of it; those
// of a larger one stand alone.
func (t *Typed[T]) Decode(doc []byte) (T, []fault.Issue) {
	var v, zero T
	if issues := t.of.decode(doc, t.of.schema.limits, nil, &v); len(issues) > 0 {
		return zero, issues
	}
	return v, nil
}
