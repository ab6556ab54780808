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

// decode puts a document's value into v, which must be fresh; with issues v is of no use. The schema judges,
// then the rules that it does not say exactly, and of what both find good the type itself.
func (t *goType) decode(doc []byte, lim Limits, budget *Budget, v any) []fault.Issue {
	root, issue := parse(doc, lim)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	found := t.schema.judge(root, budget)
	if len(found) == 1 && found[0].Rule == fault.RuleWork {
		return found
	}
	b := binder{doc: doc}
	b.bind(root, t.whole, reflect.ValueOf(v).Elem(), nil)
	found = b.beside(root, found)
	if len(found) == 0 && t.issues != nil {
		for _, i := range t.issues(v) {
			i.Source = fault.FromRules
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return t.schema.finish(root, found)
}

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
