package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML turns YAML into nodes. The parser sees only tokens that were checked before.
func (r *reader) parseYAML(data []byte) (root node, ok bool) {
	defer func() {
		if recover() != nil {
			r.fault(place{1, 1}, "", "the file cannot be read as YAML", "write it more simply")
			root, ok = node{}, false
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if !r.checkTokens(tokens, data) {
		return node{}, false
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return node{}, false
	}
	return r.document(parsed, tokens)
}

// document takes the one document of a file. A parser that drops some of the text would drop some of the policy: so every
// scalar of the text must be found again in the nodes.
func (r *reader) document(parsed *ast.File, tokens token.Tokens) (node, bool) {
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		r.fault(place{1, 1}, "", "the file has no policy in it", "leave it out for the defaults, or write a policy")
		return node{}, false
	}
	before, scalars := r.found(), 0
	root := r.fromYAML(parsed.Docs[0].Body, &scalars, 0)
	if r.found() > before {
		return node{}, false
	}
	if scalars != countScalars(tokens) {
		r.fault(place{1, 1}, "", "the file cannot be read as YAML without doubt", "write it more simply")
		return node{}, false
	}
	return root, true
}

// fromYAML turns a node of the YAML library into ours, and counts scalars on the way.
func (r *reader) fromYAML(n ast.Node, scalars *int, depth int) node {
	if depth > maxDepth {
		r.fault(at(n.GetToken()), "", fmt.Sprintf("nested deeper than %d", maxDepth), "write it flat")
		return node{kind: null}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		m := r.mappingYAML(n.Values, scalars, depth)
		if n.IsFlowStyle || len(n.Values) == 0 {
			m.at = at(n.GetToken()) // the bracket
		}
		return m
	case *ast.MappingValueNode:
		return r.mappingYAML([]*ast.MappingValueNode{n}, scalars, depth)
	case *ast.SequenceNode:
		list := node{kind: sequence, at: at(n.GetToken())}
		for _, item := range n.Values {
			list.items = append(list.items, r.fromYAML(item, scalars, depth+1))
		}
		return list
	}
	return r.scalarYAML(n, scalars)
}

// mappingYAML stands at its first key.
func (r *reader) mappingYAML(values []*ast.MappingValueNode, scalars *int, depth int) node {
	m := node{kind: mapping}
	for _, v := range values {
		key := r.scalarYAML(v.Key, scalars)
		m.members = append(m.members, member{key.text, key.at, r.fromYAML(v.Value, scalars, depth+1)})
	}
	if len(m.members) > 0 {
		m.at = m.members[0].at
	}
	return m
}

func (r *reader) scalarYAML(n ast.Node, scalars *int) node {
	t := n.GetToken()
	if t.Type != token.ImplicitNullType {
		*scalars++
	}
	switch n := n.(type) {
	case *ast.StringNode:
		return node{kind: text, at: at(t), text: n.Value}
	case *ast.LiteralNode:
		return node{kind: text, at: at(t), text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return node{kind: number, at: at(t), text: t.Value}
	case *ast.BoolNode:
		return node{kind: boolean, at: at(t), text: strings.ToLower(t.Value)}
	case *ast.NullNode:
		return node{kind: null, at: at(t), text: t.Value}
	}
	r.fault(at(t), "", "this is nothing that a policy file has", "write plain text, numbers, lists and mappings")
	return node{kind: null, at: at(t)}
}

// syntax reports where the library lost its way, in our own words.
func (r *reader) syntax(err error) {
	where := place{1, 1}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		where = at(syntax.Token)
	}
	r.fault(where, "", invalid[0], invalid[1])
}
