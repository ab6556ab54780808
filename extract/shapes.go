package extract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/retake-go/retake/fault"
)

// role is what the name of a member may say. It is a set.
type role uint8

const (
	toolRole    role = 1 << iota // the tool's name
	argsRole                     // its arguments
	listRole                     // a list of calls
	wrapperRole                  // a call
	metaRole                     // another property of a call
	typeRole                     // its type
)

var roles = byWord([]row[role]{
	{"name tool_name function_name func recipient_name", toolRole},
	{"tool function action", toolRole | wrapperRole},
	{"arguments parameters params args kwargs input tool_input action_input", argsRole},
	{"tool_calls function_calls calls tool_uses", listRole},
	{"function_call functionCall tool_call command", wrapperRole},
	{"id index call_id tool_call_id", metaRole},
	{"type", metaRole | typeRole},
})

var (
	metaTypes = []string{"function", "tool_use", "tool_call", "function_call"}
	// objectTypes are the types of the arguments in definitions of tools.
	objectTypes = []string{"object", "dict"}
)

// setting is the place of a value that may be a call.
type setting struct {
	form Form
	// clear is set if only calls can be here. Then an object with an unknown name is a call, too.
	clear bool
	// listed is set for an element of a list.
	listed bool
}

// parse makes calls of the nodes of a reader.
type parse struct {
	*reader
	to *scanner
	// last is the latest call, which gets the repairs up to the next one. made is the number of calls, shared
	// that of the repairs that have a call. taken is set if the scanner has taken a call.
	last         Call
	made, shared int
	taken        bool
}

// add adds a call.
func (p *parse) add(c Call) bool {
	p.settle(c.Offset)
	p.last, p.made = c, p.made+1
	return true
}

// settle gives the latest call the repairs before an offset. The first call has those before it, too.
func (p *parse) settle(before int) {
	if p.made == 0 {
		return
	}
	for ; p.shared < len(p.repairs) && p.repairs[p.shared].Offset < before; p.shared++ {
		p.last.Repairs = append(p.last.Repairs, p.repairs[p.shared])
	}
	p.taken = p.to.add(p.last) || p.taken
}

// element reads node n as one or more calls. It returns false if n is something else.
func (p *parse) element(n int, at setting) (taken bool) {
	var c Call
	switch p.kind(n) {
	case object:
		if p.callsMember(n) {
			return true
		}
		if c, taken = p.wrapperMember(n, at); !taken {
			c, taken = p.nameMember(n, at)
		}
		if !taken {
			return p.nameKeyed(n)
		}
	case list:
		return p.pairs(n) || p.list(n, at)
	case call:
		c, taken = p.python(n, at)
	case str:
		if at.listed {
			c, taken = p.quoted(n)
		}
	}
	return taken && p.add(c)
}

// list reads the elements of a list up to the first that is no call.
func (p *parse) list(n int, at setting) bool {
	if at.form == formCallObject {
		at.form = formCallList
	}
	at.listed = true
	for m := range p.children(n) {
		if !p.element(m, at) {
			return m != p.child(n)
		}
	}
	return p.child(n) != 0
}

// pairs reads ["f", {…}] and ["f", {…}, "g", {…}]. A pair that was not read to its end is broken.
func (p *parse) pairs(n int) bool {
	for m := p.child(n); m != 0; {
		args := p.next(m)
		if p.kind(m) != str || args == 0 || p.kind(args) != object || !p.knows(p.text(m)) {
			return false
		}
		m = p.next(args)
	}
	for m := p.child(n); m != 0; m = p.next(p.next(m)) {
		p.held(formPairList, p.text(m), m, p.next(m), n)
	}
	return p.child(n) != 0
}

// held adds a call that begins at node m. It is broken if it is the last of node n and that was not read to
// its end.
func (p *parse) held(form Form, name []byte, m, args, n int) {
	c, _ := p.named(string(name), m)
	c.Form, c.Offset = form, p.begin(m)
	if p.at(n).open && p.next(args) == 0 {
		c = p.broken(c)
	} else {
		c.End, c.Arguments = int(p.at(args).end), p.json(args)
	}
	p.add(c)
}

// quoted reads a string that is a Python call. If quotes in it are escaped, every offset is that of the
// string. A string with other escapes is not read: they could be those of the string or of the call.
func (p *parse) quoted(n int) (found Call, taken bool) {
	node := p.at(n)
	begin, behind := int(node.start), int(node.end)
	src, start, end := p.src, begin+1, behind-1
	if node.open || start >= end || !isNameStart(src[start]) {
		return found, false
	}
	escaped := strings.IndexByte(src[start:end], '\\') >= 0
	if escaped {
		if !escapesQuotes(src[start:end]) {
			return found, false
		}
		src = string(p.text(n))
		start, end = 0, len(src)
	}
	r, c, ok := p.within(src, start, end)
	if r.at(c).kind != call || ok && r.pos != end || r.cut {
		return found, false // a call that is cut off may continue after its own quote: ['f(a='b')']
	}
	inner := parse{reader: r, to: p.to}
	if found, taken = inner.python(c, setting{}); !taken {
		return found, false
	}
	found.Form, found.Repairs = formQuotedCall, append(found.Repairs, r.repairs...)
	if escaped {
		found.Offset, found.End = begin, behind
		if found.Broken != nil {
			found.Broken.Offset = begin
		}
		for i := range found.Repairs {
			found.Repairs[i].Offset = begin
		}
	}
	return found, true
}

// within reads what is written in a string, from start to end of src.
func (p *parse) within(src string, start, end int) (r *reader, n int, ok bool) {
	r = &p.to.inner
	r.start(src, start, end)
	r.outline = true
	n, ok = r.value(0, 0)
	return r, n, ok
}

// escapesQuotes reports whether every backslash in text precedes a quote.
func escapesQuotes(text string) bool {
	return strings.Count(text, `\`) == strings.Count(text, `\"`)+strings.Count(text, `\'`)
}

// python reads f(a=1) and f({…}).
func (p *parse) python(n int, at setting) (c Call, taken bool) {
	node := p.at(n)
	if node.open && !node.argued {
		return c, false
	}
	c, known := p.named(plainName(p.src[node.start:node.name]), n)
	if !known && !at.clear {
		return c, false
	}
	c.Form, c.Offset, c.End = formPythonCall, int(node.start), int(node.end)
	if node.dict {
		c.Form = formPythonCallObject
	}
	if node.open {
		return p.broken(c), true
	}
	c.Arguments = p.json(n)
	c.repaired(formPythonSyntax, c.Offset)
	return c, true
}

// callsMember reads {"tool_calls": […]}, and an object whose only member is a list of known calls.
func (p *parse) callsMember(n int) bool {
	for m := range p.children(n) {
		if p.kind(m) == list && p.is(m, listRole) {
			return p.list(m, setting{form: formToolCallsObject, clear: true})
		}
	}
	first := p.child(n)
	alone := first != 0 && p.next(first) == 0 && p.kind(first) == list && !p.at(n).open
	return alone && p.list(first, setting{form: formToolCallsObject})
}

// wrapperMember reads {"type": "function", "function": {"name": …, "arguments": …}}.
func (p *parse) wrapperMember(n int, at setting) (c Call, taken bool) {
	for m := range p.children(n) {
		if p.kind(m) != object || !p.is(m, wrapperRole) {
			continue
		}
		if c, taken = p.nameMember(m, at); !taken {
			return c, false
		}
		c.Repairs = append(c.Repairs, p.extras(n, m, m)...)
		if p.at(n).open && c.Broken == nil {
			c = p.broken(c)
		}
		return c, true
	}
	return c, false
}

// parts are the members of an object that may be a call. They are nodes, 0 for none.
type parts struct {
	name, args int
	manyArgs   bool
	// unread is a member "arguments" that cannot hold them.
	unread int
	// others counts members that do not belong to a call. metas counts properties of the call that could also
	// be arguments, such as an id.
	others, metas int
}

func (p *parse) parts(n int) parts {
	var o parts
	for m := range p.children(n) {
		isName := p.is(m, toolRole) && p.kind(m) == str && !p.at(m).open
		switch {
		case isName && (o.name == 0 || !p.knows(p.text(o.name)) && p.knows(p.text(m))):
			if o.name != 0 {
				o.others++
			}
			o.name = m
		case p.is(m, argsRole) && p.isArguments(m):
			o.manyArgs = o.args != 0
			o.args = m
		case !p.isMeta(m):
			if string(p.key(m)) == "arguments" {
				o.unread = m
			}
			o.others++
		case !p.is(m, typeRole):
			o.metas++
		}
	}
	return o
}

// is reports whether the name of member m has a role.
func (p *parse) is(m int, of role) bool { return roles[string(p.key(m))]&of != 0 }

// isMeta reports whether member m is a property of the call, such as its type or id.
func (p *parse) isMeta(m int) bool {
	if p.at(m).open || !p.is(m, metaRole) {
		return false
	}
	if p.kind(m) != str || !p.is(m, typeRole) {
		return p.kind(m) == str || p.kind(m) == scalar
	}
	return slices.Contains(metaTypes, string(p.text(m)))
}

// isArguments reports whether m can be arguments: an object, a string that looks like one or is blank, or
// null.
func (p *parse) isArguments(m int) bool {
	switch p.kind(m) {
	case object:
		return true
	case str:
		text := bytes.TrimLeft(p.text(m), " \t\r\n")
		return len(text) == 0 && !p.at(m).open || bytes.HasPrefix(text, []byte{'{'})
	}
	return p.kind(m) == scalar && !p.at(m).open && string(p.jsonOf(m)) == "null"
}

func (p *parse) knows(written []byte) bool {
	_, _, known := p.to.names.lookup(string(written))
	return known
}

// nameMember reads {"name": "f", "arguments": {…}} and {"name": "f", "a": 1}.
func (p *parse) nameMember(n int, at setting) (c Call, taken bool) {
	o := p.parts(n)
	if o.name == 0 {
		return c, false
	}
	c, known := p.named(string(p.text(o.name)), o.name)
	c.Form, c.Offset, c.End = at.form, p.begin(n), int(p.at(n).end)
	if !p.isCall(o, known, at) {
		return c, false
	}
	switch {
	case p.at(n).open || o.manyArgs:
		c = p.broken(c)
	case o.args == 0 && o.unread != 0:
		c.Broken = &Broken{fault.RuleSyntax, p.begin(o.unread)}
	case o.args != 0:
		c.Repairs = append(c.Repairs, p.extras(n, o.name, o.args)...)
		p.arguments(&c, o.args)
	case o.others+o.metas > 0:
		c.Form = formInlineArguments
		c.Arguments = p.inline(n, o.name)
	default:
		c.noArguments(c.Offset)
	}
	return c, true
}

// extras returns the repairs for the members of n that are dropped: all but the two given ones and the
// properties of the call.
func (p *parse) extras(n, name, args int) []Repair {
	var dropped []Repair
	for m := range p.children(n) {
		if m != name && m != args && !p.isMeta(m) {
			dropped = append(dropped, Repair{formExtraMember, p.begin(m)})
		}
	}
	return dropped
}

// isSchema reports whether an object is a JSON Schema, as in a tool's definition.
func (p *parse) isSchema(n int) bool {
	typed, properties := false, false
	for m := range p.children(n) {
		kind := p.kind(m)
		typed = typed || kind == str && p.is(m, typeRole) && slices.Contains(objectTypes, string(p.text(m)))
		properties = properties || kind == object && string(p.key(m)) == "properties"
	}
	return typed && properties
}

// nameKeyed reads {"f": {…}}: every key is a registered tool and every value an object. The last call is
// broken if the object was not read to its end.
func (p *parse) nameKeyed(n int) bool {
	for m := range p.children(n) {
		if p.kind(m) != object || !p.knows(p.key(m)) || p.isSchema(m) {
			return false
		}
	}
	for m := range p.children(n) {
		p.held(formNameKeyedObject, p.key(m), m, m, n)
	}
	return p.child(n) != 0
}
