package file

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/retake-go/retake/internal/fields"
)

// parseYAML turns YAML into JSON, with the places of its keys and values. The parser only gets tokens that
// were checked.
func (r *reader) parseYAML(data []byte) (json []byte, at []place, ok bool) {
	defer func() {
		if recover() != nil {
			r.fault(start, "", "the file cannot be read as YAML", "write it more simply")
			json, at, ok = nil, nil, false
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if !r.checkTokens(tokens, data) {
		return nil, nil, false
	}
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil, nil, false
	}
	return r.document(parsed, tokens)
}

// document returns the file's only document. A parser that drops text would drop a part of the policy, so the
// number of scalars that were written must match that of the tokens.
func (r *reader) document(parsed *ast.File, tokens token.Tokens) ([]byte, []place, bool) {
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		r.fault(start, "", "the file sets nothing", "write what it is to set, or leave the file out")
		return nil, nil, false
	}
	found := len(r.faults)
	c := &converter{reader: r}
	if c.value(parsed.Docs[0].Body, 0); len(r.faults) > found {
		return nil, nil, false
	}
	if c.scalars != countScalars(tokens) {
		r.fault(start, "", "this YAML can be read in more than one way", "write it more simply")
		return nil, nil, false
	}
	return c.json, c.at, true
}

// converter writes nodes of the YAML library as JSON.
type converter struct {
	*reader
	json    []byte
	at      []place
	scalars int
}

// write appends JSON, which begins at a place of the file.
func (c *converter) write(where place, json string) {
	c.at, c.json = append(c.at, where), append(c.json, json...)
}

func (c *converter) value(n ast.Node, depth int) {
	where := at(n.GetToken())
	if depth > maxDepth {
		c.fault(where, "", fmt.Sprintf("nested deeper than %d", maxDepth), "write it flat")
		return
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			where = at(n.Values[0].Key.GetToken()) // not its colon
		}
		c.mapping(where, n.Values, depth)
	case *ast.MappingValueNode:
		c.mapping(at(n.Key.GetToken()), []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		c.write(where, "[")
		for i, item := range n.Values {
			if i > 0 {
				c.json = append(c.json, ',')
			}
			c.value(item, depth+1)
		}
		c.json = append(c.json, ']')
	default:
		c.write(where, c.scalar(n, false))
	}
}

func (c *converter) mapping(where place, values []*ast.MappingValueNode, depth int) {
	c.write(where, "{")
	for i, v := range values {
		if i > 0 {
			c.json = append(c.json, ',')
		}
		c.write(at(v.Key.GetToken()), c.scalar(v.Key, true)+":")
		c.value(v.Value, depth+1)
	}
	c.json = append(c.json, '}')
}

// scalar returns a key or a plain value as JSON. A number that JSON does not have is a text.
func (c *converter) scalar(n ast.Node, key bool) string {
	t := n.GetToken()
	if t.Type != token.ImplicitNullType {
		c.scalars++
	}
	text := t.Value
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		if number := decimal(text); !key && fields.IsNumber(strings.TrimPrefix(number, "-")) {
			return number
		}
	case *ast.BoolNode:
		if text = strings.ToLower(text); !key {
			return text
		}
	case *ast.NullNode:
		if !key {
			return "null"
		}
	default:
		c.fault(at(t), "", "this kind of value is not allowed in a policy file",
			"write plain text, numbers, lists and mappings")
	}
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\ufffd"))
	return string(quoted)
}

// decimal returns a number of YAML as JSON writes it: .5 as 0.5, 5. as 5, and +5 as 5.
func decimal(text string) string {
	sign, digits := "", strings.TrimPrefix(text, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	return sign + strings.TrimSuffix(digits, ".")
}

// syntax reports a syntax error of the library in our own words.
func (r *reader) syntax(err error) {
	where := start
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		where = at(syntax.Token)
	}
	r.fault(where, "", invalid[0], invalid[1])
}
