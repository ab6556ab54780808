package canon

import (
	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends a string in canonical form; ok is false where it is not UTF-8, and has no such form.
func AppendString(dst []byte, s string) (to []byte, ok bool) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
			quoted, err := jsontext.AppendQuote(dst, s)
			return quoted, err == nil
		}
	}
	return append(append(append(dst, '"'), s...), '"'), true
}

// AppendJSON appends the canonical form of one JSON text; ok is false where [JSON] refuses it.
func AppendJSON(dst, raw []byte) (to []byte, ok bool) {
	if to, ok = quickly(dst, raw); ok {
		return to, true
	}
	text, err := slowly(raw)
	return append(dst, text...), err == nil
}
