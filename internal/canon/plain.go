package canon

import (
	"strings"
	"unicode/utf8"
)

// IsUTF8 reports whether s is UTF-8.
func IsUTF8[S ~string](s S) bool { return utf8.ValidString(string(s)) }

// UTF8 is s with U+FFFD in the place of bytes that are not UTF-8, for which JSON has no form.
func UTF8[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }
