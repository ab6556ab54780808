package canon

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// AppendString appends a string in canonical form; where it is not UTF-8, and has no such form, dst is returned and ok is false.
func AppendString(dst []byte, s string) (to []byte, ok bool) {
	if IsPlain(s) {
		return append(append(append(dst, '"'), s...), '"'), true
	}
	if !utf8.ValidString(s) {
		return dst, false
	}
	return appendQuoted(dst, s), true
}

// appendQuoted is [AppendString] of UTF-8.
func appendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for len(s) >= 8 {
		word := eight(s)
		dst = binary.LittleEndian.AppendUint64(dst, word)
		stops := stopsIn(word)
		if stops == 0 {
			s = s[8:]
			continue
		}
		n := bits.TrailingZeros64(stops) / 8
		dst = appendEscape(dst[:len(dst)-8+n], s[n])
		s = s[n+1:]
	}
	for n := range len(s) {
		if c := s[n]; c < ' ' || c == '"' || c == '\\' {
			dst = appendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// shortEscapes has the letter after the backslash for what has an escape of two characters.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}

func appendEscape(dst []byte, c byte) []byte {
	if short := shortEscapes[c]; short != 0 {
		return append(dst, '\\', short)
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// AppendJSON appends the canonical form of one JSON text; ok is false where [JSON] refuses it.
func AppendJSON(dst, raw []byte) (to []byte, ok bool) {
	if isCanonical(raw) {
		return append(dst, raw...), true
	}
	if to, ok = quickly(dst, raw); ok {
		return to, true
	}
	text, err := slowly(raw)
	return append(dst, text...), err == nil
}
