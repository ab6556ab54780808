package kit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"
)

// Piece is a JSON string as it came. It is nil for null, and decoding refuses any other value.
type Piece json.RawMessage

// UnmarshalJSON keeps a JSON string as it is.
func (p *Piece) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] != '"':
		return errors.New("a text is no JSON string")
	}
	*p = bytes.Clone(raw)
	return nil
}

// Pieces reads the pieces of a text that come as JSON strings. Some servers cut a character in two, between
// its bytes or between the two escapes that stand for it: it comes with the piece that ends it. The zero
// value is ready.
type Pieces struct {
	// rest is the beginning of a character, as it stood in the JSON.
	rest []byte
}

// Add returns the text that a piece completes; empty if raw is no JSON string.
func (p *Pieces) Add(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	inside := raw[1 : len(raw)-1]
	if len(p.rest) > 0 {
		inside = slices.Concat(p.rest, inside)
	}
	end := len(inside) - begunRune(inside)
	if end == len(raw)-2 && len(p.rest) == 0 {
		return Text(raw)
	}
	p.rest = bytes.Clone(inside[end:])
	return Text(slices.Concat([]byte{'"'}, inside[:end], []byte{'"'}))
}

// lenEscape is the length of an escape such as \ud83d.
const lenEscape = 6

// begunRune returns the length of the character at the end of the inside of a JSON string that is not
// complete; 0 if it is.
func begunRune(s []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if end := s[len(s)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return n
			}
			break
		}
	}
	if len(s) < lenEscape {
		return 0
	}
	escape := s[len(s)-lenEscape:]
	isHigh := escape[0] == '\\' && escape[1] == 'u' && (escape[2] == 'd' || escape[2] == 'D') &&
		bytes.IndexByte([]byte("89abAB"), escape[3]) >= 0
	slashes := len(s) - lenEscape - len(bytes.TrimRight(s[:len(s)-lenEscape], `\`))
	if isHigh && slashes%2 == 0 {
		return lenEscape
	}
	return 0
}
