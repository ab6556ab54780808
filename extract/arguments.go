package extract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
)

// arguments gives call c its arguments, which are member m.
func (p *parse) arguments(c *Call, m int) {
	switch p.kind(m) {
	case object:
		c.Arguments = p.json(m)
	case scalar:
		c.noArguments(p.begin(m))
	default:
		p.stringArguments(c, m)
	}
}

// stringArguments reads a JSON object in a string. Every offset in it is that of the string.
func (p *parse) stringArguments(c *Call, m int) {
	offset, text := p.begin(m), string(p.text(m))
	if strings.TrimSpace(text) == "" {
		c.noArguments(offset)
		return
	}
	r, n, ok := p.within(text, 0, len(text))
	if ok && r.space() && r.pos < r.end {
		r.fail(fault.RuleTrailingData, r.pos)
	}
	if r.fault != nil {
		c.Broken = &Broken{Rule: r.fault.Rule, Offset: offset}
		return
	}
	c.Arguments = slices.Clone(r.jsonOf(n))
	c.repaired(formStringArguments, offset)
	for _, inner := range r.repairs {
		c.repaired(inner.Kind, offset)
	}
}

// inline is object n without the member name, and without a type of call.
func (p *parse) inline(n, name int) []byte {
	args := []byte{'{'}
	for m := range p.children(n) {
		if m == name || p.is(m, typeRole) && p.isMeta(m) {
			continue
		}
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(args, p.keyOf(m)...)
		args = append(args, ':')
		args = append(args, p.jsonOf(m)...)
	}
	return append(args, '}')
}

// named begins a call of a tool by its written name. If that is an alias, the repair is at node n.
func (p *parse) named(written string, n int) (Call, bool) {
	return p.to.names.call(written, p.begin(n))
}

// broken returns a call that was not read to its end, or that has two sets of arguments.
func (p *parse) broken(c Call) Call {
	c.Arguments, c.Broken = nil, &Broken{Rule: fault.RuleSyntax, Offset: c.Offset}
	if p.fault != nil {
		*c.Broken = *p.fault
		c.End = p.pos
	}
	return c
}

// json returns a copy of the JSON of node n; nil where calls are only counted.
func (p *parse) json(n int) []byte {
	if p.to.over > 0 {
		return nil
	}
	return slices.Clone(p.jsonOf(n))
}

// text returns the content of string n; empty if it was not read to its end. It lasts until the next text or
// key.
func (p *parse) text(n int) []byte {
	if p.at(n).open {
		return nil
	}
	return p.unquoted(p.jsonOf(n))
}

// key returns the name of member n. It lasts as long as a text.
func (p *parse) key(n int) []byte { return p.unquoted(p.keyOf(n)) }

// unquoted returns the content of a JSON string that the reader wrote.
func (p *parse) unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	p.said, _ = jsontext.AppendUnquote(p.said[:0], quoted) // cannot fail: the reader has written it
	return p.said
}
