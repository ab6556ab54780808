// Package sealedline reads and writes the lines of sealed journals. It is pure.
package sealedline

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
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

const (
	hashLen   = 32
	mostKeyID = 64

	beforeHash    = `{"hash":"`
	beforeKey     = `"key":"`
	beforeSession = `","session":`
	beforeSealed  = `"sealed":"`
	afterSealed   = `"}`
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
	if l.Hash == "" {
		to = append(to, '{')
	} else {
		to = append(append(append(to, beforeHash...), l.Hash...), `",`...)
	}
	to = append(append(to, beforeKey...), l.Key...)
	if l.Session != "" {
		session, err := json.Marshal(l.Session)
		if err != nil {
			return nil, err
		}
		to = append(append(to, beforeSession...), session...)
		to = append(to, ',')
	} else {
		to = append(to, `",`...)
	}
	to = base64.StdEncoding.AppendEncode(append(to, beforeSealed...), l.Sealed)
	return append(to, afterSealed...), nil
}

// errForm is the error for what is no sealed line. It has no details, because a reader says what it expects.
var errForm = errors.New(`{"hash":…,"key":…,"sealed":…} is wanted`)

// Parse reads a line. It takes only what Append writes.
func Parse(text []byte) (l Line, err error) {
	rest, hashed := bytes.CutPrefix(text, []byte(beforeHash))
	if hashed {
		if len(rest) < hashLen+2 || !isHex(rest[:hashLen]) || string(rest[hashLen:hashLen+2]) != `",` {
			return l, errForm
		}
		l.Hash, rest = string(rest[:hashLen]), rest[hashLen+2:]
	} else if rest, hashed = bytes.CutPrefix(text, []byte("{")); !hashed {
		return l, errForm
	}
	rest, keyed := bytes.CutPrefix(rest, []byte(beforeKey))
	end := bytes.IndexByte(rest[:min(len(rest), mostKeyID+1)], '"')
	if !keyed || end < 0 || !IsKeyID(string(rest[:end])) {
		return l, errForm
	}
	l.Key, rest = string(rest[:end]), rest[end:]
	rest, closed := bytes.CutSuffix(rest, []byte(afterSealed))
	begin := bytes.LastIndexByte(rest, '"') + 1 // base64 has no quotation mark
	between, framed := bytes.CutSuffix(rest[:begin], []byte(`,`+beforeSealed))
	body := rest[begin:]
	if !closed || !framed {
		return Line{}, errForm
	}
	if string(between) != `"` {
		session, there := bytes.CutPrefix(between, []byte(beforeSession))
		if !there || json.Unmarshal(session, &l.Session) != nil || l.Session == "" {
			return Line{}, errForm
		}
	}
	l.Sealed, err = base64.StdEncoding.Strict().AppendDecode(nil, body)
	if err != nil || bytes.ContainsAny(body, "\r\n") {
		return Line{}, errForm
	}
	if l.Session == "" {
		return l, nil
	}
	if whole, err := l.Append(nil); err != nil || !bytes.Equal(whole, text) {
		return Line{}, errForm
	}
	return l, nil
}

func isHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
