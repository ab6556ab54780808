package fields

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/syntax"
)

// Kind is the kind of a node, named as faults name it.
type Kind string

// The kinds of nodes.
const (
	Mapping Kind = "a mapping"
	List    Kind = "a list"
	Text    Kind = "text"
	Number  Kind = "a number"
	Switch  Kind = "the switch"
	Null    Kind = "nothing"
)

// Place is a position in a file, 1-based; Column counts characters. The zero value means "not known".
type Place struct{ Line, Column int }

// Node is a value as it was written, in YAML or JSON.
type Node struct {
	Kind Kind
	At   Place
	// Text is the content of a text, a number as it was written, "true" or "false".
	Text    string
	Members []Member
	Items   []Node
}

// Member is one entry of a mapping. A key may come more than once.
type Member struct {
	Key   string
	At    Place
	Value Node
}

// Lines finds the places of byte offsets. Offsets that come in order are found in one pass over the data.
type Lines struct {
	Data   []byte
	offset int
	at     Place
}

// Of is the place of an offset; one beyond the end is the end.
func (l *Lines) Of(offset int) Place {
	if l.at.Line == 0 || offset < l.offset {
		l.offset, l.at = 0, Place{1, 1}
	}
	for l.offset < min(offset, len(l.Data)) {
		c, size := utf8.DecodeRune(l.Data[l.offset:])
		l.offset += size
		l.at.Column++
		if c == '\n' {
			l.at = Place{l.at.Line + 1, 1}
		}
	}
	return l.at
}

// MaxDepth bounds how deep values are nested.
const MaxDepth = 32

// jsonParser turns JSON into nodes.
type jsonParser struct {
	data   []byte
	lines  Lines
	in     *jsontext.Decoder
	values int
}

// ParseJSON turns strict JSON of at most so many values into nodes. Keys that come twice are left to who
// reads the nodes. The fault is nil where there is none.
func ParseJSON(data []byte, values int) (Node, *Fault) {
	p := &jsonParser{data: data, lines: Lines{Data: data}, values: values}
	p.in = jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	root, err := p.value(0)
	if err == nil {
		where := p.next()
		if _, err = p.in.ReadToken(); err == nil {
			err = &Fault{At: where, Message: "more than one JSON value", Hint: "a policy file has one object"}
		}
	}
	if errors.Is(err, io.EOF) && root.Kind != "" {
		return root, nil
	}
	return Node{}, p.syntax(err)
}

func (p *jsonParser) value(depth int) (Node, error) {
	n := Node{At: p.next()}
	t, err := p.in.ReadToken()
	if err != nil {
		return Node{}, err
	}
	if p.values--; depth > MaxDepth || p.values < 0 {
		return Node{}, &Fault{At: n.At, Message: "too much: nested too deep, or too long",
			Hint: fmt.Sprintf("at most %d levels and 20000 values are read", MaxDepth)}
	}
	switch t.Kind() {
	case '{':
		n.Kind = Mapping
		err = p.members(&n, depth)
	case '[':
		n.Kind = List
		err = p.items(&n, depth)
	case '"':
		n.Kind, n.Text = Text, t.String()
	case '0':
		n.Kind, n.Text = Number, t.String()
	case 't', 'f':
		n.Kind, n.Text = Switch, t.String()
	default:
		n.Kind = Null
	}
	return n, err
}

func (p *jsonParser) members(n *Node, depth int) error {
	for p.in.PeekKind() != '}' {
		key, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{key.Text, key.At, v})
	}
	_, err := p.in.ReadToken()
	return err
}

func (p *jsonParser) items(n *Node, depth int) error {
	for p.in.PeekKind() != ']' {
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, v)
	}
	_, err := p.in.ReadToken()
	return err
}

// next is where the next token starts.
func (p *jsonParser) next() Place {
	rest := bytes.TrimLeft(p.data[p.in.InputOffset():], " \t\r\n,:")
	return p.lines.Of(len(p.data) - len(rest))
}

// syntax says where the text stops being JSON, in our own words.
func (p *jsonParser) syntax(err error) *Fault {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault
	}
	offset := p.in.InputOffset()
	var broken *jsontext.SyntacticError
	if errors.As(err, &broken) {
		offset = broken.ByteOffset
	}
	at := int(min(max(offset, 0), int64(len(p.data))))
	return &Fault{At: p.lines.Of(at), Message: "the file is no valid JSON here", Hint: jsonHint(p.data, at)}
}

// jsonHint says what would be right where a text stops being JSON.
func jsonHint(data []byte, offset int) string {
	wanted := cmp.Or(syntax.Wanted(string(data), offset), "valid JSON")
	switch {
	case !utf8.Valid(data):
		wanted = "text in UTF-8"
	case wanted == syntax.Comments:
		wanted += "; name the file .yaml to have some"
	}
	return "expected " + wanted
}
