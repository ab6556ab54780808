package schema

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// decodeOptions are those of the one decoder: exact names, no unknown members; strict text is its default.
var decodeOptions = json.JoinOptions(json.RejectUnknownMembers(true))

// goType is what a [Typed] is beneath its type parameter: a program has it once, however many types it has. Values are pointers
// to variables of the type.
type goType struct {
	typ    reflect.Type
	schema *Schema
	strict bool  // both the schema and the rules must judge
	asks   bool  // the rules judge what no schema can say
	bound  *node // the program that puts values into a variable; nil where there is none
	plain  bool  // the program makes the same of all texts that say the same
	rules  func(v any) error
	issues func(v any) []fault.Issue
}

func goTypeOf(t reflect.Type) (*goType, error) {
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
	s := &Schema{
		text: shown, tree: tree, compiled: compiled, judges: b.judges, forks: forks(compiled), echo: hasEcho(tree), limits: DefaultLimits(), typ: t,
	}
	typed := &goType{typ: t, schema: s, strict: b.strict, asks: b.strict || b.relates, rules: rulesFor(t), issues: issuesFor(t)}
	s.program = lower(compiled, b.judges)
	typed.bound, typed.plain = lowerTo(t, compiled, b.judges)
	s.whole = func(doc []byte, lim Limits) []fault.Issue {
		if typed.saysAll() {
			if issues, sure := s.checkQuickly(string(doc), lim, nil); sure {
				return issues
			}
		}
		return typed.decode(doc, lim, reflect.New(t).Interface())
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
func (t *goType) tryOut() error {
	doc := "null"
	if base, _ := indirect(t.typ); classOf(base) == classStruct {
		doc = "{}"
	}
	err := json.Unmarshal([]byte(doc), reflect.New(t.typ).Interface(), decodeOptions)
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
	c.schema = s
	return &c, nil
}

// decode puts a document's value into v, which must be fresh; with issues v is of no use.
func (t *goType) decode(doc []byte, lim Limits, v any) []fault.Issue {
	if issues, sure := t.byProgram(string(doc), lim, v, nil); sure {
		return issues
	}
	return t.withoutProgram(doc, lim, v)
}

// read puts a text's value into v, which must be fresh, and returns the canonical form of the text. Where the program is sure of the text,
// that is made by the same walk.
func (t *goType) read(text string, v any) (form []byte, issues []fault.Issue) {
	lim, sure := t.schema.limits, false
	if t.plain && lim.walks(text) {
		f := canon.FormOf(text)
		issues, sure = t.byProgram(text, lim, v, f)
		if form, ok := f.End(); sure && ok {
			return form, issues
		}
	}
	form, err := canon.Text(text)
	if err == nil && sure {
		return form, issues
	}
	if err == nil && len(text) <= lim.MaxBytes {
		if issues, read := t.readForm(form, v); read {
			return form, issues
		}
	}
	return form, t.schema.Check([]byte(text)) // of what cannot be read the first fault is told, and that of the form may be another
}

// readForm reads a text by its canonical form; false where that cannot be read.
func (t *goType) readForm(form []byte, v any) (issues []fault.Issue, read bool) {
	if t.plain {
		issues = t.withoutProgram(form, t.schema.limits, v) // the program was not sure
	} else {
		issues = t.decode(form, t.schema.limits, v)
	}
	return issues, len(issues) == 0 || issues[0].Source != fault.FromJSON
}

// byProgram is the fast path; false where it is not sure.
func (t *goType) byProgram(text string, lim Limits, v any, form *canon.Form) (issues []fault.Issue, sure bool) {
	if t.bound == nil || len(text) > lim.MaxBytes {
		return nil, false
	}
	to := reflect.ValueOf(v).Elem()
	if t.asks {
		sure = decide(t.bound, text, lim, to, form) == good && t.rules(v) == nil
	} else {
		issues, sure = t.schema.find(t.bound, text, lim, to, form)
	}
	return issues, sure && (len(issues) > 0 || t.agrees(v))
}

// withoutProgram has the decoder and the rules decide where they can, and else the library.
func (t *goType) withoutProgram(doc []byte, lim Limits, v any) []fault.Issue {
	reflect.ValueOf(v).Elem().SetZero()
	if !t.strict && t.decodable(doc, lim) && json.Unmarshal(doc, v, decodeOptions) == nil && t.rules(v) == nil && t.agrees(v) {
		return nil
	}
	return t.explain(doc, lim, v)
}

// agrees asks the type itself about a value that all else finds good.
func (t *goType) agrees(v any) bool { return t.issues == nil || t.issues(v) == nil }

// saysAll reports whether the program of the schema judges by all that Decode does.
func (t *goType) saysAll() bool { return !t.asks && t.issues == nil }

// decodable reports whether the decoder alone can be trusted with a document.
func (t *goType) decodable(doc []byte, lim Limits) bool {
	if len(doc) > lim.MaxBytes {
		return false
	}
	seen := scan(doc, lim.MaxDepth)
	return !seen.deep && !seen.null && !seen.oddNumber
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
