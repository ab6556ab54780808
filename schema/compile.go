package schema

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaLimits bounds a schema document itself.
var schemaLimits = Limits{MaxBytes: 4 << 20, MaxDepth: 256}

// baseURL is the address of the document while it is compiled; it resolves local references and nothing else.
const baseURL = "retake:///schema"

// newCompiler is the library's compiler of a document.
func newCompiler(doc any) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(newPattern)
	return c, c.AddResource(baseURL, doc)
}

// noLoader keeps references inside the document.
type noLoader struct{}

func (noLoader) Load(address string) (any, error) {
	address = strings.TrimPrefix(address, "retake:///")
	return nil, fmt.Errorf("schema: refers to %q, which is outside of the document: put it under $defs", address)
}

// compile has the library compile the document, and makes the result ready to be walked.
func (s *Schema) compile() error {
	c, err := newCompiler(s.tree)
	if err != nil {
		return compileError(s.tree, err)
	}
	compiled, err := c.Compile(baseURL)
	if err != nil {
		return compileError(s.tree, err)
	}
	s.link(c, compiled, false)
	return nil
}

// link makes nodes of the compiled schema. What only dynamic references lead to is compiled too.
func (s *Schema) link(c *jsonschema.Compiler, compiled *jsonschema.Schema, formats bool) {
	l := linker{
		tree: s.tree, nodes: map[*jsonschema.Schema]*node{}, homes: map[string]*resource{}, formats: formats,
	}
	s.root = l.node(compiled)
	if l.dynamic {
		for _, place := range anchored(nil, "", s.tree) {
			if s, err := c.Compile(baseURL + "#" + place); err == nil {
				l.node(s)
			}
		}
	}
	for _, n := range l.order {
		n.same = sameOf(n)
		n.anyTag, n.oneTag = tagOf(n.any), tagOf(n.one)
	}
	s.scoped, s.tracks = l.dynamic, l.tracks
}

// anchored adds to a list the places of a document that dynamic references may lead to.
func anchored(places []string, at string, tree any) []string {
	switch node := tree.(type) {
	case map[string]any:
		if node["$dynamicAnchor"] != nil {
			places = append(places, at)
		}
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if name != "const" && name != "enum" {
				places = anchored(places, at+"/"+url.PathEscape(pointerEscaper.Replace(name)), node[name])
			}
		}
	case []any:
		for n, item := range node {
			places = anchored(places, at+"/"+strconv.Itoa(n), item)
		}
	}
	return places
}

// pattern is a regular expression and how much work it is: Go takes time in proportion to its size times that
// of the text.
type pattern struct {
	*regexp.Regexp
	size int
}

// newPattern has the form that the library calls for.
func newPattern(text string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	tree, _ := syntax.Parse(text, syntax.Perl) // cannot fail, nor can the next:
	prog, _ := syntax.Compile(tree.Simplify()) // regexp.Compile does the same
	return pattern{re, len(prog.Inst)}, nil
}

// patternSteps is how many steps of a pattern are the work of one look.
const patternSteps = 16

// matches reports whether a text matches, as far as the budget goes.
func (p pattern) matches(text string, b *Budget) bool {
	return b.spend(p.size*len(text)/patternSteps+1) && p.MatchString(text)
}
