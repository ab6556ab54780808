package canon

import (
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// writer writes the canonical form of a JSON text in one pass. It knows what texts are mostly made of; where it meets anything else, or
// what is not JSON, it gives up, and the library has the word. A fuzz target holds the two equal.
type writer struct {
	Form
	at int
}

const quickDepth = 32 // how deep a text may be

// writers are kept for their room alone.
var writers = sync.Pool{New: func() any { return &writer{Form: newForm()} }}

// quickly appends the canonical form of a text; false where the library must read it.
func quickly(dst, raw []byte) ([]byte, bool) {
	w := writers.Get().(*writer)
	defer w.release()
	return w.write(dst, raw)
}

// quicklyText is quickly for a text that is a string.
func quicklyText(dst []byte, text string) ([]byte, bool) {
	w := writers.Get().(*writer)
	defer w.release()
	return w.write(dst, w.copied(text))
}

func (w *writer) write(dst, raw []byte) ([]byte, bool) {
	if !utf8.Valid(raw) {
		return dst, false
	}
	w.begin(dst, raw)
	w.at = 0
	if !w.value(0) || w.peek() != 0 || w.at != len(raw) {
		return dst, false
	}
	w.flush(w.at)
	return w.out, true
}

func (w *writer) release() {
	if w.forget() {
		writers.Put(w)
	}
}

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
		w.Skip(from, w.at)
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
		return w.stands(stringEnd(w.in, w.at)) || w.escaped()
	}
	return w.stands(valueEnd(w.in, w.at, depth))
}

// stands writes a value as it stands, up to where it ends.
func (w *writer) stands(end int) bool {
	if end == nowhere {
		return false
	}
	w.at = end
	return true
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
	w.scratch = text
	w.flush(w.at)
	w.out = appendQuoted(w.out, text)
	w.at, w.done = end+1, end+1
	return true
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
	first := w.Open()
	for more := true; more; {
		if !w.member(depth) {
			return false
		}
		var ok bool
		if more, ok = w.next('}'); !ok {
			return false
		}
	}
	w.close(first, w.at)
	return !w.odd
}

// member writes a member.
func (w *writer) member(depth int) bool {
	if w.peek() != '"' {
		return false
	}
	end := w.at + 1 + PlainRun(w.in[w.at+1:])
	if end == len(w.in) || w.in[end] != '"' {
		return false
	}
	w.name(w.at, end+1)
	if w.at = end + 1; w.peek() != ':' {
		return false
	}
	w.at++
	if !w.value(depth) {
		return false
	}
	w.Value(w.at)
	return true
}
