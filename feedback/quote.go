package feedback

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxQuoted bounds the result of [Quote], in bytes.
const MaxQuoted = 512

// The bounds of the pieces of an issue, in bytes.
const (
	maxName     = 256
	maxExpected = 1024
)

const ellipsis = "…"

// Quote renders text that a model or a user wrote so that it is safe to stand in a prompt: on one line, and
// without anything a template engine or a chat format gives meaning to.
//
// A marker is broken up by a space ("{{" becomes "{ {", "<|im_start|>" becomes "< |im_start| >"); what is not
// seen (control and formatting characters, line breaks, zero-width and bidirectional ones, bytes that are no
// UTF-8) is written as an escape ("\n", "\u200b", "\xff"). Everything else is left as it is. What exceeds
// [MaxQuoted] bytes is cut and ends in "…". Quoting twice changes nothing more.
func Quote(s string) string {
	if len(s) <= MaxQuoted && clean(s) {
		return s
	}
	return string(appendQuoted(make([]byte, 0, min(len(s)+16, MaxQuoted+16)), s, MaxQuoted))
}

// appendQuoted appends Quote's rendering of s, cut to limit bytes.
func appendQuoted(dst []byte, s string, limit int) []byte {
	if len(s) <= limit && plain(s) {
		return append(dst, s...)
	}
	start, fits := len(dst), len(dst)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		dst = appendRune(dst, s[i:i+size], r)
		if breaks(s, i) {
			dst = append(dst, ' ')
		}
		if len(dst)-start > limit {
			return append(dst[:fits], ellipsis...)
		}
		// What is left to stand before the ellipsis must not open a tag with it.
		if len(dst)-start <= limit-len(ellipsis) && dst[len(dst)-1] != '<' {
			fits = len(dst)
		}
		i += size
	}
	return dst
}

func appendRune(dst []byte, raw string, r rune) []byte {
	if r == utf8.RuneError && len(raw) == 1 {
		return append(dst, '\\', 'x', hex[raw[0]>>4], hex[raw[0]&15])
	}
	if !unseen(r) {
		return append(dst, raw...)
	}
	return appendEscape(dst, r)
}

const hex = "0123456789abcdef"

// shortEscapes are the escapes that everybody reads.
var shortEscapes = []struct {
	r      rune
	letter byte
}{{'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}

// appendEscape writes \n, \u200b or \U000e0041.
func appendEscape(dst []byte, r rune) []byte {
	for _, e := range shortEscapes {
		if e.r == r {
			return append(dst, '\\', e.letter)
		}
	}
	letter, shift := byte('u'), 12
	if r > 0xffff {
		letter, shift = 'U', 28
	}
	dst = append(dst, '\\', letter)
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hex[r>>shift&15])
	}
	return dst
}

// plain reports whether s has none but characters that nothing gives meaning to: most texts are so, and need
// no second look.
func plain(s string) bool { return ofClass(s, isPlain) }

// charClass is a set of the characters of ASCII.
type charClass uint8

const (
	isPlain charClass = 1 << iota // printable, and begins no marker
	isNamed                       // names are made of it
)

// charClasses are the sets that a byte is in.
var charClasses = func() (all [256]charClass) {
	for c := byte(' '); c < 0x7f; c++ {
		if strings.IndexByte("{}%#`~|<[", c) < 0 {
			all[c] |= isPlain
		}
		if plainASCII(rune(c)) {
			all[c] |= isNamed
		}
	}
	return all
}()

// ofClass reports whether all of s is in a set. It looks at four bytes at a time.
func ofClass(s string, set charClass) bool {
	c, all, n := &charClasses, set, 0
	for ; n <= len(s)-4; n += 4 {
		all &= c[s[n]] & c[s[n+1]] & c[s[n+2]] & c[s[n+3]]
	}
	for ; n < len(s); n++ {
		all &= c[s[n]]
	}
	return all == set
}

// clean reports whether quoting s changes nothing but its length.
func clean(s string) bool {
	if plain(s) {
		return true
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if unseen(r) || r == utf8.RuneError && size == 1 || breaks(s, i) {
			return false
		}
		i += size
	}
	return true
}

// breaks reports whether a marker would stand in s if nothing came after the character at i.
func breaks(s string, i int) bool {
	if i+1 >= len(s) {
		return false
	}
	next := s[i+1]
	switch s[i] {
	case '{':
		return next == '{' || next == '%' || next == '#'
	case '}', '%', '#':
		return next == '}'
	case '`', '~':
		return next == s[i]
	case '|':
		return next == '>'
	case '<':
		return opensTag(next)
	case '[':
		return opensBracketToken(s[i+1:])
	case fullBar[0]:
		return strings.HasPrefix(s[i:], fullBar+">")
	}
	return false
}

// fullBar is the bar that some chat formats write instead of "|".
const fullBar = "｜"

// opensTag reports whether "<" followed by this byte may open a tag or a chat token. A comparison ("< 5",
// "<=") does not.
func opensTag(next byte) bool {
	return 'a' <= next|0x20 && next|0x20 <= 'z' || strings.IndexByte("/|<!?%_[@$", next) >= 0 || next >= utf8.RuneSelf
}

// bracketTokens are the chat tokens written in square brackets. They are listed because most bracketed words,
// as in a pattern like "[abc]", are none.
var bracketTokens = []string{
	"INST", "SYS", "SYSTEM", "SYSTEM_PROMPT", "USER", "ASSISTANT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_CALL", "TOOL_CONTENT",
	"TOOL_RESULTS", "CALL_ID", "ARGS", "THINK", "PREFIX", "SUFFIX", "MIDDLE", "MODEL_SETTINGS", "BEGIN", "END", "BOS", "EOS", "PAD",
	"UNK", "MASK", "gMASK", "sMASK", "CLS", "SEP", "IMG", "IMG_BREAK", "IMG_END", "AUDIO", "TRANSCRIBE", "BEGIN_AUDIO", "CONTROL",
}

// opensBracketToken reports whether rest, which follows "[", is one of the tokens and "]", in any case of
// letters.
func opensBracketToken(rest string) bool {
	rest = strings.TrimPrefix(rest, "/")
	for _, token := range bracketTokens {
		if len(rest) > len(token) && rest[len(token)] == ']' && strings.EqualFold(rest[:len(token)], token) {
			return true
		}
	}
	return false
}

// unseen reports whether r cannot be seen in print. The table is fixed: the one of the standard library grows
// with Unicode, and a prompt must stay the same when the compiler changes.
func unseen(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return r <= 0xa0 || unicode.Is(unseenRunes, r)
}

var unseenRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x007f, Hi: 0x00a0, Stride: 1}, // controls, no-break space
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // grapheme joiner
		{Lo: 0x061c, Hi: 0x061c, Stride: 1}, // Arabic letter mark
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x1680, Hi: 0x1680, Stride: 1}, // Ogham space
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
		{Lo: 0x2000, Hi: 0x200f, Stride: 1}, // spaces, zero-width, direction marks
		{Lo: 0x2028, Hi: 0x202f, Stride: 1}, // separators, embeddings, overrides
		{Lo: 0x205f, Hi: 0x206f, Stride: 1}, // invisible operators, isolates
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xe000, Hi: 0xf8ff, Stride: 1}, // private use
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, // byte order mark
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // Hangul filler
		{Lo: 0xfff0, Hi: 0xfffb, Stride: 1}, // annotations
		{Lo: 0xfffe, Hi: 0xffff, Stride: 1}, // noncharacters
	},
	R32: []unicode.Range32{
		{Lo: 0x13430, Hi: 0x1345f, Stride: 1},  // hieroglyph format controls
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},  // shorthand format controls
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},  // musical format controls
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},  // tags, selectors
		{Lo: 0xf0000, Hi: 0x10ffff, Stride: 1}, // private use
	},
}

// Name renders a name that a model or a user wrote as [Quote] does, and in quotation marks where it could be
// mistaken for a sentence around it.
func Name(s string) string { return string(appendName(nil, s)) }

// appendName appends a name as it is where it is a plain one, else quoted and in quotation marks, so that it
// cannot be mistaken for a sentence around it.
func appendName(dst []byte, name string) []byte {
	if plainName(name) {
		return append(dst, name...)
	}
	return appendInMarks(dst, name, maxName)
}

// InMarks renders text that a tool, a reducer or another program gave as [Quote] does, in quotation marks, so
// that it cannot be mistaken for what stands around it. It is at most limit bytes long, which are 16 or more.
func InMarks(s string, limit int) string {
	b := appendInMarks(nil, s, limit-2)
	if len(b) > limit { // there are many marks within
		b = appendInMarks(nil, s, (limit-2)/2)
	}
	return string(b)
}

// appendInMarks appends s quoted, cut to limit bytes, in quotation marks. Those within are escaped, and may
// double its length.
func appendInMarks(dst []byte, s string, limit int) []byte {
	dst = append(dst, '"')
	if len(s) <= limit && plain(s) && strings.IndexByte(s, '"') < 0 && !strings.HasSuffix(s, `\`) {
		return append(append(dst, s...), '"')
	}
	slashes := 0 // before a mark they are escaped, too: it would not be otherwise
	for _, c := range append(appendQuoted(nil, s, limit), '"') {
		switch c {
		case '\\':
			slashes++
		case '"':
			dst = append(dst, strings.Repeat(`\`, slashes+1)...)
			slashes = 0
		default:
			slashes = 0
		}
		dst = append(dst, c)
	}
	// The last mark is the closing one, and is not escaped.
	return append(dst[:len(dst)-2], '"')
}

func plainName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	if strings.Contains(s, "~~") {
		return false
	}
	if ofClass(s, isNamed) {
		return true
	}
	for i, r := range s {
		plain := r >= utf8.RuneSelf && !unseen(r) && r != utf8.RuneError && !strings.HasPrefix(s[i:], fullBar)
		if !plain && !plainASCII(r) {
			return false
		}
	}
	return true
}

func plainASCII(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r < utf8.RuneSelf && strings.ContainsRune("_-./~@", r)
}

// cut shortens s to limit bytes at the end of a character, with an ellipsis where there is room for one.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	tail := ellipsis
	if limit < len(tail) {
		tail = ""
	}
	end := max(limit-len(tail), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + tail
}
