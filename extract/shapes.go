package extract

import (
	"slices"
	"strings"
)

// Names of members: for the tool's name, its arguments, a list of calls, a call in another object, and for
// other properties of a call.
var (
	nameMembers = []string{"name", "tool", "tool_name", "function", "function_name", "func", "action",
		"recipient_name"}
	argsMembers = []string{"arguments", "parameters", "params", "args", "kwargs", "input", "tool_input",
		"action_input"}
	listMembers    = []string{"tool_calls", "function_calls", "calls", "tool_uses"}
	wrapperMembers = []string{"function", "function_call", "functionCall", "tool_call", "tool", "action",
		"command"}
	metaMembers = []string{"id", "type", "index", "call_id", "tool_call_id"}
	metaTypes   = []string{"function", "tool_use", "tool_call", "function_call"}
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

// shape reads an object as one or more calls; taken is false if the object has another shape.
type shape func(p *parse, n int, at setting) (taken bool)

// shapes are tried in order.
func shapes() [4]shape {
	return [...]shape{(*parse).callsMember, (*parse).wrapperMember, (*parse).nameMember, (*parse).nameKeyed}
}

// parse makes calls of the nodes of a reader.
type parse struct {
	*reader
	names Names
	calls []Call
}

// element reads node n as one or more calls. It returns false if n is something else.
func (p *parse) element(n int, at setting) bool {
	switch p.at(n).kind {
	case object:
		for _, read := range shapes() {
			if read(p, n, at) {
				return true
			}
		}
	case list:
		return p.pairs(n) || p.list(n, at)
	case call:
		return p.python(n, at)
	case str:
		return at.listed && p.quoted(n)
	}
	return false
}

// list reads the elements of a list up to the first that is no call.
func (p *parse) list(n int, at setting) bool {
	if at.form == CallObject {
		at.form = CallList
	}
	at.listed = true
	for m := p.child(n); m != 0; m = p.next(m) {
		if !p.element(m, at) {
			return m != p.child(n)
		}
	}
	return p.child(n) != 0
}

// pairs reads ["f", {…}] and ["f", {…}, "g", {…}]. A pair that was not read to its end is broken.
func (p *parse) pairs(n int) bool {
	var found []Call
	for m := p.child(n); m != 0; {
		args := p.next(m)
		if p.at(m).kind != str || args == 0 || p.at(args).kind != object {
			return false
		}
		c, known := p.named(p.text(m), m)
		if !known {
			return false
		}
		c.Form, c.Offset = PairList, p.begin(m)
		found = append(found, p.held(c, args))
		m = p.next(args)
	}
	return p.keep(found, p.at(n).open)
}

// held is c with the arguments in object n, if that was read to its end.
func (p *parse) held(c Call, n int) Call {
	if !p.at(n).open {
		c.End, c.Arguments = int(p.at(n).end), p.json(n)
	}
	return c
}

// keep adds the calls of one list or object. If that was not read to its end, the last call is broken.
func (p *parse) keep(found []Call, open bool) bool {
	if len(found) == 0 {
		return false
	}
	last := len(found) - 1
	p.calls = append(p.calls, found[:last]...)
	if open {
		p.broken(found[last])
	} else {
		p.calls = append(p.calls, found[last])
	}
	return true
}

// quoted reads a string that is a Python call. If quotes in it are escaped, every offset is that of the
// string. A string with other escapes is not read: they could be those of the string or of the call.
func (p *parse) quoted(n int) bool {
	node := p.at(n)
	begin, behind := int(node.start), int(node.end)
	src, start, end := p.src, begin+1, behind-1
	if node.open || start >= end || !isNameStart(src[start]) {
		return false
	}
	escaped := strings.IndexByte(src[start:end], '\\') >= 0
	if escaped {
		if !escapesQuotes(src[start:end]) {
			return false
		}
		src = p.text(n)
		start, end = 0, len(src)
	}
	var r reader
	r.start(src, start, end, Options{MaxBytes: end - start, MaxDepth: p.max, MaxValues: p.values})
	r.outline = true
	c, ok := r.value(0, 0)
	if r.at(c).kind != call || ok && r.pos != end || r.cut {
		return false // a call that is cut off may continue after its own quote: ['f(a='b')']
	}
	inner := parse{reader: &r, names: p.names}
	if !inner.python(c, setting{}) || len(inner.calls) != 1 {
		return false
	}
	found := inner.calls[0]
	found.Form, found.Repairs = QuotedCall, append(found.Repairs, r.repairs...)
	if escaped {
		found.Offset, found.End = begin, behind
		if found.Broken != nil {
			found.Broken.Offset = begin
		}
		for i := range found.Repairs {
			found.Repairs[i].Offset = begin
		}
	}
	p.calls = append(p.calls, found)
	return true
}

// escapesQuotes reports whether every backslash in text precedes a quote.
func escapesQuotes(text string) bool {
	return strings.Count(text, `\`) == strings.Count(text, `\"`)+strings.Count(text, `\'`)
}

// python reads f(a=1) and f({…}).
func (p *parse) python(n int, at setting) bool {
	node := p.at(n)
	c, known := p.named(plainName(p.src[node.start:node.nameEnd]), n)
	if !known && !at.clear || node.open && !node.argued {
		return false
	}
	c.Form, c.Offset, c.End = PythonCall, int(node.start), int(node.end)
	if node.dict {
		c.Form = PythonCallObject
	}
	if node.open {
		p.broken(c)
		return true
	}
	c.Arguments = p.json(n)
	c.Repairs = append(c.Repairs, Repair{PythonSyntax, c.Offset})
	p.calls = append(p.calls, c)
	return true
}

// callsMember reads {"tool_calls": […]}, and an object whose only member is a list of known calls.
func (p *parse) callsMember(n int, _ setting) bool {
	first := p.child(n)
	for m := first; m != 0; m = p.next(m) {
		if p.at(m).kind == list && slices.Contains(listMembers, p.key(m)) {
			return p.list(m, setting{form: ToolCallsObject, clear: true})
		}
	}
	alone := first != 0 && p.next(first) == 0 && p.at(first).kind == list && !p.at(n).open
	return alone && p.list(first, setting{form: ToolCallsObject})
}

// wrapperMember reads {"type": "function", "function": {"name": …, "arguments": …}}.
func (p *parse) wrapperMember(n int, at setting) bool {
	for m := p.child(n); m != 0; m = p.next(m) {
		if p.at(m).kind != object || !slices.Contains(wrapperMembers, p.key(m)) {
			continue
		}
		before := len(p.calls)
		if !p.nameMember(m, at) {
			return false
		}
		c := &p.calls[before]
		c.Repairs = append(c.Repairs, p.extras(n, m, m)...)
		if p.at(n).open && c.Broken == nil {
			open := *c
			p.calls = p.calls[:before]
			p.broken(open)
		}
		return true
	}
	return false
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
	for m := p.child(n); m != 0; m = p.next(m) {
		key := p.key(m)
		switch {
		case p.isName(m, key) && (o.name == 0 || !p.knows(o.name) && p.knows(m)):
			if o.name != 0 {
				o.others++
			}
			o.name = m
		case slices.Contains(argsMembers, key) && p.isArguments(m):
			o.manyArgs = o.args != 0
			o.args = m
		case key == "arguments":
			o.unread = m
			o.others++
		case !p.isMeta(m, key):
			o.others++
		case key != "type":
			o.metas++
		}
	}
	return o
}

func (p *parse) isName(m int, key string) bool {
	return p.at(m).kind == str && !p.at(m).open && slices.Contains(nameMembers, key)
}

// isMeta reports whether member m is a property of the call, such as its type or id.
func (p *parse) isMeta(m int, key string) bool {
	if p.at(m).open || !slices.Contains(metaMembers, key) {
		return false
	}
	if p.at(m).kind != str || key != "type" {
		return p.at(m).kind == str || p.at(m).kind == scalar
	}
	return slices.Contains(metaTypes, p.text(m))
}

// isArguments reports whether m can be arguments: an object, a string that looks like one or is blank, or
// null.
func (p *parse) isArguments(m int) bool {
	switch p.at(m).kind {
	case object:
		return true
	case str:
		text := strings.TrimLeft(p.text(m), " \t\r\n")
		return text == "" && !p.at(m).open || strings.HasPrefix(text, "{")
	}
	return p.at(m).kind == scalar && !p.at(m).open && string(p.json(m)) == "null"
}

func (p *parse) knows(m int) bool {
	_, _, known := p.names.lookup(p.text(m))
	return known
}

// nameMember reads {"name": "f", "arguments": {…}} and {"name": "f", "a": 1}.
func (p *parse) nameMember(n int, at setting) bool {
	o := p.parts(n)
	if o.name == 0 {
		return false
	}
	c, known := p.named(p.text(o.name), o.name)
	c.Form, c.Offset, c.End = at.form, p.begin(n), int(p.at(n).end)
	if !p.isCall(o, known, at) {
		return false
	}
	switch {
	case p.at(n).open || o.manyArgs:
		p.broken(c)
	case o.args == 0 && o.unread != 0:
		c.Broken = &Broken{RuleSyntax, p.begin(o.unread)}
		p.calls = append(p.calls, c)
	case o.args != 0:
		c.Repairs = append(c.Repairs, p.extras(n, o.name, o.args)...)
		p.arguments(c, o.args)
	case o.others+o.metas > 0:
		c.Form = InlineArguments
		c.Arguments = p.inline(n, o.name)
		p.calls = append(p.calls, c)
	default:
		c.noArguments(c.Offset)
		p.calls = append(p.calls, c)
	}
	return true
}

// extras are the repairs for the members of n that are dropped: all but the two given ones and the properties
// of the call.
func (p *parse) extras(n, name, args int) []Repair {
	var dropped []Repair
	for m := p.child(n); m != 0; m = p.next(m) {
		if m != name && m != args && !p.isMeta(m, p.key(m)) {
			dropped = append(dropped, Repair{ExtraMember, p.begin(m)})
		}
	}
	return dropped
}

// isSchema reports whether an object is a JSON Schema, as in a tool's definition.
func (p *parse) isSchema(n int) bool {
	typed, properties := false, false
	for m := p.child(n); m != 0; m = p.next(m) {
		key, kind := p.key(m), p.at(m).kind
		typed = typed || key == "type" && kind == str && slices.Contains(objectTypes, p.text(m))
		properties = properties || key == "properties" && kind == object
	}
	return typed && properties
}

// nameKeyed reads {"f": {…}}: every key is a registered tool and every value an object. The last call is
// broken if the object was not read to its end.
func (p *parse) nameKeyed(n int, _ setting) bool {
	var found []Call
	for m := p.child(n); m != 0; m = p.next(m) {
		c, known := p.named(p.key(m), m)
		if !known || p.at(m).kind != object || p.isSchema(m) {
			return false
		}
		c.Form, c.Offset = NameKeyedObject, p.begin(m)
		found = append(found, p.held(c, m))
	}
	return p.keep(found, p.at(n).open)
}
