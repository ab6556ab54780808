package report

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/retake-go/retake/internal/canon"
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

// next is the offset of the next name or value, once so many bytes after at were read.
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

// jsonPart is the JSON in a text, or the text itself if there is none.
func jsonPart(text string) string {
	if j, ok := findJSON(text); ok && !j.broken && isBracket(text[j.begin]) {
		return text[j.begin:j.end]
	}
	return text
}

const (
	// maxHits is the most members of one name that are found. maxDepth is the deepest level that is searched.
	maxHits  = 20
	maxDepth = 100
)

// locate finds the values that a JSON Pointer names: more than one if a name is duplicated. A span includes
// the name if the name is duplicated, or if named is set. If there is no such value, missing is set and the
// span is the place where the value belongs.
func (j *jsonText) locate(pointer string, named bool) (found []span, missing bool) {
	if pointer == "" {
		return []span{j.span}, false
	}
	tokens := canon.Path(pointer)
	if pointer[0] != '/' || len(tokens) > maxDepth {
		return nil, true
	}
	at := j.span
	for n, token := range tokens {
		all, gap := members(j.text[:at.end], at.begin)
		hits := slices.DeleteFunc(all, func(m member) bool { return m.name != token })
		if len(hits) == 0 {
			return []span{gap}, true
		}
		// Most decoders take the last of several members with one name.
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

// member is a member of an object, or an item of a list, whose number is its name. begin is the offset of its
// name.
type member struct {
	name  string
	begin int
	value span
}

// members finds the members of the value at an offset. One that is cut off counts. gap is the place for one
// more member; for a value without members, it is the value.
func members(text string, at int) (all []member, gap span) {
	in := decoder(text[at:])
	kind := in.PeekKind()
	if kind != '{' && kind != '[' {
		return nil, span{at, len(text)}
	}
	_, err := in.ReadToken()
	gap = span{at + 1, at + 1}
	for n := 0; err == nil; n++ {
		m := member{begin: next(text, at, in.InputOffset()), name: strconv.Itoa(n)}
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
		all, gap = append(all, m), span{m.value.end, m.value.end}
	}
	return all, gap
}
