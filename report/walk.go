package report

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// value is where a JSON value stands in a text, in bytes.
type value struct {
	begin, end int
	// open is set for a value that does not end: the text is broken or cut off within it.
	open bool
	kind byte // '{', '[', or 0 for all others
	// members are those of an object, and the items of a list.
	members []member
}

// member is one member of an object, or an item of a list, whose begin and end are those of its value.
type member struct {
	name string
	// begin is where the name begins.
	begin int
	value value
}

// maxWalk is how deep values are looked into.
const maxWalk = 100

// walker reads a text as far as it is JSON. It is more lenient than JSON in what no place depends on: names
// may stand twice, strings may hold any byte but a quotation mark.
type walker struct {
	text string
	at   int
}

// walk finds the values of the JSON text that begins at an offset. broken is the offset of the first byte
// that does not fit, the length of the text where it ends too soon, and -1 where the value is whole; what
// follows it is not looked at.
func walk(text string, from int) (root value, broken int) {
	w := &walker{text, from}
	root, ok := w.value(0)
	if !ok {
		return root, w.at
	}
	return root, -1
}

func (w *walker) space() {
	for w.at < len(w.text) && strings.IndexByte(" \t\r\n", w.text[w.at]) >= 0 {
		w.at++
	}
}

// next is the byte that follows after white space; 0 at the end.
func (w *walker) next() byte {
	if w.space(); w.at < len(w.text) {
		return w.text[w.at]
	}
	return 0
}

func (w *walker) value(depth int) (v value, ok bool) {
	c := w.next()
	v.begin = w.at
	switch {
	case depth > maxWalk:
	case c == '{' || c == '[':
		v.kind = c
		ok = w.within(&v, depth)
	case c == '"':
		_, ok = w.string()
	default:
		ok = w.scalar()
	}
	v.end, v.open = w.at, !ok
	return v, ok
}

// within reads the members of an object or a list, to its end.
func (w *walker) within(v *value, depth int) bool {
	closing := v.kind + 2 // ']' and '}' are two after their opening ones
	w.at++
	if w.next() == closing {
		w.at++
		return true
	}
	for {
		if !w.member(v, depth) {
			return false
		}
		switch w.next() {
		case closing:
			w.at++
			return true
		case ',':
			w.at++
		default:
			return false
		}
	}
}

// member reads one member or item. One that is broken counts as far as it goes.
func (w *walker) member(v *value, depth int) bool {
	w.next()
	m := member{begin: w.at}
	if v.kind == '{' {
		name, ok := w.string()
		if !ok || w.next() != ':' {
			return false
		}
		w.at++
		m.name = name
	}
	var ok bool
	m.value, ok = w.value(depth + 1)
	if ok || m.value.end > m.value.begin {
		v.members = append(v.members, m)
	}
	return ok
}

// string reads a string and returns what it says.
func (w *walker) string() (string, bool) {
	if w.at >= len(w.text) || w.text[w.at] != '"' {
		return "", false
	}
	begin, plain := w.at, true
	for n := begin + 1; n < len(w.text); n++ {
		switch c := w.text[n]; {
		case c == '\\':
			n, plain = n+1, false
		case c == '"':
			w.at = n + 1
			return unquote(w.text[begin:w.at], plain), true
		case c < ' ' || c >= utf8.RuneSelf:
			plain = plain && c >= utf8.RuneSelf
		}
	}
	w.at = len(w.text)
	return "", false
}

// unquote is what a string in quotation marks says; what cannot be read says itself.
func unquote(quoted string, plain bool) string {
	inner := quoted[1 : len(quoted)-1]
	if plain {
		return inner
	}
	var s string
	if json.Unmarshal([]byte(quoted), &s) != nil {
		return inner
	}
	return s
}

// scalar reads a number or a literal.
func (w *walker) scalar() bool {
	n := w.at
	for n < len(w.text) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", w.text[n]) >= 0 {
		n++
	}
	if !json.Valid([]byte(w.text[w.at:n])) {
		return false
	}
	w.at = n
	return true
}
