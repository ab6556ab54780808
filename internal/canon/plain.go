package canon

import (
	"strings"
	"unicode/utf8"
)

// IsUTF8 reports whether s is UTF-8.
func IsUTF8[S ~string](s S) bool { return utf8.ValidString(string(s)) }

// UTF8 returns s with invalid UTF-8 replaced by U+FFFD, because JSON has no form for it.
func UTF8[S ~string](s S) S { return S(strings.ToValidUTF8(string(s), "\uFFFD")) }

// Cut shortens s to limit bytes without splitting a character. It ends in "…" if there is room for that.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	tail := "…"
	if limit < len(tail) {
		tail = ""
	}
	end := max(limit-len(tail), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + tail
}
