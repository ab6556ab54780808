package extract

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

type kind uint8

const (
	object kind = iota + 1
	list
	str
	scalar
	call
)

// node is a value or a Python call. Its text is src[start:end] and its JSON out[from:to]. The name of a
// member is out[keyFrom:keyTo]. If open is set, it was not read to its end.
type node struct {
	kind kind
	open bool
	// dict is set if the call has one object as its argument, argued if any argument was read.
	dict, argued bool
	// paren is set if the list is a tuple.
	paren          bool
	start, end     int
	from, to       int
	keyFrom, keyTo int
	// nameEnd is the end of a call's name.
	nameEnd     int
	child, next int
}

// reader reads one literal, in the syntax of JSON, Python or JavaScript, into nodes and strict JSON. It stops
// at the first fault and keeps what was complete before. It never goes back, so reading is linear.
type reader struct {
	src      string
	pos, end int
	// limit is the offset at which the literal is too long.
	limit int
	depth int
	max   int
	// values is how many values may be read.
	values int
	// within counts the objects and calls around pos. No call may be in them.
	within  int
	nodes   []node
	out     []byte
	said    []byte // the content of the string that is being read
	repairs []Repair
	// fault is the address of first once something is wrong. Nobody keeps it.
	fault *Broken
	first Broken
	// cut is set if the fault is the end of the text.
	cut bool
	// trailed is set if the latest bracket had a trailing comma.
	trailed bool
	// lastString and afterString are the begin and the end of the last string.
	lastString, afterString int
}

// start makes r ready to read from pos to end. It reuses the memory of an earlier literal.
func (r *reader) start(src string, pos, end int, opt Options) {
	limit := pos + min(opt.MaxBytes, len(src)-pos)
	*r = reader{src: src, pos: pos, end: end, limit: limit, max: opt.MaxDepth, values: opt.MaxValues,
		nodes: append(r.nodes[:0], node{}), out: r.out[:0], said: r.said[:0], repairs: r.repairs[:0]}
}

func (r *reader) fail(rule string, offset int) bool {
	if r.fault == nil {
		r.first = Broken{Rule: rule, Offset: offset}
		r.fault = &r.first
	}
	return false
}

// ends is the fault of a text that ends within a value. The value began at offset.
func (r *reader) ends(offset int) bool {
	if r.pos < r.end {
		return r.fail(RuleSize, offset)
	}
	r.cut = true
	return r.fail(RuleSyntax, r.end)
}

// unexpected is the fault of a character that cannot be at pos.
func (r *reader) unexpected() bool {
	if r.pos >= r.stop() {
		return r.ends(r.pos)
	}
	return r.fail(RuleSyntax, r.pos)
}

func (r *reader) stop() int { return min(r.end, r.limit) }

// peek is the byte at pos, or 0 at the end. No grammar here has a 0.
func (r *reader) peek() byte {
	if r.pos >= r.stop() {
		return 0
	}
	return r.src[r.pos]
}

// maxRepairs bounds the repairs that are listed of one literal. Beyond it only the first of a kind is.
const maxRepairs = 100

func (r *reader) repaired(kind RepairKind, offset int) {
	same := func(other Repair) bool { return other.Kind == kind }
	if len(r.repairs) < maxRepairs || !slices.ContainsFunc(r.repairs, same) {
		r.repairs = append(r.repairs, Repair{Kind: kind, Offset: offset})
	}
}

// open adds a node to parent, after its child last. Parent 0 is none.
func (r *reader) open(k kind, parent, last int) int {
	n := len(r.nodes)
	if n == cap(r.nodes) {
		r.nodes = slices.Grow(r.nodes, n) // doubling copies less than append does
	}
	r.nodes = append(r.nodes, node{kind: k, open: true, start: r.pos, from: len(r.out)})
	switch {
	case last != 0:
		r.nodes[last].next = n
	case parent != 0:
		r.nodes[parent].child = n
	}
	return n
}

func (r *reader) close(n int) bool {
	r.nodes[n].open = false
	r.nodes[n].end = r.pos
	r.nodes[n].to = len(r.out)
	return true
}

// value reads a value as a child of parent, after its child last, and returns its node.
func (r *reader) value(parent, last int) (n int, ok bool) {
	if !r.space() {
		return 0, false
	}
	if len(r.nodes) > r.values {
		return 0, r.fail(RuleWork, r.pos)
	}
	c := r.peek()
	switch {
	case c == '{':
		n = r.open(object, parent, last)
		return n, r.nest(n, (*reader).object)
	case c == '[' || c == '(':
		n = r.open(list, parent, last)
		r.nodes[n].paren = c == '('
		return n, r.nest(n, (*reader).list)
	case c == '"' || c == '\'':
		n = r.open(str, parent, last)
		return n, r.string(c) && r.close(n)
	case isDigit(c) || c == '-' || c == '+' || c == '.':
		n = r.open(scalar, parent, last)
		return n, r.number() && r.close(n)
	case isNameStart(c):
		return r.word(parent, last)
	case c == '<' && r.quoteToken() != "":
		n = r.open(str, parent, last)
		return n, r.between(r.quoteToken()) && r.close(n)
	}
	return 0, r.unexpected()
}

// nest reads a bracketed node, unless it is too deep.
func (r *reader) nest(n int, read func(*reader, int) bool) bool {
	if r.depth == r.max {
		return r.fail(RuleDepth, r.pos)
	}
	r.depth++
	ok := read(r, n)
	r.depth--
	return ok && r.close(n)
}

// object reads the members of n up to its closing brace.
func (r *reader) object(n int) bool {
	r.pos++
	return r.members(n, '}', (*reader).key)
}

// members reads names and values up to the closing bracket. name reads a name and its separator.
func (r *reader) members(n int, closer byte, name func(*reader) bool) bool {
	r.within++
	defer func() { r.within-- }()
	r.out = append(r.out, '{')
	var seen names
	last := 0
	for first := true; ; first = false {
		done, ok := r.item(closer, first)
		if done {
			r.out[len(r.out)-1] = '}'
		}
		if done || !ok {
			return ok
		}
		at, from := r.pos, len(r.out)
		if !name(r) {
			return false
		}
		to := len(r.out)
		r.nodes[n].argued = true
		if r.isNamed(n, &seen, r.out[from:to]) {
			return r.fail(RuleDuplicateKey, at)
		}
		r.out = append(r.out, ':')
		m, ok := r.value(n, last)
		if m != 0 {
			r.nodes[m].keyFrom, r.nodes[m].keyTo = from, to
			last = m
		}
		if !ok {
			return false
		}
	}
}

// names are the names of an object's members, once there are many.
type names struct {
	count int
	all   map[string]bool
}

// fewNames is how many members are looked through, so that small objects, of which a text may be made, take no
// memory for their names.
const fewNames = 8

// isNamed reports whether object n has a member of a name, and adds the name to those that were seen.
func (r *reader) isNamed(n int, seen *names, name []byte) bool {
	if seen.count++; seen.count <= fewNames {
		for m := r.nodes[n].child; m != 0; m = r.nodes[m].next {
			if bytes.Equal(r.out[r.nodes[m].keyFrom:r.nodes[m].keyTo], name) {
				return true
			}
		}
		return false
	}
	if seen.all == nil {
		seen.all = map[string]bool{}
		for m := r.nodes[n].child; m != 0; m = r.nodes[m].next {
			seen.all[string(r.out[r.nodes[m].keyFrom:r.nodes[m].keyTo])] = true
		}
	}
	known := seen.all[string(name)]
	if !known {
		seen.all[string(name)] = true
	}
	return known
}

// list reads the elements of n up to its closing bracket.
func (r *reader) list(n int) bool {
	closer := byte(']')
	if r.nodes[n].paren {
		closer = ')'
		r.repaired(Tuple, r.pos)
	}
	r.pos++
	r.out = append(r.out, '[')
	last, commas := 0, false
	for first := true; ; first = false {
		done, ok := r.item(closer, first)
		if done && closer == ')' && !commas && !first && !r.trailed {
			return r.fail(RuleSyntax, r.nodes[n].start) // brackets around one value make no tuple
		}
		if done || !ok {
			return ok
		}
		commas = !first
		m, ok := r.value(n, last)
		if m != 0 {
			last = m
		}
		if !ok {
			return false
		}
	}
}

// item goes to the next item of a bracketed sequence, past the comma. At the closing bracket it is done and
// goes past that.
func (r *reader) item(closer byte, first bool) (done, ok bool) {
	if !r.space() {
		return false, false
	}
	comma := r.pos
	r.trailed = false
	if !first && r.peek() == ',' {
		r.pos++
		if !r.space() {
			return false, false
		}
		if r.peek() == closer {
			r.trailed = true
			r.repaired(TrailingComma, comma)
		} else {
			r.out = append(r.out, ',')
			return false, true
		}
	}
	if r.peek() != closer {
		return false, first || r.unexpected()
	}
	r.pos++
	if closer == ')' {
		closer = ']'
	}
	r.out = append(r.out, closer)
	return true, true
}

// key reads the name of a member and its colon.
func (r *reader) key() bool {
	if !r.keyName() || !r.space() {
		return false
	}
	if r.peek() != ':' {
		return r.unexpected()
	}
	r.pos++
	return true
}

func (r *reader) keyName() bool {
	c := r.peek()
	switch {
	case c == '"' || c == '\'':
		return r.string(c)
	case isNameStart(c):
		start := r.pos
		name := r.name()
		if constants[name] != "" || r.peek() == '(' {
			r.pos = start
			return r.unexpected()
		}
		r.repaired(UnquotedKey, start)
		return r.quote(name, start)
	}
	return r.unexpected()
}

// quote writes a text, read at offset, as a JSON string.
func (r *reader) quote(text string, offset int) bool {
	out, err := jsontext.AppendQuote(r.out, text)
	if err != nil {
		return r.fail(RuleInvalidUTF8, offset)
	}
	r.out = out
	return true
}

// word reads a constant, or a Python call if one may be here.
func (r *reader) word(parent, last int) (int, bool) {
	start, behind := r.pos, r.pos
	for behind < r.stop() && isNameByte(r.src[behind]) {
		behind++
	}
	written := r.src[start:behind]
	if json, ok := constants[written]; ok {
		n := r.open(scalar, parent, last)
		r.pos = behind
		r.out = append(r.out, json...)
		if written != json {
			r.repaired(PythonLiteral, start)
		}
		return n, r.close(n)
	}
	if end := tokenEnd(r.src[:r.stop()], start); r.within == 0 && end < r.stop() && r.src[end] == '(' {
		n := r.open(call, parent, last)
		r.nodes[n].nameEnd = end
		return n, r.nest(n, (*reader).call)
	}
	if tokenEnd(r.src[:r.end], start) == r.end {
		r.cut = true
	}
	return 0, r.unexpected()
}

// constants are the constants of JSON and Python, and the JSON of each.
var constants = map[string]string{
	"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null",
}
