package schema

import (
	"reflect"
	"sync"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Typed is the schema of a Go type, and decodes documents into it. It never changes and is safe for concurrent use. Get one
// from [For].
type Typed[T any] struct{ of *goType }

// made holds the schema of each type once it is made: they never change, and a program has few.
var made sync.Map // reflect.Type to *Typed[T]

// For makes the schema of a Go type: its fields and the rules of its `validate` tags. The first time it costs a few
// milliseconds, then nothing. An error names the field and what would be right: a kind JSON cannot be read into, a rule the
// validator does not know or cannot apply, a json option that no schema could say, two fields of one name.
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

// Decode turns a document into a fresh value, or says everything that is wrong with it, in canonical order. With issues the
// value is the zero value. Strings of a document of up to 4 KiB share one copy of it; those of a larger one stand alone.
func (t *Typed[T]) Decode(doc []byte) (T, []fault.Issue) {
	var v, zero T
	if issues := t.of.decode(string(doc), t.of.schema.limits, nil, &v); len(issues) > 0 {
		return zero, issues
	}
	return v, nil
}

// Read puts a text's value into v, which should be fresh, within a budget that it shares with other checks, and returns the canonical form
// of the text; or it says everything that is wrong with it, in canonical order. With issues v is of no use. The form is nil where the text
// has none: then it is not strict JSON, and the issue says why.
//
// What is put into v is that of the canonical form, for types that can tell the difference.
func (t *Typed[T]) Read(text string, b *Budget, v *T) (form []byte, issues []fault.Issue) {
	lim := t.of.schema.limits
	form, err := canon.Text(text)
	if err == nil && len(text) <= lim.MaxBytes {
		issues = t.of.decode(string(form), lim, b, v)
		if len(issues) == 0 || issues[0].Source != fault.FromJSON {
			return form, issues
		}
	}
	return form, t.of.decode(text, lim, b, v) // of what cannot be read the first fault is told, and that of the form may be another
}
