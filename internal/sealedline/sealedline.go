// Package sealedline reads and writes the lines of sealed journals. It is pure.
package sealedline

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// Line is a line of a sealed journal, without its line feed:
//
//	{"hash":"…32 hex digits…","key":"ID","session":"order-42","sealed":"…base64…"}
type Line struct {
	// Hash is the keyed hash of the text. A sealed item of an inbox has none.
	Hash string
	// Key is the id of the key.
	Key string
	// Session is the session of the journal. Its first line has it, and no other.
	Session string
	// Sealed is the sealed text.
	Sealed []byte
}

// The lengths of a hash, and of the longest id of a key.
const (
	hashLen   = 32
	mostKeyID = 64
)

// IsKeyID reports whether a text can be the id of a key: 1 to 64 of A-Z, a-z, 0-9, dot, underscore and
// hyphen.
func IsKeyID(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' &&
			c != '_' && c != '-' {
			return false
		}
	}
	return len(id) > 0 && len(id) <= mostKeyID
}

// Append appends a line. Its key must be valid; its hash is empty or valid.
func (l *Line) Append(to []byte) ([]byte, error) {
	to = append(to, '{')
	if l.Hash != "" {
		to = append(append(append(to, `"hash":"`...), l.Hash...), `",`...)
	}
	to = append(append(append(to, `"key":"`...), l.Key...), `",`...)
	if l.Session != "" {
		session, err := json.Marshal(l.Session)
		if err != nil {
			return nil, err
		}
		to = append(append(append(to, `"session":`...), session...), ',')
	}
	to = base64.StdEncoding.AppendEncode(append(to, `"sealed":"`...), l.Sealed)
	return append(to, `"}`...), nil
}

// errForm is the error for what is no sealed line. It has no details, because a reader says what it expects.
var errForm = errors.New(`{"hash":…,"key":…,"sealed":…} is wanted`)

// Parse reads a line. It takes only what Append writes.
func Parse(text []byte) (l Line, err error) {
	rest, closed := bytes.CutSuffix(text, []byte(`"}`))
	begin := bytes.LastIndexByte(rest, '"') + 1 // base64 has no quotation mark
	frame, body := rest[:begin], rest[begin:]
	l.Hash, l.Key = textAfter(`{"hash":"`, frame), textAfter(`"key":"`, frame)
	if _, after, has := bytes.Cut(frame, []byte(`,"session":`)); has {
		session, _, _ := bytes.Cut(after, []byte(`,"sealed":"`))
		err = json.Unmarshal(session, &l.Session)
	}
	if err != nil || !closed || !IsKeyID(l.Key) || l.Hash != "" && !isHash(l.Hash) {
		return Line{}, errForm
	}
	written, err := l.Append(make([]byte, 0, begin+len(`"}`)))
	if err != nil || !bytes.Equal(written[:len(written)-len(`"}`)], frame) {
		return Line{}, errForm
	}
	l.Sealed, err = base64.StdEncoding.Strict().AppendDecode(nil, body)
	if err != nil || bytes.ContainsAny(body, "\r\n") {
		return Line{}, errForm
	}
	return l, nil
}

// textAfter returns what stands between a text and the next quotation mark.
func textAfter(before string, in []byte) string {
	_, after, _ := bytes.Cut(in, []byte(before))
	text, _, _ := bytes.Cut(after, []byte{'"'})
	return string(text)
}

func isHash(text string) bool {
	return len(text) == hashLen && strings.Trim(text, "0123456789abcdef") == ""
}
