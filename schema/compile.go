package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/fault"
)

// Schema is a compiled JSON Schema. It never changes and is safe for concurrent use. The zero value is not usable: get one
// from [Compile] or from [Typed.Schema].
type Schema struct {
	text     []byte // what is shown to models
	tree     any    // what is checked, decoded: phrases and echo marks are read from it
	compiled *jsonschema.Schema
	judges   map[string]judge
	refs     references
	program  *node // the fast path; nil where it does not know the schema
	forks    bool  // the library may look at one value in several ways
	echo     bool
	limits   Limits
	// whole checks by everything a Go type demands, rules that no schema can say included; nil for a raw schema.
	whole func(doc []byte, lim Limits) []fault.Issue
	typ   reflect.Type // the Go type; nil for a raw schema
}

// schemaLimits bounds a schema document itself.
var schemaLimits = Limits{MaxBytes: 4 << 20, MaxDepth: 256}

// baseURL is the address of the document while it is compiled; it resolves local references and nothing else.
const baseURL = "retake:///schema"

// Compile makes a Schema of a raw JSON Schema. A document without `$schema` is Draft 2020-12; drafts 4 to 2019-09 are
// read too. `format` is not asserted, in any draft. References that leave the document are refused:
// nothing is loaded from files or the network. A member "x-echo": true lets issues show the values received at that place.
//
// The error names the place in the document and what would be right there.
func Compile(doc []byte) (*Schema, error) {
	tree, issue := read(doc, schemaLimits)
	if issue != nil {
		return nil, fmt.Errorf("schema: %s", issue)
	}
	compiled, err := compileTree(tree, nil)
	if err != nil {
		return nil, err
	}
	forks := forks(compiled)
	if forks {
		if err := checkWork(compiled); err != nil {
			return nil, err
		}
	}
	return &Schema{
		text: compact(doc), tree: tree, compiled: compiled, program: lower(compiled, nil), forks: forks, echo: hasEcho(tree),
		limits: DefaultLimits(), refs: referencesIn(tree, compiled),
	}, nil
}

// JSON returns the schema as compact JSON text, its members in the order they were given or declared in: models tend to
// answer in that order. The same input gives the same bytes. The slice is the caller's own.
func (s *Schema) JSON() []byte { return slices.Clone(s.text) }

// WithLimits returns a copy of the schema whose checks use other limits.
func (s *Schema) WithLimits(l Limits) (*Schema, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("schema limits: %w", err)
	}
	c := *s
	c.limits = l
	return &c, nil
}

func compact(doc []byte) []byte {
	v := jsontext.Value(bytes.Clone(doc))
	if err := v.Compact(); err != nil {
		return bytes.Clone(doc)
	}
	return v
}

func compileTree(tree any, judges map[string]judge) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if len(judges) > 0 {
		c.AssertFormat()
	}
	for name, j := range judges {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: j.validate})
	}
	if err := c.AddResource(baseURL, tree); err != nil {
		return nil, compileError(tree, err)
	}
	compiled, err := c.Compile(baseURL)
	if err != nil {
		return nil, compileError(tree, err)
	}
	settle(compiled, judges)
	return compiled, nil
}

// noLoader keeps references inside the document.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema: refers to %q, which is outside of the document: put it under $defs", strings.TrimPrefix(url, "retake:///"))
}
