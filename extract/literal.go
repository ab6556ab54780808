package extract

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/fault"
)

type kind uint8

const (
	object kind = iota + 1
	list
	str
	scalar
	call
)

// node is a value or a Python call. Its text is src[start:end] and its JSON out[from:to]. If open is set, it
// was not read to its end.
type node struct {
	kind kind
	open bool
	// dict is set if the call has one object as its argument, argued if any argument was read.
	dict, argued bool
	// filled is set if it has a child, mixed if one of them is no scalar.
	filled, mixed bool
	start, end    int32
	from, to      int32
	// name is where the name of a member begins in out; 0 for other values. It ends before the colon. For a
	// call, name is where its name ends in the text.
	name        int32
	child, next int32
}

// maxText is how much of a text is read: what is written of it, less than eight times as much, has offsets of
// 32 bits.
const maxText = 256 << 20

// nodes are the nodes of a literal, in blocks, so that none is copied when there are more. Node 0 is none.
type nodes struct {
	blocks [][]node
	count  int
}

// A text of brackets has many literals of a few nodes, so the first block is small.
const (
	firstNodes = 16
	blockNodes = 1024
)

func (s *nodes) at(n int) *node {
	if n < firstNodes {
		return &s.blocks[0][n]
	}
	n -= firstNodes
	return &s.blocks[1+n/blockNodes][n%blockNodes]
}

// kind is that of node n, child its first child, next the child after it, begin where it begins in the text.
func (s *nodes) kind(n int) kind { return s.at(n).kind }
func (s *nodes) child(n int) int { return int(s.at(n).child) }
func (s *nodes) next(n int) int  { return int(s.at(n).next) }
func (s *nodes) begin(n int) int { return int(s.at(n).start) }

// add adds a node and returns its number.
func (s *nodes) add(of node) int {
	n := s.count
	if s.count++; len(s.blocks) == 0 {
		s.blocks = append(s.blocks, make([]node, firstNodes))
	} else if 1+(n-firstNodes)/blockNodes == len(s.blocks) && n >= firstNodes {
		s.blocks = append(s.blocks, make([]node, blockNodes))
	}
	*s.at(n) = of
	return n
}

func (s *nodes) none() {
	s.count = 0
	s.add(node{})
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
	values, left int
	// outline is set if only the nodes around pos are kept: those of what was read to its end are not needed.
	outline bool
	// within counts the objects and calls around pos. No call may be in them.
	within int
	nodes
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
	spare                   []map[digest]struct{} // for the names of further objects
}

// start makes r ready to read from pos to end. It reuses the memory of an earlier literal.
func (r *reader) start(src string, pos, end int, opt Options) {
	limit := pos + min(opt.MaxBytes, len(src)-pos)
	*r = reader{src: src, pos: pos, end: end, limit: limit, max: opt.MaxDepth,
		values: opt.MaxValues, left: opt.MaxValues, nodes: r.nodes,
		out: r.out[:0], said: r.said[:0], repairs: r.repairs[:0], spare: r.spare}
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

// unexpected is the fault of a character that cannot be at pos.
func (r *reader) unexpected() bool {
	if r.pos >= r.stop() {
		return r.ends(r.pos)
	}
	return r.fail(fault.RuleSyntax, r.pos)
}

func (r *reader) stop() int { return min(r.end, r.limit) }

// has reports whether prefix is at pos.
func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.src[r.pos:r.stop()], prefix) }

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

// settled is the child to go on after in a bracket: n, or 0 where nodes that were read to their end are not
// kept.
func (r *reader) settled(n int) int {
	if n == 0 || !r.outline {
		return n
	}
	r.count = n
	return 0
}

// jsonOf is what was written of node n, keyOf the name of member n as it was written.
func (r *reader) jsonOf(n int) []byte { return r.out[r.at(n).from:r.at(n).to] }

func (r *reader) keyOf(n int) []byte {
	m := r.at(n)
	if m.name == 0 {
		return nil
	}
	return r.out[m.name : m.from-1]
}

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
func (r *reader) nest(k kind, parent, last int, read func(*reader, int) bool) (n int, ok bool) {
	n = r.open(k, parent, last)
	if r.depth == r.max {
		return n, r.fail(fault.RuleDepth, r.pos)
	}
	r.depth++
	ok = read(r, n)
	r.depth--
	return n, ok && r.close(n)
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
	defer r.done(&seen)
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
		r.at(n).argued = true
		if r.isNamed(&seen, span{int32(from), int32(len(r.out))}) {
			return r.fail(fault.RuleDuplicateKey, at)
		}
		r.out = append(r.out, ':')
		m, ok := r.value(n, last)
		if m != 0 {
			r.at(m).name = int32(from)
		}
		if !ok {
			return false
		}
		last = r.settled(m)
	}
}

// span is a place in what was written, digest stands for the text there.
type (
	span   struct{ from, to int32 }
	digest [8]byte
)

// names are the names of an object's members: the places of a few, or the digests of all. Digests are small,
// and nobody can make names whose digests are slow to tell apart.
type names struct {
	count int
	few   [8]span
	all   map[digest]struct{}
}

// isNamed reports whether a name is among those that were seen, and adds it.
func (r *reader) isNamed(seen *names, at span) bool {
	name := r.out[at.from:at.to]
	if seen.count < len(seen.few) {
		for _, other := range seen.few[:seen.count] {
			if bytes.Equal(r.out[other.from:other.to], name) {
				return true
			}
		}
		seen.few[seen.count] = at
		seen.count++
		return false
	}
	if seen.all == nil {
		seen.all = r.digests()
		for _, other := range seen.few {
			seen.all[digestOf(r.out[other.from:other.to])] = struct{}{}
		}
	}
	before := len(seen.all)
	seen.all[digestOf(name)] = struct{}{}
	return len(seen.all) == before
}

func digestOf(name []byte) digest {
	sum := sha256.Sum256(name)
	return digest(sum[:len(digest{})])
}

// digests is an empty set, where possible that of an earlier object.
func (r *reader) digests() map[digest]struct{} {
	last := len(r.spare) - 1
	if last < 0 {
		return map[digest]struct{}{}
	}
	set := r.spare[last]
	r.spare = r.spare[:last]
	return set
}

// done keeps the names of a small object for the next one. A large set would take long to empty.
func (r *reader) done(seen *names) {
	if seen.all != nil && len(seen.all) <= 8*len(seen.few) {
		clear(seen.all)
		r.spare = append(r.spare, seen.all)
	}
}

// list reads the elements of n up to its closing bracket.
func (r *reader) list(n int) bool {
	closer := byte(']')
	if r.peek() == '(' {
		closer = ')'
		r.repaired(Tuple, r.pos)
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
			r.repaired(PythonLiteral, start)
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
