package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/retake-go/retake/fault"
)

// goType is what a [Typed] is beneath its type parameter: a program has it once, however many types it has.
// Values are pointers to variables of the type.
type goType struct {
	typ    reflect.Type
	schema *Schema
	whole  *spot
	issues func(v any) []fault.Issue
}

func goTypeOf(t reflect.Type) (*goType, error) {
	doc, whole, err := build(t)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	enc := stdjson.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("schema: %s: %w", t, err)
	}
	s, err := Compile(text.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%w (of %s)", err, t)
	}
	s.typed = &goType{typ: t, schema: s, whole: whole, issues: issuesFor(t)}
	return s.typed, s.typed.tryOut()
}

// tryOut decodes an empty value, so that what the decoder dislikes about the type is found now.
func (t *goType) tryOut() error {
	doc := "null"
	if base, _ := indirect(t.typ); classOf(base) == classStruct {
		doc = "{}"
	}
	err := json.Unmarshal([]byte(doc), t.fresh(), decodeOptions)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.JSONPointer == "" && doc == "{}" {
		return fmt.Errorf("schema: %s: %w", t.typ, err)
	}
	return nil
}

func (t *goType) withLimits(l Limits) (*goType, error) {
	s, err := t.schema.WithLimits(l)
	if err != nil {
		return nil, err
	}
	c := *t
	c.schema, s.typed = s, &c
	return &c, nil
}

// fresh is a pointer to a new variable of the type.
func (t *goType) fresh() any { return reflect.New(t.typ).Interface() }

// issuer is the optional method by which a type adds rules that tags cannot say.
type issuer interface{ Issues() []fault.Issue }

// issuesFor is how a type is asked for its own issues; nil where it has no such method.
func issuesFor(t reflect.Type) func(v any) []fault.Issue {
	method := reflect.TypeFor[issuer]()
	if reflect.PointerTo(t).Implements(method) {
		return func(v any) []fault.Issue { return v.(issuer).Issues() }
	}
	if t.Implements(method) {
		return func(v any) []fault.Issue { return reflect.ValueOf(v).Elem().Interface().(issuer).Issues() }
	}
	return nil
}
