package schema

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/retake-go/retake/internal/canon"
)

// schemaLimits bounds a schema document itself.
var schemaLimits = Limits{MaxBytes: 4 << 20, MaxDepth: 256, MaxValues: 1_000_000}

// baseURL is the address of the document while it is compiled; it resolves local references and nothing else.
const baseURL = "retake:///schema"

// noLoader keeps references inside the document.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) {
	address = strings.TrimPrefix(address, "retake:///")
	return nil, fmt.Errorf("schema: refers to %q, which is outside of the document: put it under $defs", address)
}

// compile has the library compile the document, and makes the result ready to be walked. Formats are asserted
// where the document is a metaschema.
func (s *Schema) compile(tree any, isMeta bool) error {
	p := &patterns{made: map[string]*pattern{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(p.compile)
	if isMeta {
		c.AssertFormat()
	}
	if err := c.AddResource(baseURL, tree); err != nil {
		return compileError(tree, err)
	}
	compiled, err := c.Compile(baseURL)
	if p.tooLarge() {
		return fmt.Errorf("schema: its patterns take %d steps, at most %d are compiled: repeat less, and use smaller classes of "+
			"characters", p.steps, maxPatternSteps)
	}
	if err != nil {
		return compileError(tree, err)
	}
	s.link(c, compiled, tree, isMeta)
	return nil
}

// link makes nodes of the compiled schema. What only dynamic references lead to is compiled too.
func (s *Schema) link(c *jsonschema.Compiler, compiled *jsonschema.Schema, tree any, formats bool) {
	l := linker{
		tree: tree, nodes: map[*jsonschema.Schema]*node{}, homes: map[string]*resource{}, formats: formats,
	}
	s.root = l.node(compiled)
	if l.dynamic {
		places := map[string]any{}
		subschemas(places, tree, "")
		for _, place := range canon.Keys(places) {
			if sub, _ := places[place].(map[string]any); sub["$dynamicAnchor"] == nil {
				continue
			}
			at := url.URL{Fragment: place}
			if s, err := c.Compile(baseURL + at.String()); err == nil {
				l.node(s)
			}
		}
	}
	tries := maxTries
	for _, n := range l.order {
		n.same = sameOf(n)
		if n.raw["$ref"] != nil && !l.dynamic {
			n.meant = n.refersTo()
		}
		n.anyTag, n.oneTag = tagOf(n.any, &tries), tagOf(n.one, &tries)
	}
	for _, n := range l.order {
		n.asks = n.asked()
	}
	s.nodes, s.scoped, s.tracks = l.order, l.dynamic, l.tracks
}
