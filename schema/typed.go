package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// decodeOptions are those of the one decoder: exact names, no unknown members; strict text is its default.
var decodeOptions = json.JoinOptions(json.RejectUnknownMembers(true))

// Typed is the schema of a Go type, and decodes documents into it. It never changes and is safe for concurrent use. Get one
// from [For].
type Typed[T any] struct {
	schema *Schema
	strict bool  // both the schema and the rules must judge
	asks   bool  // the rules judge what no schema can say
	bound  *node // the program that puts values into a T; nil where there is none
	plain  bool  // the program makes the same of all texts that say the same
	rules  func(*T) error
	issues func(*T) []fault.Issue
}

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
	typed, err := forType[T](t)
	if err != nil {
		return nil, err
	}
	made.Store(t, typed)
	return typed, nil
}

func forType[T any](t reflect.Type) (*Typed[T], error) {
	shown, err := shownForm(t)
	if err != nil {
		return nil, err
	}
	b := newBuilder(true)
	doc, err := b.build(t)
	if err != nil {
		return nil, err
	}
	text, err := stdjson.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("schema: %s: %w", t, err)
	}
	tree, issue := read(text, schemaLimits)
	if issue != nil {
		return nil, fmt.Errorf("schema: %s: %s", t, issue)
	}
	compiled, err := compileTree(tree, b.judges)
	if err != nil {
		return nil, fmt.Errorf("%w (of %s)", err, t)
	}
	s := &Schema{text: shown, tree: tree, compiled: compiled, judges: b.judges, echo: hasEcho(tree), limits: DefaultLimits()}
	typed := &Typed[T]{schema: s, strict: b.strict, asks: b.strict || b.relates, rules: rulesFor[T](t), issues: issuesFor[T]()}
	s.program = lower(compiled, b.judges)
	typed.bound, typed.plain = lowerTo(t, compiled, b.judges)
	s.whole = func(doc []byte, lim Limits) []fault.Issue {
		if typed.saysAll() {
			if issues, sure := s.checkQuickly(string(doc), lim); sure {
				return issues
			}
		}
		_, issues := typed.decode(doc, lim)
		return issues
	}
	if err := typed.tryOut(); err != nil {
		return nil, err
	}
	return typed, nil
}

// shownForm is the text models are shown. It is compiled once too, so that no broken schema leaves this package.
func shownForm(t reflect.Type) ([]byte, error) {
	doc, err := newBuilder(false).build(t)
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
	return s.text, nil
}

// tryOut decodes an empty value, so that what the decoder dislikes about the type is found now.
func (t *Typed[T]) tryOut() error {
	var v T
	doc := map[bool]string{true: "{}", false: "null"}[classOf(firstOf(indirect(reflect.TypeFor[T]()))) == classStruct]
	err := json.Unmarshal([]byte(doc), &v, decodeOptions)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.JSONPointer == "" && doc == "{}" {
		return fmt.Errorf("schema: %s: %w", reflect.TypeFor[T](), err)
	}
	return nil
}

func firstOf(t reflect.Type, _ bool) reflect.Type { return t }

// Schema returns the schema for models. Its Check finds what Decode finds.
func (t *Typed[T]) Schema() *Schema { return t.schema }

// WithLimits returns a copy whose checks use other limits.
func (t *Typed[T]) WithLimits(l Limits) (*Typed[T], error) {
	s, err := t.schema.WithLimits(l)
	if err != nil {
		return nil, err
	}
	c := *t
	c.schema = s
	return &c, nil
}

// Decode turns a document into a fresh value, or says everything that is wrong with it, in canonical order. With issues the
// value is the zero value. Strings of a document of up to 4 KiB share one copy of it; those of a larger one stand alone.
func (t *Typed[T]) Decode(doc []byte) (T, []fault.Issue) { return t.decode(doc, t.schema.limits) }

func (t *Typed[T]) decode(doc []byte, lim Limits) (v T, issues []fault.Issue) {
	if issues, sure := t.byProgram(string(doc), lim, &v); sure && len(issues) == 0 {
		return v, nil
	} else if sure {
		var zero T
		return zero, issues
	}
	return t.withoutProgram(doc, lim)
}

// Read puts a text's value into v, which should be fresh, and returns the canonical form of the text; or it says everything
// that is wrong with it, in canonical order. With issues v is of no use. The form is nil where the text has none: then it is not
// strict JSON, and the issue says why. Strings of a text of up to 4 KiB share its memory; those of a larger one stand alone.
//
// What is put into v is that of the canonical form, for types that can tell the difference.
func (t *Typed[T]) Read(text string, v *T) (form []byte, issues []fault.Issue) {
	form, err := canon.Text(text)
	if err == nil && len(text) <= t.schema.limits.MaxBytes {
		if issues, read := t.readForm(text, form, v); read {
			return form, issues
		}
	}
	return form, t.schema.Check([]byte(text)) // of what cannot be read the first fault is told, and that of the form may be another
}

// readForm reads a text by its canonical form; false where that cannot be read.
func (t *Typed[T]) readForm(text string, form []byte, v *T) (issues []fault.Issue, read bool) {
	if !t.plain {
		text = string(form)
	}
	issues, sure := t.byProgram(text, t.schema.limits, v)
	if !sure {
		*v, issues = t.withoutProgram(form, t.schema.limits)
	}
	return issues, len(issues) == 0 || issues[0].Source != fault.FromJSON
}

// byProgram is the fast path; false where it is not sure.
func (t *Typed[T]) byProgram(text string, lim Limits, v *T) (issues []fault.Issue, sure bool) {
	if t.bound == nil || len(text) > lim.MaxBytes {
		return nil, false
	}
	to := reflect.ValueOf(v).Elem()
	if t.asks {
		sure = decide(t.bound, text, lim, to) == good && t.rules(v) == nil
	} else {
		issues, sure = t.schema.find(t.bound, text, lim, to)
	}
	return issues, sure && (len(issues) > 0 || t.agrees(v))
}

// withoutProgram has the decoder and the rules decide where they can, and else the library.
func (t *Typed[T]) withoutProgram(doc []byte, lim Limits) (v T, issues []fault.Issue) {
	if !t.strict && t.decodable(doc, lim) && json.Unmarshal(doc, &v, decodeOptions) == nil && t.rules(&v) == nil && t.agrees(&v) {
		return v, nil
	}
	return t.explain(doc, lim)
}

// agrees asks the type itself about a value that all else finds good.
func (t *Typed[T]) agrees(v *T) bool { return t.issues == nil || t.issues(v) == nil }

// saysAll reports whether the program of the schema judges by all that Decode does.
func (t *Typed[T]) saysAll() bool { return !t.asks && t.issues == nil }

// decodable reports whether the decoder alone can be trusted with a document.
func (t *Typed[T]) decodable(doc []byte, lim Limits) bool {
	if len(doc) > lim.MaxBytes {
		return false
	}
	seen := scan(doc, lim.MaxDepth)
	return !seen.deep && !seen.null && !seen.oddNumber
}

// rulesFor picks how the validator is asked about a type.
func rulesFor[T any](t reflect.Type) func(*T) error {
	base, _ := indirect(t)
	if classOf(base) == classStruct {
		if t.Kind() == reflect.Pointer {
			return func(v *T) error { return rulebook().Struct(*v) }
		}
		return func(v *T) error { return rulebook().Struct(v) }
	}
	if tag := diveAll(base); tag != "" {
		return func(v *T) error { return rulebook().Var(*v, tag) }
	}
	return func(*T) error { return nil }
}

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
func issuesFor[T any]() func(*T) []fault.Issue {
	var v T
	if _, ok := any(&v).(issuer); ok {
		return func(v *T) []fault.Issue { return any(v).(issuer).Issues() }
	}
	if reflect.TypeFor[T]().Implements(reflect.TypeFor[issuer]()) {
		return func(v *T) []fault.Issue { return any(*v).(issuer).Issues() }
	}
	return nil
}
