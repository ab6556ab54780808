package journal

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
)

// places are the places in a JSON document to redact: the parts of JSON Pointers as a tree. "*" matches any
// part. The zero value has none.
type places struct {
	next map[string]*places
	// here redacts the value at this place, and below all values inside it.
	here, below bool
}

// add adds places: JSON Pointers relative to base. "**" at the end means the place and everything inside.
// Invalid pointers are ignored.
func (p *places) add(base string, pointers ...string) {
	for _, pointer := range pointers {
		if parts, ok := parsePointer(base + pointer); ok {
			p.put(parts)
		}
	}
}

func (p *places) put(parts []string) {
	switch {
	case len(parts) == 0:
		p.here = true
		return
	case len(parts) == 1 && parts[0] == "**":
		p.here, p.below = true, true
		return
	case p.next == nil:
		p.next = map[string]*places{}
	}
	if p.next[parts[0]] == nil {
		p.next[parts[0]] = new(places)
	}
	p.next[parts[0]].put(parts[1:])
}

// has reports whether a place is included.
func (p *places) has(at []string) bool {
	switch {
	case p == nil:
		return false
	case p.below, len(at) == 0:
		return p.below || p.here
	}
	return p.next[at[0]].has(at[1:]) || p.next["*"].has(at[1:])
}

// hasAbove reports whether a place is inside an included one.
func (p *places) hasAbove(at []string) bool {
	for n := range at {
		if p.has(at[:n]) {
			return true
		}
	}
	return false
}

// parsePointer splits a JSON Pointer.
func parsePointer(p string) (parts []string, ok bool) {
	at := jsontext.Pointer(p)
	return slices.Collect(at.Tokens()), at.IsValid()
}

// rewriter copies a JSON document with other values and names.
type rewriter struct {
	// value returns the replacement for a value at the parts of a JSON Pointer, or nil to keep it and visit
	// its contents. text is what a string says; empty for other values.
	value func(at []string, value jsontext.Value, text string) ([]byte, error)
	// name returns the new name of a member; at includes its old name.
	name func(at []string, name string) (string, error)
	// renamed reports that a member got another name.
	renamed bool
}

// rewrite returns the copy of a document in canonical form. The document must be canonical; numbers stay as
// they are.
func (r *rewriter) rewrite(document []byte) ([]byte, error) {
	out, err := r.copy(nil, document, nil)
	if err != nil || !r.renamed {
		return out, err
	}
	return canon.JSON(out)
}

func (r *rewriter) copy(out []byte, value jsontext.Value, at []string) ([]byte, error) {
	kind, text := value.Kind(), ""
	if kind == '"' {
		var err error
		if text, err = unquote(value); err != nil {
			return nil, err
		}
	}
	with, err := r.value(at, value, text)
	if err != nil || with != nil {
		return append(out, with...), err
	}
	if kind != '{' && kind != '[' {
		return append(out, value...), nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out = append(out, byte(kind))
	for n := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		part := strconv.Itoa(n)
		if kind == '{' {
			if out, part, err = r.copyName(out, dec, at); err != nil {
				return nil, err
			}
		}
		member, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if out, err = r.copy(out, member, append(slices.Clip(at), part)); err != nil {
			return nil, err
		}
	}
	return append(out, byte(kind)+2), nil
}

// copyName copies the name of a member with its colon, and returns the old name.
func (r *rewriter) copyName(
	out []byte, dec *jsontext.Decoder, at []string,
) (_ []byte, name string, err error) {
	quoted, err := dec.ReadValue()
	if err == nil {
		name, err = unquote(quoted)
	}
	if err != nil {
		return nil, "", err
	}
	called, err := r.name(append(slices.Clip(at), name), name)
	if err == nil && called != name {
		r.renamed = true
		quoted, err = canon.Marshal(called)
	}
	return append(append(out, quoted...), ':'), name, err
}

func unquote(value jsontext.Value) (string, error) {
	text, err := jsontext.AppendUnquote(nil, value)
	return string(text), err
}
