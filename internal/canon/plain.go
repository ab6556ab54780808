package canon

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// PlainRun is how many bytes of s, from its beginning, stand for themselves in a JSON string: all up to a control character,
// a quotation mark or a backslash. It looks at eight at a time.
func PlainRun[T string | []byte](s T) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		if stops := stopsIn(eight(s[n:])); stops != 0 {
			return n + bits.TrailingZeros64(stops)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// IsPlain reports whether all of s is ASCII that stands for itself in a JSON string.
func IsPlain[T string | []byte](s T) bool {
	last := len(s) - 8
	if last < 0 {
		for n := range len(s) {
			if c := s[n]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
				return false
			}
		}
		return true
	}
	for n := 0; n < last; n += 8 {
		if !arePlain(eight(s[n:])) {
			return false
		}
	}
	return arePlain(eight(s[last:]))
}

func arePlain(word uint64) bool { return stopsIn(word)|word&eachHigh == 0 }

const (
	eachLow  = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// stopsIn sets the high bit of the first byte that is a control character, a quotation mark or a backslash. What it sets of bytes
// after that means nothing.
func stopsIn(word uint64) uint64 {
	quote, slash := word^('"'*eachLow), word^('\\'*eachLow)
	return ((word-' '*eachLow)&^word | (quote-eachLow)&^quote | (slash-eachLow)&^slash) & eachHigh
}

func eight[T string | []byte](s T) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// beginning is the first eight bytes as a number, the first the highest; zeros stand for those that are not there.
func beginning(s []byte) (b uint64) {
	if len(s) >= 8 {
		return bits.ReverseBytes64(eight(s))
	}
	for n := range len(s) {
		b |= uint64(s[n]) << (56 - 8*n)
	}
	return b
}

// IsUTF8 is [utf8.ValidString], quicker for what records are full of: short words of ASCII.
func IsUTF8[S ~string](s S) bool { return isUTF8(string(s)) }

// UTF8 is s with U+FFFD in the place of bytes that are no UTF-8, for which JSON has no form.
func UTF8[S ~string](s S) S {
	if IsUTF8(s) {
		return s
	}
	return S(strings.ToValidUTF8(string(s), "\uFFFD"))
}

// isUTF8 looks at eight bytes at a time, the last of them mostly twice.
func isUTF8(s string) bool {
	var all uint64
	switch last := len(s) - 8; {
	case last >= 0:
		all = eight(s[last:])
		for n := 0; n < last; n += 8 {
			all |= eight(s[n:])
		}
	case last >= -4:
		all = four(s) | four(s[len(s)-4:])
	case s != "":
		all = uint64(s[0] | s[len(s)/2] | s[len(s)-1])
	}
	return all&eachHigh == 0 || utf8.ValidString(s)
}

func four(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
