package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
)

// Schema is a compiled JSON Schema. It never changes and is safe for concurrent use. The zero value is not
// usable: get one from [Compile] or from [Typed.Schema].
type Schema struct {
	text   []byte // what is shown to models
	root   *node
	nodes  []*node // all of them
	scoped bool    // there are dynamic references
	tracks bool    // there is unevaluatedProperties or unevaluatedItems
	marked bool    // a place is marked to be echoed, or not to be
	limits Limits
	typed  *goType // nil for a raw schema
}

// Compile makes a Schema of a raw JSON Schema. A document without `$schema` is Draft 2020-12; drafts 4 to
// 2019-09 are read too. `format` is not asserted, in any draft. References that leave the document are
// refused: nothing is loaded from files or the network. A pattern is in Go's syntax, and may have lookaheads
// right after ^ at its start and \u0041, as JavaScript has them. A member "x-echo": true lets issues show the
// values received at that place; "x-noecho": true keeps models from being told numbers and booleans there, as
// "x-secret": true does.
//
// What would take long to compile is refused: more than 10,000 subschemas (one with an $id or a
// $dynamicAnchor counts twice), and more than 64 KiB of patterns. The error names the place in the document
// and what would be right there.
func Compile(doc []byte) (*Schema, error) {
	if _, issue := new(tree).parse(string(doc), schemaLimits); issue != nil {
		return nil, fmt.Errorf("schema: %s", issue)
	}
	text := jsontext.Value(bytes.Clone(doc))
	_ = text.Compact()                                         // cannot fail: it was read
	tree, _ := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // likewise
	if err := compilable(tree); err != nil {
		return nil, err
	}
	s := &Schema{text: text, limits: DefaultLimits()}
	if err := s.compile(tree, false); err != nil {
		return nil, err
	}
	s.marked = anyMarked([][]*node{s.nodes}, echoKeyword, noEchoKeyword, secretKeyword)
	return s, nil
}

// JSON returns the schema as compact JSON text, its members in the order they were given or declared in:
// models tend to answer in that order. The same input gives the same bytes. The slice is the caller's own.
func (s *Schema) JSON() []byte { return slices.Clone(s.text) }

// Type names the Go type that the schema was made of, such as "agents.Booking"; it is empty for a schema of
// [Compile].
func (s *Schema) Type() string {
	if s.typed == nil {
		return ""
	}
	return s.typed.typ.String()
}

// Digest identifies the rules for documents: the schema, and for a Go type also the kinds of its parts and
// the rules of their tags, since JSON Schema cannot say all of them. Limits and the methods of a type are not
// part of it. It is the same on every machine and in every program. Safe for concurrent use.
func (s *Schema) Digest() string {
	h := sha256.New()
	h.Write(s.text)
	if s.typed != nil {
		h.Write([]byte("\n" + s.typed.rules))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Limits returns the bounds of the documents that Check takes.
func (s *Schema) Limits() Limits { return s.limits }

// WithLimits returns a copy of the schema whose checks use other limits.
func (s *Schema) WithLimits(l Limits) (*Schema, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("schema limits: %w", err)
	}
	c := *s
	c.limits = l
	return &c, nil
}

// HasMember reports whether the schema describes a member of this name, of the value as a whole.
func (s *Schema) HasMember(name string) bool {
	return slices.ContainsFunc(inPlace(s.root), func(n *node) bool { return n.members[name] != nil })
}

// Check reports everything that is wrong with doc, in canonical order; nil means it is good. Of more than
// 100 issues it reports 100. Text that is not strict JSON gets the one issue that says so, and one that
// would take too much work the issue "work". The schema of a Go type checks all that [Typed.Decode] does.
// Safe for concurrent use.
func (s *Schema) Check(doc []byte) []fault.Issue {
	_, issues := s.Decode(doc)
	return issues
}

// Decode is [Schema.Check], and returns what [Reading.Value] has.
func (s *Schema) Decode(doc []byte) (value any, issues []fault.Issue) {
	e := s.evaluation(nil)
	defer e.free()
	value = s.fresh()
	if issues = s.check(e, string(doc), value); issues != nil {
		return nil, issues
	}
	return value, nil
}

// Reading is what [Schema.Read] made of a document.
type Reading struct {
	// JSON is the document as canonical JSON; nil where it is not strict JSON, or nested more than 512 deep.
	JSON []byte
	// Value is a pointer to a new variable of the Go type that the schema was made of, with the document in
	// it. It is nil where there are issues, and for a schema of [Compile].
	Value any
	// Issues are those of [Schema.Check].
	Issues []fault.Issue
}

// Read is [Schema.Check] within a budget that it shares with other checks; nil is a new one. The document is
// made canonical, too. Strings of the value share the memory of a document of up to 4 KiB.
func (s *Schema) Read(b *Budget, doc string) Reading {
	e := s.evaluation(b)
	defer e.free()
	r := Reading{Value: s.fresh()}
	if r.Issues = s.check(e, doc, r.Value); r.Issues != nil {
		r.Value = nil
	}
	if e.isWhole && s.limits.MaxDepth <= canon.MaxDepth {
		r.JSON = e.numbered(0).canonical()
	} else { // what is beyond these limits may be within those of canonical JSON, and the other way round
		r.JSON, _ = canon.JSON([]byte(doc))
	}
	return r
}

// fresh returns a pointer to a new variable of the Go type that the schema was made of; nil where there is
// none.
func (s *Schema) fresh() any {
	if s.typed == nil {
		return nil
	}
	return reflect.New(s.typed.typ).Interface()
}

// check checks a document, and stores it in v, a pointer to a zero value of the Go type; nil for a schema of
// no type. The schema is checked first, then the rules that the schema cannot say exactly, then the type's
// own method Issues. If there are issues, v is incomplete.
func (s *Schema) check(e *evaluation, doc string, v any) []fault.Issue {
	root, issue := e.parse(doc, s.limits)
	if issue != nil {
		return []fault.Issue{*issue}
	}
	if v == nil {
		e.judge(s.root, root, s.scope(), nil)
		return s.report(e, root)
	}
	whole := collector{evaluation: e, scope: s.scope()}
	whole.bind(s.root, root, s.typed.root, reflect.ValueOf(v).Elem())
	if issues := s.report(e, root); issues != nil {
		return issues
	}
	issues := inBounds(e.told)
	at := places{evaluation: e, schema: s}
	for n := range issues {
		i := &issues[n]
		i.Source = fault.FromRules
		path := canon.Path(i.Pointer)
		at.finish(i, path, root.under(path))
	}
	return inBounds(issues)
}

// evaluations are free memory.
var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// evaluation returns a check within a budget; nil is a new one.
func (s *Schema) evaluation(b *Budget) *evaluation {
	e := evaluations.Get().(*evaluation)
	e.Budget, e.tracks = b, s.tracks
	if b == nil {
		e.budget = *NewBudget()
		e.Budget = &e.budget
	}
	return e
}

// free ends a check. The memory of values, variables and a few failures is kept for the next one: all that it
// leads to is forgotten.
func (e *evaluation) free() {
	e.variables = e.variables[:min(len(e.variables), maxIssues)]
	for n := 0; n < len(e.variables) && e.variables[n].spot != nil; n++ {
		*e.variables[n] = variable{}
	}
	*e = evaluation{
		tree:     tree{values: e.values[:0]},
		binder:   binder{found: emptied(e.found), variables: e.variables},
		failures: emptied(e.failures),
	}
	evaluations.Put(e)
}

// emptied returns a list without its values, to be filled again: what was cut off of it, too, up to the
// memory that is free. It is nil if its memory is large.
func emptied(list []failure) []failure {
	if cap(list) > maxIssues {
		return nil
	}
	list = list[:cap(list)]
	for n := 0; n < len(list) && !list[n].isFree(); n++ {
		clear(list[n : n+1])
	}
	return list[:0]
}

// scope returns the dynamic scope of a document; nil where the schema has no dynamic references.
func (s *Schema) scope() *scope {
	if !s.scoped {
		return nil
	}
	return &scope{anchors: map[string]*node{}, next: map[*resource]*scope{}}
}

// tooMuchWork is expected where a budget is spent.
const tooMuchWork = "a smaller or simpler value, for this one takes too much work to check"
