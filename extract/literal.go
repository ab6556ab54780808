package extract

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
)

// reader reads one literal, in the syntax of JSON, Python or JavaScript, into nodes and strict JSON. It stops
// at the first fault and keeps what was complete before. It never goes back, so reading is linear.
type reader struct {
	src      string
	pos, end int
	// limit is the offset at which the literal is too long.
	limit int
	depth int
	// left is how many more values may be read.
	left int
	// outline is set if only the nodes around pos are kept: those of what was read to its end are not needed.
	outline bool
	// within counts the objects and calls around pos. No call may be in them.
	within int
	nodes
	out     []byte
	said    []byte // the content of the string that is being read
	repairs []Repair
	// far is how far was read for the name of an argument that is none.
	far int
	// odd is the end of the latest space between tokens that JSON does not allow.
	odd int
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
func (r *reader) start(src string, pos, end int) {
	*r = reader{src: src, pos: pos, end: end, limit: pos + MaxBytes, left: MaxValues, nodes: r.nodes,
		out: r.out[:0], said: r.said[:0], repairs: r.repairs[:0], odd: -1}
	r.none()
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
	r.pos = r.stop()
	if r.pos < r.end {
		return r.fail(fault.RuleSize, offset)
	}
	r.cut = true
	return r.fail(fault.RuleSyntax, r.end)
}

// unfit is the fault of what began at an offset and cannot go on at pos: the text ends there, or is wrong.
func (r *reader) unfit(began int) bool {
	if r.pos >= r.stop() {
		return r.ends(began)
	}
	return r.fail(fault.RuleSyntax, began)
}

// unexpected is the fault of a character that cannot be at pos.
func (r *reader) unexpected() bool { return r.unfit(r.pos) }

func (r *reader) stop() int { return min(r.end, r.limit) }

// has reports whether prefix is at pos.
func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.src[r.pos:r.stop()], prefix) }

// peek returns the byte at pos, or 0 at the end. No grammar here has a 0.
func (r *reader) peek() byte {
	if r.pos >= r.stop() {
		return 0
	}
	return r.src[r.pos]
}

// maxRepairs bounds the repairs that are listed of one literal. Beyond it only the first of a kind is.
const maxRepairs = 100

func (r *reader) repaired(kind Form, offset int) {
	same := func(other Repair) bool { return other.Kind == kind }
	if len(r.repairs) < maxRepairs || !slices.ContainsFunc(r.repairs, same) {
		r.repairs = append(r.repairs, Repair{Kind: kind, Offset: offset})
	}
}

// open adds a node to parent, after its child last. Parent 0 is none.
func (r *reader) open(k kind, parent, last int) int {
	r.left--
	n := r.add(node{kind: k, open: true, start: int32(r.pos), from: int32(len(r.out))})
	switch {
	case last != 0:
		r.at(last).next = int32(n)
	case parent != 0:
		r.at(parent).child = int32(n)
	}
	if parent != 0 {
		of := r.at(parent)
		of.filled, of.mixed = true, of.mixed || k != scalar
	}
	return n
}

func (r *reader) close(n int) bool {
	read := r.at(n)
	read.open, read.end, read.to = false, int32(r.pos), int32(len(r.out))
	return true
}

// settled returns the child to go on after in a bracket: n, or 0 where nodes that were read to their end are
// not kept.
func (r *reader) settled(n int) int {
	if n == 0 || !r.outline {
		return n
	}
	r.count = n
	return 0
}

// jsonOf returns what was written of node n, keyOf the name of member n as it was written.
func (r *reader) jsonOf(n int) []byte { return r.out[r.at(n).from:r.at(n).to] }

func (r *reader) keyOf(n int) []byte { return r.out[r.at(n).name : r.at(n).from-1] }

// minFree is the free memory for what is written of a value, in bytes.
const minFree = 64

// makeRoom makes room for so many bytes. It doubles, which copies less than append does. A long value gets
// room for the rest of the text.
func (r *reader) makeRoom(size int) {
	if cap(r.out)-len(r.out) >= size {
		return
	}
	size = max(size, len(r.out))
	if size >= 1<<14 {
		size = max(size, r.stop()-r.pos)
	}
	r.out = slices.Grow(r.out, size)
}

// value reads a value as a child of parent, after its child last, and returns its node.
func (r *reader) value(parent, last int) (n int, ok bool) {
	if !r.space() {
		return 0, false
	}
	if r.left <= 0 {
		return 0, r.fail(fault.RuleWork, r.pos)
	}
	r.makeRoom(minFree)
	c := r.peek()
	switch {
	case c == '{':
		return r.nest(object, parent, last, (*reader).object)
	case c == '[' || c == '(':
		return r.nest(list, parent, last, (*reader).list)
	case c == '"' || c == '\'' || r.has(smartQuote):
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
func (r *reader) nest(k kind, parent, last int, read func(*reader, int) bool) (n int, ok bool) {
	n = r.open(k, parent, last)
	if r.depth == MaxDepth {
		return n, r.fail(fault.RuleDepth, r.pos)
	}
	r.depth++
	ok = read(r, n)
	r.depth--
	return n, ok && r.close(n)
}

// list reads the elements of n up to its closing bracket.
func (r *reader) list(n int) bool {
	closer := byte(']')
	if r.peek() == '(' {
		closer = ')'
		r.repaired(formTuple, r.pos)
	}
	r.pos++
	r.out = append(r.out, '[')
	last, commas := 0, false
	for first := true; ; first = false {
		done, ok := r.item(closer, first)
		if done && closer == ')' && !commas && !first && !r.trailed {
			return r.fail(fault.RuleSyntax, r.begin(n)) // brackets around one value make no tuple
		}
		if done || !ok {
			return ok
		}
		commas = !first
		m, ok := r.value(n, last)
		if !ok {
			return false
		}
		last = r.settled(m)
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
			r.repaired(formTrailingComma, comma)
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

// quote writes a text, read at offset, as a JSON string.
func (r *reader) quote(text string, offset int) bool { return quoteAs(r, text, offset) }

func quoteAs[T ~string | ~[]byte](r *reader, text T, offset int) bool {
	r.makeRoom(len(text) + len(`""`))
	out, err := jsontext.AppendQuote(r.out, text)
	if err != nil {
		return r.fail(fault.RuleInvalidUTF8, offset)
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
			r.repaired(formPythonLiteral, start)
		}
		return n, r.close(n)
	}
	if end := tokenEnd(r.src[:r.stop()], start); r.within == 0 && end < r.stop() && r.src[end] == '(' {
		return r.nest(call, parent, last, (*reader).call)
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
