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

	"github.com/retake-go/retake/internal/fields"
)

var start = fields.Place{Line: 1, Column: 1}

// parseYAML parses YAML into nodes. The parser only gets tokens that were checked.
func (r *reader) parseYAML(data []byte) (root fields.Node, ok bool) {
	defer func() {
		if recover() != nil {
			r.Fault(start, "", "the file cannot be read as YAML", "write it more simply")
			root, ok = fields.Node{}, false
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if !r.checkTokens(tokens, data) {
		return fields.Node{}, false
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return fields.Node{}, false
	}
	return r.document(parsed, tokens)
}

// document returns the file's only document. A parser that drops text would drop a part of the policy, so the
// number of scalars in the nodes must match that of the tokens.
func (r *reader) document(parsed *ast.File, tokens token.Tokens) (fields.Node, bool) {
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		r.Fault(start, "", "the file has no policy in it", "delete the file for the defaults, or write a policy")
		return fields.Node{}, false
	}
	before, scalars := r.Found(), 0
	root := r.fromYAML(parsed.Docs[0].Body, &scalars, 0)
	if r.Found() > before {
		return fields.Node{}, false
	}
	if scalars != countScalars(tokens) {
		r.Fault(start, "", "this YAML can be read in more than one way", "write it more simply")
		return fields.Node{}, false
	}
	return root, true
}

// fromYAML converts a node of the YAML library to ours and counts scalars.
func (r *reader) fromYAML(n ast.Node, scalars *int, depth int) fields.Node {
	if depth > maxDepth {
		r.Fault(at(n.GetToken()), "", fmt.Sprintf("nested deeper than %d", maxDepth), "write it flat")
		return fields.Node{Kind: fields.Null}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		m := r.mappingYAML(n.Values, scalars, depth)
		if n.IsFlowStyle || len(n.Values) == 0 {
			m.At = at(n.GetToken()) // the bracket
		}
		return m
	case *ast.MappingValueNode:
		return r.mappingYAML([]*ast.MappingValueNode{n}, scalars, depth)
	case *ast.SequenceNode:
		list := fields.Node{Kind: fields.List, At: at(n.GetToken())}
		for _, item := range n.Values {
			list.Items = append(list.Items, r.fromYAML(item, scalars, depth+1))
		}
		return list
	}
	return r.scalarYAML(n, scalars)
}

// mappingYAML converts a mapping. Its place is that of its first key.
func (r *reader) mappingYAML(values []*ast.MappingValueNode, scalars *int, depth int) fields.Node {
	m := fields.Node{Kind: fields.Mapping}
	for _, v := range values {
		key := r.scalarYAML(v.Key, scalars)
		m.Members = append(m.Members, fields.Member{Key: key.Text, At: key.At,
			Value: r.fromYAML(v.Value, scalars, depth+1)})
	}
	if len(m.Members) > 0 {
		m.At = m.Members[0].At
	}
	return m
}

func (r *reader) scalarYAML(n ast.Node, scalars *int) fields.Node {
	t := n.GetToken()
	if t.Type != token.ImplicitNullType {
		*scalars++
	}
	switch n := n.(type) {
	case *ast.StringNode:
		return fields.Node{Kind: fields.Text, At: at(t), Text: n.Value}
	case *ast.LiteralNode:
		return fields.Node{Kind: fields.Text, At: at(t), Text: n.Value.Value}
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return fields.Node{Kind: fields.Number, At: at(t), Text: t.Value}
	case *ast.BoolNode:
		return fields.Node{Kind: fields.Switch, At: at(t), Text: strings.ToLower(t.Value)}
	case *ast.NullNode:
		return fields.Node{Kind: fields.Null, At: at(t), Text: t.Value}
	}
	r.Fault(at(t), "", "this kind of value is not allowed in a policy file",
		"write plain text, numbers, lists and mappings")
	return fields.Node{Kind: fields.Null, At: at(t)}
}

// syntax reports a syntax error of the library in our own words.
func (r *reader) syntax(err error) {
	where := start
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		where = at(syntax.Token)
	}
	r.Fault(where, "", invalid[0], invalid[1])
}
