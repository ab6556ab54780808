package canon

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// writer writes the canonical form of a JSON text in one pass. What stands in the text as it is to be written is copied as late and in
// as long pieces as can be: a canonical text in one. It knows what texts are mostly made of; where it meets anything else, or what is
// not JSON, it gives up, and the library has the word. A fuzz target holds the two equal.
type writer struct {
	in      []byte
	at      int
	done    int // what is before it in the text is written
	out     []byte
	members []written // of the objects that are open, the innermost last
	scratch []byte
	text    []byte // of a string
}

// written is a member of an object: where its name is in the text that is read, how that begins, and its place in what is written.
type written struct {
	name, nameEnd, from, to int
	begins                  uint64 // the first eight bytes, the first the highest; zeros where there are fewer
}

const (
	quickDepth   = 32      // how deep a text may be
	quickMembers = 32      // how many members of an object are sorted
	keptScratch  = 1 << 14 // how many bytes of scratch are kept for the next text
)

// writers are kept for their room alone.
var writers = sync.Pool{New: func() any { return &writer{members: make([]written, 0, 16), scratch: make([]byte, 0, 512)} }}

// quickly appends the canonical form of a text; false where the library must read it. Where dst is nil, a text that is canonical is
// itself what is returned.
func quickly(dst, raw []byte) ([]byte, bool) {
	w := writers.Get().(*writer)
	defer w.release()
	return w.write(dst, raw)
}

// quicklyText is quickly for a text that is a string, and a dst that is not nil: its bytes are copied to where the writer has room.
func quicklyText(dst []byte, text string) ([]byte, bool) {
	w := writers.Get().(*writer)
	defer w.release()
	w.text = append(w.text[:0], text...)
	return w.write(dst, w.text)
}

func (w *writer) write(dst, raw []byte) ([]byte, bool) {
	if !utf8.Valid(raw) {
		return dst, false
	}
	w.in, w.at, w.done, w.out, w.members = raw, 0, 0, dst, w.members[:0]
	if !w.value(0) || w.peek() != 0 || w.at != len(raw) {
		return dst, false
	}
	if w.done == 0 && dst == nil {
		return raw, true
	}
	w.flush()
	return w.out, true
}

func (w *writer) release() {
	if w.in, w.out = nil, nil; cap(w.scratch)+cap(w.text) <= keptScratch {
		writers.Put(w)
	}
}

// flush writes what is to be written as it stands in the text.
func (w *writer) flush() {
	w.out = append(w.out, w.in[w.done:w.at]...)
	w.done = w.at
}

// place is where in what is written the next byte comes to stand.
func (w *writer) place() int { return len(w.out) + w.at - w.done }

// peek skips white space and returns the byte that follows; 0 at the end.
func (w *writer) peek() (b byte) {
	if w.at < len(w.in) {
		b = w.in[w.at]
	}
	if b <= ' ' {
		return w.skip()
	}
	return b
}

// skip is peek where there may be white space, kept out of it so that peek is inlined.
//
//go:noinline
func (w *writer) skip() (b byte) {
	from := w.at
	for ; w.at < len(w.in); w.at++ {
		if b = w.in[w.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			break
		}
		b = 0
	}
	if w.at > from {
		w.out = append(w.out, w.in[w.done:from]...)
		w.done = w.at
	}
	return b
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
	w.at = end
	return true
}

// str writes a string.
func (w *writer) str() bool {
	for end := w.at + 1; ; end += 2 {
		end += PlainRun(w.in[end:])
		switch {
		case end == len(w.in):
			return false
		case w.in[end] == '"':
			w.at = end + 1
			return true
		case w.in[end] != '\\':
			return false
		case end+1 == len(w.in) || !isShort(w.in[end+1]):
			return w.escaped()
		}
	}
}

// isShort reports whether a backslash and the letter are the shortest escape of something.
func isShort(c byte) bool {
	switch c {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// escaped writes a string some of whose escapes may not be the shortest.
func (w *writer) escaped() bool {
	end := skipString(w.in, w.at)
	if end >= len(w.in) {
		return false
	}
	text, err := jsontext.AppendUnquote(w.scratch[:0], w.in[w.at:end+1])
	if err != nil {
		return false
	}
	w.flush()
	w.scratch, w.out = text, appendQuoted(w.out, text)
	w.at, w.done = end+1, end+1
	return true
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
	w.at = end
	return true
}

// digits returns the offset of the first byte at or after i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// next steps over a comma, or over the bracket that ends an array or an object; ok is false where neither stands there.
func (w *writer) next(end byte) (more, ok bool) {
	b := w.peek()
	if b != ',' && b != end {
		return false, false
	}
	w.at++
	return b == ',', true
}

func (w *writer) array(depth int) bool {
	w.at++
	if w.peek() == ']' {
		w.at++
		return true
	}
	for more, ok := true, true; more; {
		if !w.value(depth) {
			return false
		}
		if more, ok = w.next(']'); !ok {
			return false
		}
	}
	return true
}

func (w *writer) object(depth int) bool {
	w.at++
	if w.peek() == '}' {
		w.at++
		return true
	}
	first, sorted := len(w.members), true
	for more := true; more; {
		m, ok := w.member(depth)
		if !ok {
			return false
		}
		if n := len(w.members); n > first {
			less, _ := w.less(&w.members[n-1], &m)
			sorted = sorted && less
		}
		w.members = append(w.members, m)
		if more, ok = w.next('}'); !ok {
			return false
		}
	}
	if !sorted && !w.sort(w.members[first:]) {
		return false
	}
	w.members = w.members[:first]
	return true
}

// member writes a member. Names are plain ASCII, so that the order of their bytes is that of RFC 8785.
func (w *writer) member(depth int) (m written, ok bool) {
	if w.peek() != '"' {
		return m, false
	}
	end := w.at + 1 + PlainRun(w.in[w.at+1:])
	if end == len(w.in) || w.in[end] != '"' {
		return m, false
	}
	name := w.in[w.at+1 : end]
	if m = (written{name: w.at + 1, nameEnd: end, from: w.place(), begins: beginning(name)}); !isASCII(name) {
		return m, false
	}
	if w.at = end + 1; w.peek() != ':' {
		return m, false
	}
	w.at++
	ok = w.value(depth)
	m.to = w.place()
	return m, ok
}

// less compares names; same is set where both are one.
func (w *writer) less(a, b *written) (less, same bool) {
	if a.begins != b.begins {
		return a.begins < b.begins, false
	}
	order := bytes.Compare(w.in[a.name:a.nameEnd], w.in[b.name:b.nameEnd])
	return order < 0, order == 0
}

// sort puts the members of an object, the last things written but for a bracket, in order; false where they are many, or two have
// one name.
func (w *writer) sort(members []written) bool {
	if len(members) > quickMembers {
		return false
	}
	w.flush()
	start := members[0].from
	for n := range members {
		for at := n; at > 0; at-- {
			less, same := w.less(&members[at-1], &members[at])
			if same {
				return false
			}
			if less {
				break
			}
			members[at-1], members[at] = members[at], members[at-1]
		}
	}
	to := w.scratch[:0]
	for n := range members {
		to = append(append(to, w.out[members[n].from:members[n].to]...), ',')
	}
	copy(w.out[start:], to[:len(to)-1])
	w.scratch = to
	return true
}
