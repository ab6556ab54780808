package feedback

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/canon"
)

// MaxQuoted is the longest result of [Quote], in bytes.
const MaxQuoted = 512

// The longest pieces of an issue, in bytes.
const (
	maxName     = 256
	maxExpected = 1024
)

const ellipsis = "…"

// Quote makes text that a model or a user wrote safe for a prompt. The result is one line without anything
// that a template engine or a chat format could interpret.
//
// A space breaks up markers ("{{" becomes "{ {", "<|im_start|>" becomes "< |im_start| >"). Characters that
// are not visible (control and formatting characters, line breaks, zero-width and bidirectional characters,
// invalid UTF-8) become escapes ("\n", "\u200b", "\xff"). Everything else stays as it is. A result longer
// than [MaxQuoted] bytes is cut and ends in "…". Quoting twice has no further effect.
func Quote(s string) string { return QuoteWithin(s, MaxQuoted) }

// QuoteWithin is [Quote] with a limit in bytes; limit must be 3 or more, which is the length of "…".
func QuoteWithin(s string, limit int) string {
	b := quote(make([]byte, 0, MaxQuoted), s, limit)
	if string(b) == s {
		return s
	}
	return string(b)
}

// quote appends what QuoteWithin returns.
func quote(b []byte, s string, limit int) []byte {
	start := len(b)
	fits := start
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if bad := r == utf8.RuneError && size == 1; bad || invisible(r) {
			b = append(b, escape(s[i:i+size], r)...)
		} else {
			b = utf8.AppendRune(b, r)
		}
		if breaks(s, i) {
			b = append(b, ' ')
		}
		if len(b)-start > limit {
			return append(b[:fits], ellipsis...)
		}
		// The text before the ellipsis must not end with "<", which would open a tag.
		if len(b)-start <= limit-len(ellipsis) && b[len(b)-1] != '<' {
			fits = len(b)
		}
		i += size
	}
	return b
}

// escape returns an escape of a character that is not visible.
func escape(raw string, r rune) string {
	switch {
	case r == utf8.RuneError:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case strings.ContainsRune("\n\r\t", r):
		return strings.Trim(strconv.Quote(raw), `"`)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// QuoteJSON makes JSON safe for a prompt. The result is the same JSON value on one line, without anything
// that a template engine or a chat format could interpret. Markers are escaped inside strings, and broken up
// by a space elsewhere. The result is never cut. Text that is not JSON also becomes safe, but changes.
func QuoteJSON(raw string) string {
	b := make([]byte, 0, len(raw)+16)
	inString := false
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		switch hidden := invisible(r) || r == utf8.RuneError; {
		case inString && r == '\\' && i+1 < len(raw) && raw[i+1] < utf8.RuneSelf && raw[i+1] >= ' ':
			size = 2
			b = append(b, raw[i:i+size]...)
		case inString && (hidden || breaks(raw, i)):
			for _, unit := range utf16.AppendRune(nil, r) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		case hidden:
			b = append(b, ' ')
		default:
			b = append(b, raw[i:i+size]...)
			if breaks(raw, i) {
				b = append(b, ' ')
			}
			inString = inString != (r == '"')
		}
		i += size
	}
	return string(b)
}

// breaks reports whether the character at i and the next ones form a marker.
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

// fullBar replaces "|" in some chat formats.
const fullBar = "｜"

// opensTag reports whether "<" followed by this byte may open a tag or a chat token. A comparison ("< 5",
// "<=") does not.
func opensTag(next byte) bool {
	letter := 'a' <= next|0x20 && next|0x20 <= 'z'
	return letter || next >= utf8.RuneSelf || strings.IndexByte("/|<!?%_[@$", next) >= 0
}

// bracketTokens are the chat tokens in square brackets. They are listed because most words in brackets, such
// as the pattern "[abc]", are not tokens.
var bracketTokens = strings.Fields(`
INST SYS SYSTEM SYSTEM_PROMPT USER ASSISTANT AVAILABLE_TOOLS TOOL_CALLS TOOL_CALL TOOL_CONTENT TOOL_RESULTS
CALL_ID ARGS THINK PREFIX SUFFIX MIDDLE MODEL_SETTINGS BEGIN END BOS EOS PAD UNK MASK gMASK sMASK
CLS SEP IMG IMG_BREAK IMG_END AUDIO TRANSCRIBE BEGIN_AUDIO CONTROL
`)

// opensBracketToken reports whether rest, which follows "[", is one of the tokens followed by "]". Case does
// not matter.
func opensBracketToken(rest string) bool {
	rest = strings.TrimPrefix(rest, "/")
	for _, token := range bracketTokens {
		if len(rest) > len(token) && rest[len(token)] == ']' && strings.EqualFold(rest[:len(token)], token) {
			return true
		}
	}
	return false
}

// invisible reports whether r is invisible.
func invisible(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	for n := 0; n < len(invisibleRunes); n += 2 {
		if invisibleRunes[n] <= r && r <= invisibleRunes[n+1] {
			return true
		}
	}
	return false
}

// invisibleRunes are the first and last rune of each range. The table is fixed, because the one of the
// standard library changes with the Unicode version, and prompts must not change with the compiler.
var invisibleRunes = []rune("" +
	"\u007f\u00a0" + // controls, no-break space
	"\u00ad\u00ad" + // soft hyphen
	"\u034f\u034f" + // grapheme joiner
	"\u061c\u061c" + // Arabic letter mark
	"\u115f\u1160" + // Hangul fillers
	"\u1680\u1680" + // Ogham space
	"\u17b4\u17b5" + // Khmer inherent vowels
	"\u180b\u180f" + // Mongolian selectors
	"\u2000\u200f" + // spaces, zero-width, direction marks
	"\u2028\u202f" + // separators, embeddings, overrides
	"\u205f\u206f" + // invisible operators, isolates
	"\u2800\u2800" + // blank Braille
	"\u3164\u3164" + // Hangul filler
	"\ue000\uf8ff" + // private use
	"\ufe00\ufe0f" + // variation selectors
	"\ufeff\ufeff" + // byte order mark
	"\uffa0\uffa0" + // Hangul filler
	"\ufff0\ufffb" + // annotations
	"\ufffe\uffff" + // noncharacters
	"\U00013430\U0001345f" + // hieroglyph format controls
	"\U0001bca0\U0001bca3" + // shorthand format controls
	"\U0001d173\U0001d17a" + // musical format controls
	"\U000e0000\U000e0fff" + // tags, selectors
	"\U000f0000\U0010ffff") // private use

// Name returns a name quoted as by [Quote]. Quotation marks surround it if it could be mistaken for a part of
// a sentence.
func Name(s string) string {
	strange := func(r rune) bool {
		if r < utf8.RuneSelf {
			return !strings.ContainsRune(nameChars, r)
		}
		return invisible(r) || r == utf8.RuneError
	}
	marked := strings.Contains(s, "~~") || strings.Contains(s, fullBar)
	if s == "" || len(s) > maxName || marked || strings.ContainsFunc(s, strange) {
		return inMarks(s, maxName)
	}
	return s
}

// nameChars are the ASCII characters of a plain name.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./~@"

// InMarks returns text of a tool, a reducer or another program, quoted as by [Quote] and in quotation marks,
// so that it cannot be mistaken for the text around it. The result has at most limit bytes; limit must be 16
// or more.
func InMarks(s string, limit int) string {
	marked := inMarks(s, limit-2)
	if over := len(marked) - limit; over > 0 { // escapes may double the length, but no more
		marked = inMarks(s, max(len(QuoteWithin(s, limit-2))-over, (limit-2)/2))
	}
	return marked
}

// marks are quotation marks with the backslashes before them, which have to be doubled.
var marks = regexp.MustCompile(`(\\*)"`)

// inMarks returns s quoted, cut to limit bytes, in quotation marks. Escaped quotation marks inside may double
// its length.
func inMarks(s string, limit int) string {
	escaped := marks.ReplaceAllString(QuoteWithin(s, limit)+`"`, `$1$1\"`)
	return `"` + strings.TrimSuffix(escaped, `\"`) + `"`
}

// Cut shortens s to limit bytes without splitting a character. It ends in "…" if there is room for that.
func Cut(s string, limit int) string { return canon.Cut(s, limit) }
