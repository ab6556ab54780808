package schema

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/retake-go/retake/fault"
)

// Typed is the schema of a Go type, and decodes documents into it. It never changes and is safe for
// concurrent use. Get one from [For].
type Typed[T any] struct{ schema *Schema }

// made holds the schema of each type once it is made: they never change, and a program has few.
var made sync.Map // reflect.Type to *Typed[T]

// For makes the schema of a Go type: its fields and the rules of its `validate` tags. The first time it costs
// a few milliseconds, then nothing. An error names each wrong field and what would be right, a line for each:
// a kind JSON cannot be read into, a rule the validator does not know or cannot apply, a json option that no
// schema could say, two fields of one name.
func For[T any]() (*Typed[T], error) {
	t := reflect.TypeFor[T]()
	if known, ok := made.Load(t); ok {
		return known.(*Typed[T]), nil
	}
	s, err := schemaOf(t)
	if err != nil {
		return nil, err
	}
	typed := &Typed[T]{s}
	made.Store(t, typed)
	return typed, nil
}

// Schema returns the schema for models. Its Check finds what Decode finds.
func (t *Typed[T]) Schema() *Schema { return t.schema }

// Decode turns a document into a fresh value, or says everything that is wrong with it, in canonical order.
// With issues the value is the zero value. Strings share memory in pieces of up to 4 KiB, so that one that is
// kept keeps no more than that.
func (t *Typed[T]) Decode(doc []byte) (T, []fault.Issue) {
	value, issues := t.schema.Decode(doc)
	if issues != nil {
		return *new(T), issues
	}
	return *value.(*T), nil
}

// goType is what a schema knows of the Go type that it was made of.
type goType struct {
	typ   reflect.Type
	root  *spot
	rules string // the kinds and rules of its places
}

// schemaOf makes the schema of a Go type.
func schemaOf(t reflect.Type) (*Schema, error) {
	doc, plan, err := build(t)
	if err != nil {
		return nil, err
	}
	text, err := marshalPlain(doc)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", t, err)
	}
	s, err := Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w (of %s)", err, t)
	}
	s.typed = plan
	plan.root.tell(s.root, map[*layout]bool{})
	return s, nil
}

// issuer is the optional method by which a type adds rules that tags cannot say.
type issuer interface{ Issues() []fault.Issue }
