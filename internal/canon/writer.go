package canon

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// writer writes the canonical form of a JSON text in one pass. It knows what texts are mostly made of; where it meets anything
// else, or what is not JSON, it gives up, and the library has the word. A fuzz target holds the two equal.
type writer struct {
	in      []byte
	at      int
	out     []byte
	members []written // of the objects that are open, the innermost last
	scratch []byte
}

// written is a member of an object: where its name is in the text that is read, and its place in what is written, a comma
// included.
type written struct{ name, nameEnd, from, to int }

const (
	quickDepth   = 32      // how deep a text may be
	quickMembers = 32      // how many members of an object are sorted
	keptScratch  = 1 << 14 // how many bytes of scratch are kept for the next text
)

// writers are kept for their room alone.
var writers = sync.Pool{New: func() any { return &writer{members: make([]written, 0, 16), scratch: make([]byte, 0, 512)} }}

// quickly appends the canonical form of a text; false where the library must read it.
func quickly(dst, raw []byte) ([]byte, bool) {
	if !utf8.Valid(raw) {
		return dst, false
	}
	w := writers.Get().(*writer)
	w.in, w.at, w.out, w.members = raw, 0, dst, w.members[:0]
	to, ok := dst, w.value(0) && w.peek() == 0 && w.at == len(raw)
	if ok {
		to = w.out
	}
	if w.in, w.out = nil, nil; cap(w.scratch) <= keptScratch {
		writers.Put(w)
	}
	return to, ok
}

// peek skips white space and returns the byte that follows; 0 at the end.
func (w *writer) peek() byte {
	for ; w.at < len(w.in); w.at++ {
		if b := w.in[w.at]; b > ' ' || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// eat steps over white space and one byte, if it is that byte.
func (w *writer) eat(b byte) bool {
	if w.peek() != b {
		return false
	}
	w.at++
	return true
}

// copy writes the text up to an offset as it stands.
func (w *writer) copy(end int) {
	w.out = append(w.out, w.in[w.at:end]...)
	w.at = end
}

func (w *writer) value(depth int) bool {
	switch w.peek() {
	case '{':
		return depth < quickDepth && w.object(depth+1)
	case '[':
		return depth < quickDepth && w.array(depth+1)
	case '"':
		return w.str()
	case 't':
		return w.word("true")
	case 'f':
		return w.word("false")
	case 'n':
		return w.word("null")
	}
	return w.number()
}

func (w *writer) word(word string) bool {
	end := w.at + len(word)
	if end > len(w.in) || string(w.in[w.at:end]) != word {
		return false
	}
	w.copy(end)
	return true
}

// str writes a string. Of one with escapes the library makes the shortest form.
func (w *writer) str() bool {
	end := w.at + 1 + PlainRun(w.in[w.at+1:])
	switch {
	case end == len(w.in):
		return false
	case w.in[end] == '"':
		w.copy(end + 1)
		return true
	case w.in[end] != '\\':
		return false
	}
	if end = skipString(w.in, w.at); end >= len(w.in) {
		return false
	}
	text, err := jsontext.AppendUnquote(w.scratch[:0], w.in[w.at:end+1])
	if err != nil {
		return false
	}
	w.scratch, w.at = text, end+1
	w.out, err = jsontext.AppendQuote(w.out, text)
	return err == nil
}

// number writes a number as it stands.
func (w *writer) number() bool {
	end := w.at
	if end < len(w.in) && w.in[end] == '-' {
		end++
	}
	first := end
	if end = digits(w.in, end); end == first || end > first+1 && w.in[first] == '0' {
		return false
	}
	if end < len(w.in) && w.in[end] == '.' {
		first = end + 1
		if end = digits(w.in, first); end == first {
			return false
		}
	}
	if end < len(w.in) && w.in[end]|0x20 == 'e' {
		if end++; end < len(w.in) && (w.in[end] == '+' || w.in[end] == '-') {
			end++
		}
		first = end
		if end = digits(w.in, first); end == first {
			return false
		}
	}
	w.copy(end)
	return true
}

// digits returns the offset of the first byte at or after i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func (w *writer) array(depth int) bool {
	w.at++
	w.out = append(w.out, '[')
	if w.eat(']') {
		w.out = append(w.out, ']')
		return true
	}
	for {
		if !w.value(depth) {
			return false
		}
		b := w.peek()
		if b != ',' && b != ']' {
			return false
		}
		w.at++
		w.out = append(w.out, b)
		if b == ']' {
			return true
		}
	}
}

func (w *writer) object(depth int) bool {
	w.at++
	w.out = append(w.out, '{')
	if w.eat('}') {
		w.out = append(w.out, '}')
		return true
	}
	first, sorted := len(w.members), true
	for more := true; more; more = w.eat(',') {
		m, ok := w.member(depth)
		if !ok {
			return false
		}
		if n := len(w.members); n > first {
			sorted = sorted && w.compare(w.members[n-1], m) < 0
		}
		w.members = append(w.members, m)
	}
	if !w.eat('}') || !sorted && !w.sort(w.members[first:]) {
		return false
	}
	w.members = w.members[:first]
	w.out[len(w.out)-1] = '}'
	return true
}

// member writes a member and a comma. Names are plain ASCII, so that the order of their bytes is that of RFC 8785.
func (w *writer) member(depth int) (written, bool) {
	if w.peek() != '"' {
		return written{}, false
	}
	end := w.at + 1 + PlainRun(w.in[w.at+1:])
	m := written{name: w.at + 1, nameEnd: end, from: len(w.out)}
	if end == len(w.in) || w.in[end] != '"' {
		return m, false
	}
	for _, b := range w.in[m.name:end] {
		if b >= utf8.RuneSelf {
			return m, false
		}
	}
	w.copy(end + 1)
	if !w.eat(':') {
		return m, false
	}
	w.out = append(w.out, ':')
	ok := w.value(depth)
	w.out = append(w.out, ',')
	m.to = len(w.out)
	return m, ok
}

func (w *writer) compare(a, b written) int {
	return bytes.Compare(w.in[a.name:a.nameEnd], w.in[b.name:b.nameEnd])
}

// sort puts the members of an object, the last things written, in order; false where they are many, or two have one name.
func (w *writer) sort(members []written) bool {
	if len(members) > quickMembers {
		return false
	}
	start := members[0].from
	for n := range members {
		for at := n; at > 0; at-- {
			order := w.compare(members[at-1], members[at])
			if order == 0 {
				return false
			}
			if order < 0 {
				break
			}
			members[at-1], members[at] = members[at], members[at-1]
		}
	}
	w.scratch = w.scratch[:0]
	for _, m := range members {
		w.scratch = append(w.scratch, w.out[m.from:m.to]...)
	}
	copy(w.out[start:], w.scratch)
	return true
}
