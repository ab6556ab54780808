package masked

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// Rewriter copies JSON documents with other values and names. What its functions are given is valid until
// they return.
type Rewriter struct {
	// Value returns the replacement for a value at the parts of a JSON Pointer, or nil to keep it and visit
	// its contents. text is what a string says; empty for other values.
	Value func(at []string, value jsontext.Value, text string) ([]byte, error)
	// Name returns the new name of a member; at includes its old name. Nil keeps all names.
	Name func(at []string, name string) (string, error)
}

// Rewrite returns the copy of a valid document. If the document is canonical, so is the copy, but numbers
// stay as they are.
func (r *Rewriter) Rewrite(document []byte) ([]byte, error) {
	c := copying{Rewriter: r}
	out, err := c.append(nil, document, nil)
	if err != nil || !c.renamed {
		return out, err
	}
	return canon.JSON(out)
}

// copying is the copy of one document. renamed reports that a member got another name.
type copying struct {
	*Rewriter
	renamed bool
}

func (c *copying) append(out []byte, value jsontext.Value, at []string) ([]byte, error) {
	kind, text := value.Kind(), ""
	if kind == '"' {
		var err error
		if text, err = unquote(value); err != nil {
			return nil, err
		}
	}
	with, err := c.Value(at, value, text)
	if err != nil || with != nil {
		return append(out, with...), err
	}
	if kind != '{' && kind != '[' {
		return append(out, value...), nil
	}
	in := jsontext.NewDecoder(bytes.NewReader(value))
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	out = append(out, byte(kind))
	for n := 0; in.PeekKind() != '}' && in.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		part := strconv.Itoa(n)
		if kind == '{' {
			if out, part, err = c.appendName(out, in, at); err != nil {
				return nil, err
			}
		}
		member, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		if out, err = c.append(out, member, append(at, part)); err != nil {
			return nil, err
		}
	}
	return append(out, byte(kind)+2), nil
}

// appendName copies the name of a member with its colon, and returns the old name.
func (c *copying) appendName(out []byte, in *jsontext.Decoder, at []string) (_ []byte, name string, err error) {
	quoted, err := in.ReadValue()
	if err == nil {
		name, err = unquote(quoted)
	}
	if err == nil && c.Name != nil {
		called := name
		if called, err = c.Name(append(at, name), name); err == nil && called != name {
			c.renamed = true
			quoted, err = canon.Marshal(called)
		}
	}
	return append(append(out, quoted...), ':'), name, err
}

func unquote(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
