package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-playground/validator/v10"

	"github.com/retake-go/retake/fault"
)

// goType is what a [Typed] is beneath its type parameter: a program has it once, however many types it has. Values are pointers
// to variables of the type.
type goType struct {
	typ    reflect.Type
	schema *Schema
	rules  func(v any) error
	issues func(v any) []fault.Issue
}

func goTypeOf(t reflect.Type) (*goType, error) {
	doc, err := build(t)
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
	s.typed = &goType{typ: t, schema: s, rules: rulesFor(t), issues: issuesFor(t)}
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

// decode puts a document's value into v, which must be fresh; with issues v is of no use. The schema judges, then the rules, and of what
// both find good the type itself.
func (t *goType) decode(text string, lim Limits, budget *Budget, v any) []fault.Issue {
	root, issue := parse(text, lim)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	found := t.schema.judge(root, budget)
	if len(found) == 1 && found[0].Rule == fault.RuleWork {
		return found
	}
	b := binder{text: text}
	b.bind(root, reflect.ValueOf(v).Elem())
	if len(found) >= maxIssues {
		return t.schema.finish(root, found)
	}
	for _, i := range b.issues[:min(len(b.issues), maxIssues)] {
		if !covered(found, nil, i.Pointer) {
			found = append(found, i)
		}
	}
	if err := t.rules(v); err != nil {
		found = append(found, ruleIssues(root, v, err, found, b.unbound)...)
	}
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

// ruleIssues are what the validator says beyond what is found. Rules that compare fields are not told where one could not be read.
func ruleIssues(root *value, v any, err error, found []fault.Issue, unbound []string) (issues []fault.Issue) {
	var failures validator.ValidationErrors
	if !errors.As(err, &failures) {
		if len(found) > 0 {
			return nil
		}
		return []fault.Issue{{Rule: "type", Expected: "object", Got: root.kind.name(), Source: fault.FromRules}}
	}
	failures = failures[:min(len(failures), maxIssues)]
	places := placesOf(reflect.ValueOf(v).Elem(), failures)
	for _, f := range failures {
		for _, at := range places.of(f) {
			r, c := at.ruleOf(f)
			if covered(found, unbound, at.pointer) || holdsAny(at.pointer, unbound) || r.relational() && unbound != nil {
				continue
			}
			i := fault.Issue{Pointer: at.pointer, Rule: ruleName(r, c), Expected: rulePhrase(r, c, at.names), Source: fault.FromRules}
			if received := root.at(pathOf(at.pointer)); received != nil {
				i.Got = received.kind.name()
			}
			issues = append(issues, i)
		}
	}
	return issues
}

// rulesFor picks how the validator is asked about a type.
func rulesFor(t reflect.Type) func(v any) error {
	base, _ := indirect(t)
	if classOf(base) == classStruct {
		if t.Kind() == reflect.Pointer {
			return func(v any) error { return rulebook().Struct(held(v)) }
		}
		return func(v any) error { return rulebook().Struct(v) }
	}
	if tag := diveAll(base); tag != "" {
		return func(v any) error { return rulebook().Var(held(v), tag) }
	}
	return func(any) error { return nil }
}

// held is what a pointer points to.
func held(v any) any { return reflect.ValueOf(v).Elem().Interface() }

// diveAll is the tag that reaches all elements of nested slices and maps.
func diveAll(t reflect.Type) string {
	var dives []string
	for c := classOf(t); c == classList || c == classMap; c = classOf(t) {
		dives = append(dives, "dive")
		t, _ = indirect(t.Elem())
	}
	return strings.Join(dives, ",")
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
		return func(v any) []fault.Issue { return held(v).(issuer).Issues() }
	}
	return nil
}
