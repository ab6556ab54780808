package extract

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// arguments adds call c with its arguments, which are member m.
func (p *parse) arguments(c Call, m int) {
	switch p.at(m).kind {
	case object:
		c.Arguments = p.json(m)
	case scalar:
		c.noArguments(p.begin(m))
	default:
		p.stringArguments(&c, m)
	}
	p.calls = append(p.calls, c)
}

// stringArguments reads a JSON object in a string. Every offset in it is that of the string.
func (p *parse) stringArguments(c *Call, m int) {
	offset, text := p.begin(m), p.text(m)
	if strings.TrimSpace(text) == "" {
		c.noArguments(offset)
		return
	}
	var r reader
	r.start(text, 0, len(text), Options{MaxBytes: len(text), MaxDepth: p.max, MaxValues: p.values})
	r.outline = true
	n, ok := r.value(0, 0)
	if ok && r.space() && r.pos < r.end {
		r.fail(RuleTrailingData, r.pos)
	}
	if r.fault != nil {
		c.Broken = &Broken{Rule: r.fault.Rule, Offset: offset}
		return
	}
	c.Arguments = slices.Clone(r.jsonOf(n))
	c.Repairs = append(c.Repairs, Repair{StringArguments, offset})
	for _, inner := range r.repairs {
		c.Repairs = append(c.Repairs, Repair{inner.Kind, offset})
	}
}

// inline is object n without the member name, and without a type of call.
func (p *parse) inline(n, name int) []byte {
	args := []byte{'{'}
	for m := p.child(n); m != 0; m = p.next(m) {
		if key := p.key(m); m == name || key == "type" && p.isMeta(m, key) {
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
	return p.names.call(written, p.begin(n))
}

// broken adds a call that was not read to its end, or that has two sets of arguments.
func (p *parse) broken(c Call) {
	c.Arguments, c.Broken = nil, &Broken{Rule: RuleSyntax, Offset: c.Offset}
	if p.fault != nil {
		*c.Broken = *p.fault
		c.End = p.pos
	}
	p.calls = append(p.calls, c)
}

// json is a copy of the JSON of node n.
func (p *parse) json(n int) []byte { return slices.Clone(p.jsonOf(n)) }

// text is the content of string n; empty if it was not read to its end.
func (p *parse) text(n int) string {
	if p.at(n).open {
		return ""
	}
	return unquoted(p.jsonOf(n))
}

// key is the name of member n.
func (p *parse) key(n int) string { return unquoted(p.keyOf(n)) }

// unquoted is the content of a JSON string that the reader wrote.
func unquoted(quoted []byte) string {
	if len(quoted) < 2 {
		return ""
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // cannot fail: the reader has written it
	return string(text)
}
