package report

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a part of a text, in bytes. An empty one is a place between two bytes.
type span struct{ begin, end int }

// jsonText is a JSON value in a text.
type jsonText struct {
	text string
	span
	// broken is set where the value does not end. Its end is then the first byte that does not fit, or the
	// end of a text that ends too soon.
	broken bool
}

// readJSON reads the value that begins at an offset, white space aside.
func readJSON(text string, at int) jsonText {
	in := decoder(text[at:])
	err := in.SkipValue()
	j := jsonText{text, span{next(text, at, 0), at + int(in.InputOffset())}, err != nil}
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		j.end = len(text)
	case isSyntax:
		j.end = at + int(syntax.ByteOffset)
	}
	return j
}

// decoder reads values of models: names may stand twice, and bytes need be no UTF-8.
func decoder(text string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(text),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// next is where the next name or value begins, after what was read of the value at an offset.
func next(text string, at int, read int64) int {
	rest := text[at+int(read):]
	return len(text) - len(strings.TrimLeft(rest, " \t\r\n,:"))
}

// maxTries bounds how many brackets of a text are tried as the beginning of its JSON.
const maxTries = 32

// findJSON finds the JSON of a text: the whole of it, else the first object or list that is whole, else the
// first object there is.
func findJSON(text string) (found jsonText, ok bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || isRedacted(trimmed) {
		return found, false
	}
	at := len(text) - len(trimmed)
	found = readJSON(text, at)
	if isBracket(trimmed[0]) || !found.broken && strings.TrimSpace(text[found.end:]) == "" {
		return found, true
	}
	for range maxTries {
		next := strings.IndexAny(text[at:], "{[")
		if next < 0 {
			break
		}
		at += next
		j := readJSON(text, at)
		if !j.broken {
			return j, true
		}
		if !ok && text[at] == '{' {
			found, ok = j, true
		}
		at++
	}
	return found, ok
}

func isBracket(c byte) bool { return c == '{' || c == '[' }

// jsonPart is the JSON of a text where it holds some, else the text.
func jsonPart(text string) string {
	if j, ok := findJSON(text); ok && !j.broken && isBracket(text[j.begin]) {
		return text[j.begin:j.end]
	}
	return text
}

const (
	// maxHits bounds the members of one name that are found, maxDepth how deep they are looked for.
	maxHits  = 20
	maxDepth = 100
)

// locate finds the values that a JSON Pointer names: more than one where a name stands twice. Where it
// stands twice, and where it is the name that is wrong, the span holds the name too. Where there is no such
// value, it gives the place where it could stand, and missing is set.
func (j *jsonText) locate(pointer string, named bool) (found []span, missing bool) {
	if pointer == "" {
		return []span{j.span}, false
	}
	tokens := strings.Split(pointer[1:], "/")
	if pointer[0] != '/' || len(tokens) > maxDepth {
		return nil, true
	}
	at := j.span
	for n, token := range tokens {
		hits, gap := members(j.text[:at.end], at.begin, unescape(token))
		if len(hits) == 0 {
			return []span{gap}, true
		}
		// The last of the same name is the one that most readers take.
		at = hits[len(hits)-1].value
		if n == len(tokens)-1 && (len(hits) > 1 || named) {
			for _, m := range hits[:min(len(hits), maxHits)] {
				found = append(found, span{m.begin, m.value.end})
			}
			return found, false
		}
	}
	return []span{at}, false
}

// member is one member of an object, or an item of a list: begin is where its name begins.
type member struct {
	begin int
	value span
}

// members are the members of a name, or the item of a number, in the value at an offset. One that is broken
// counts as far as it goes. gap is where one more would stand; of what can hold none it is all.
func members(text string, at int, token string) (hits []member, gap span) {
	in := decoder(text[at:])
	kind := in.PeekKind()
	if kind != '{' && kind != '[' {
		return nil, span{at, len(text)}
	}
	_, err := in.ReadToken()
	gap = span{at + 1, at + 1}
	for n := 0; err == nil; n++ {
		m, name := member{begin: next(text, at, in.InputOffset())}, strconv.Itoa(n)
		if closing := in.PeekKind(); closing == '}' || closing == ']' {
			break
		}
		if kind == '{' {
			read, broken := in.ReadToken()
			if broken != nil {
				break
			}
			name = read.String()
		}
		m.value.begin = next(text, at, in.InputOffset())
		err = in.SkipValue()
		if m.value.end = at + int(in.InputOffset()); err != nil {
			m.value.end = len(text)
		}
		if m.value.end <= m.value.begin {
			break
		}
		if gap = (span{m.value.end, m.value.end}); name == token {
			hits = append(hits, m)
		}
	}
	return hits, gap
}

// unescape reads one token of a JSON Pointer.
func unescape(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
