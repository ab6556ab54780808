package report

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/report/internal/told"
)

// span is a part of a text, in bytes. An empty span is a place between two bytes.
type span struct{ begin, end int }

// jsonText is a JSON value in a text.
type jsonText struct {
	text string
	span
	// broken is set if the value is invalid or cut off. end is then the first invalid byte, or the end of
	// the text.
	broken bool
}

// readJSON reads the value at an offset. White space before it is skipped.
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

// decoder accepts what models write: duplicate names and invalid UTF-8.
func decoder(text string) *jsontext.Decoder {
	return jsontext.NewDecoder(strings.NewReader(text),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// next returns the offset of the next name or value, once so many bytes after at were read.
func next(text string, at int, read int64) int {
	rest := text[at+int(read):]
	return len(text) - len(strings.TrimLeft(rest, " \t\r\n,:"))
}

// maxTries is how many brackets of a text are tried as the beginning of its JSON.
const maxTries = 32

// findJSON finds the JSON in a text: the whole text, else the first valid object or list, else the first
// object.
func findJSON(text string) (found jsonText, ok bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || told.IsRedacted(trimmed) {
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

// jsonPart returns the JSON in a text, or the text itself if there is none.
func jsonPart(text string) string {
	if j, ok := findJSON(text); ok && !j.broken && isBracket(text[j.begin]) {
		return text[j.begin:j.end]
	}
	return text
}

// maxDepth is the deepest level that is searched.
const maxDepth = 100

// locate finds the value that a JSON Pointer names; of several members with one name the last, as most
// decoders do. It returns false if there is none.
func (j *jsonText) locate(pointer string) (at span, found bool) {
	tokens := canon.Path(pointer)
	if pointer == "" || pointer[0] != '/' || len(tokens) > maxDepth {
		return at, false
	}
	at = j.span
	for _, token := range tokens {
		found = false
		for _, m := range members(j.text[:at.end], at.begin) {
			if m.name == token {
				at, found = m.value, true
			}
		}
		if !found {
			return at, false
		}
	}
	return at, true
}

// member is a member of an object, or an item of a list, whose number is its name.
type member struct {
	name  string
	value span
}

// members finds the members of the value at an offset. One that is cut off counts.
func members(text string, at int) (all []member) {
	in := decoder(text[at:])
	kind := in.PeekKind()
	if !isBracket(byte(kind)) {
		return nil
	}
	_, err := in.ReadToken()
	for n := 0; err == nil; n++ {
		m := member{name: strconv.Itoa(n)}
		if closing := in.PeekKind(); closing == '}' || closing == ']' {
			break
		}
		if kind == '{' {
			read, broken := in.ReadToken()
			if broken != nil {
				break
			}
			m.name = read.String()
		}
		m.value.begin = next(text, at, in.InputOffset())
		err = in.SkipValue()
		if m.value.end = at + int(in.InputOffset()); err != nil {
			m.value.end = len(text)
		}
		if m.value.end <= m.value.begin {
			break
		}
		all = append(all, m)
	}
	return all
}
