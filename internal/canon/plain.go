package canon

import (
	"strings"
	"unicode/utf8"
)

// PlainRun is how many bytes of s, from its beginning, stand for themselves in a JSON string: all up to a
// control character, a quotation mark or a backslash.
func PlainRun[T string | []byte](s T) int {
	n := 0
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// IsUTF8 reports whether s is UTF-8.
func IsUTF8[S ~string](s S) bool { return utf8.ValidString(string(s)) }

// UTF8 is s with U+FFFD in the place of bytes that are not UTF-8, for which JSON has no form.
func UTF8[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }
