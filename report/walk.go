package report

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is where a JSON value stands in a text, in bytes.
type value struct {
	begin, end int
	// open is set for a value that does not end: the text is broken or cut off within it.
	open bool
	kind jsontext.Kind
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

// walker reads a text as far as it is JSON, in which names may stand twice.
type walker struct {
	text string
	from int
	in   *jsontext.Decoder
	// broken is where the text does not fit.
	broken int
}

// walk finds the values of the JSON text that begins at an offset. broken is the offset of the first byte
// that does not fit, the length of the text where it ends too soon, and -1 where the value is whole; what
// follows it is not looked at.
func walk(text string, from int) (root value, broken int) {
	in := jsontext.NewDecoder(strings.NewReader(text[from:]),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	w := &walker{text, from, in, -1}
	return w.value(0), w.broken
}

// next is where the next name or value begins.
func (w *walker) next() int {
	at := w.from + int(w.in.InputOffset())
	for at < len(w.text) && strings.IndexByte(" \t\r\n,:", w.text[at]) >= 0 {
		at++
	}
	return at
}

// fits reports whether what was read is JSON. Where it is not, the text is broken there.
func (w *walker) fits(at int, err error) bool {
	if err == nil {
		return true
	}
	if w.broken = at; errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		w.broken = len(w.text)
	}
	return false
}

func (w *walker) value(depth int) (v value) {
	v.begin = w.next()
	switch kind := w.in.PeekKind(); {
	case depth > maxWalk:
		w.broken = v.begin
	case kind == '{' || kind == '[':
		v.kind = kind
		_, err := w.in.ReadToken()
		for ok := w.fits(v.begin, err); ok; ok = w.broken < 0 {
			if closing := w.in.PeekKind(); closing == '}' || closing == ']' {
				_, err := w.in.ReadToken()
				w.fits(w.next(), err)
				break
			}
			w.member(&v, depth)
		}
	default:
		_, err := w.in.ReadValue()
		w.fits(v.begin, err)
	}
	if v.end = w.from + int(w.in.InputOffset()); w.broken >= 0 {
		v.end, v.open = w.broken, true
	}
	return v
}

// member reads one member or item. One that is broken counts as far as it goes.
func (w *walker) member(v *value, depth int) {
	m := member{begin: w.next()}
	if v.kind == '{' {
		name, err := w.in.ReadToken()
		if !w.fits(m.begin, err) {
			return
		}
		m.name = name.String()
	}
	m.value = w.value(depth + 1)
	if !m.value.open || m.value.end > m.value.begin {
		v.members = append(v.members, m)
	}
}
