package file

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/fields"
)

// walker notes the places of all keys and entries of JSON.
type walker struct {
	*reader
	in    *jsontext.Decoder
	data  []byte
	lines lines
	// at are the places of keys and of the tokens that begin a value, for JSON that was made from YAML.
	at     []place
	tokens int
}

// walk notes the places in one value, and reports whether there is nothing else.
func (w *walker) walk(data []byte) bool {
	found := len(w.faults)
	w.in = jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if w.value("", 0) && w.at == nil {
		if where := w.next(); len(bytes.TrimSpace(data[w.in.InputOffset():])) > 0 {
			if _, ok := w.token(0); ok {
				w.fault(where, "", "more than one JSON value", "a file has one object")
			}
		}
	}
	for _, f := range w.faults[found:] {
		if f.Path == "" {
			return false
		}
	}
	return true
}

// next returns where the next token starts.
func (w *walker) next() place {
	if w.at != nil {
		return w.at[min(w.tokens, len(w.at)-1)]
	}
	rest := bytes.TrimLeft(w.data[w.in.InputOffset():], " \t\r\n,:")
	return w.lines.of(len(w.data) - len(rest))
}

// token reads a token that begins a value, or a key.
func (w *walker) token(depth int) (jsontext.Token, bool) {
	where := w.next()
	t, err := w.in.ReadToken()
	if err != nil {
		w.fault(w.lines.of(fields.Offset(w.data, err)), "", "the file is no valid JSON here", jsonHint(w.data, err))
		return t, false
	}
	if w.tokens++; depth > maxDepth || w.tokens > maxTokens {
		w.fault(where, "", "too much: nested too deep, or too long",
			fmt.Sprintf("at most %d levels and %d values are read", maxDepth, maxTokens))
		return t, false
	}
	return t, true
}

// jsonHint says what would be right where a text stops being JSON.
func jsonHint(data []byte, err error) string {
	hint := fields.Expected(data, err)
	if hint == "expected no comments" {
		hint += "; name the file .yaml to have some"
	}
	return hint
}

// value walks one value.
func (w *walker) value(path string, depth int) bool {
	t, ok := w.token(depth)
	if !ok {
		return false
	}
	switch t.Kind() {
	case '{':
		for w.in.PeekKind() != '}' {
			if !w.member(path, depth+1) {
				return false
			}
		}
	case '[':
		for n := 0; w.in.PeekKind() != ']'; n++ {
			at, where := fields.Item(path, n), w.next()
			w.places[fields.Shown(at)] = spot{where, where}
			if !w.value(at, depth+1) {
				return false
			}
		}
	default:
		return true
	}
	_, err := w.in.ReadToken()
	return err == nil
}

func (w *walker) member(path string, depth int) bool {
	where := w.next()
	key, ok := w.token(depth)
	if !ok {
		return false
	}
	path = fields.Join(path, key.String())
	shown := fields.Shown(path)
	if first, twice := w.places[shown]; twice {
		w.fault(where, shown, "this key appears twice",
			fmt.Sprintf("the first is at line %d; leave one out", first.key.line))
	} else {
		w.places[shown] = spot{where, w.next()}
	}
	return w.value(path, depth)
}

// lines finds the places of byte offsets. Offsets that come in order are found in one pass over the data.
type lines struct {
	data   []byte
	offset int
	at     place
}

// of returns the place of an offset; one beyond the end is the end.
func (l *lines) of(offset int) place {
	if l.at.line == 0 || offset < l.offset {
		l.offset, l.at = 0, start
	}
	for l.offset < min(offset, len(l.data)) {
		c, size := utf8.DecodeRune(l.data[l.offset:])
		l.offset += size
		l.at.column++
		if c == '\n' {
			l.at = place{l.at.line + 1, 1}
		}
	}
	return l.at
}
