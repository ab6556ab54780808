package feedback

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
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
func Quote(s string) string { return QuoteWithin(s, MaxQuoted) }

// QuoteWithin is [Quote] with a bound of one's own: limit bytes.
func QuoteWithin(s string, limit int) string {
	var b []byte
	fits := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		b = append(b, visible(s[i:i+size], r)...)
		if breaks(s, i) {
			b = append(b, ' ')
		}
		if len(b) > limit {
			return string(b[:fits]) + ellipsis
		}
		// What is left to stand before the ellipsis must not open a tag with it.
		if len(b) <= limit-len(ellipsis) && b[len(b)-1] != '<' {
			fits = len(b)
		}
		i += size
	}
	return string(b)
}

// visible is a character as it is, or an escape of one that cannot be seen.
func visible(raw string, r rune) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case !unseen(r):
		return raw
	case strings.ContainsRune("\n\r\t", r):
		return strings.Trim(strconv.Quote(raw), `"`)
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// QuoteJSON renders JSON that a tool made so that it is safe to stand in a prompt: as the same value, on one
// line, and without anything a template engine or a chat format gives meaning to. Within strings a marker's
// first character is escaped, between values a space breaks it up. The result is whole, however long. What is
// no JSON is rendered as safely, as some other text.
func QuoteJSON(raw string) string {
	b := make([]byte, 0, len(raw)+16)
	inString := false
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		switch hidden := unseen(r) || r == utf8.RuneError; {
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
	letter := 'a' <= next|0x20 && next|0x20 <= 'z'
	return letter || next >= utf8.RuneSelf || strings.IndexByte("/|<!?%_[@$", next) >= 0
}

// bracketTokens are the chat tokens written in square brackets. They are listed because most bracketed words,
// as in a pattern like "[abc]", are none.
var bracketTokens = strings.Fields(`
INST SYS SYSTEM SYSTEM_PROMPT USER ASSISTANT AVAILABLE_TOOLS TOOL_CALLS TOOL_CALL TOOL_CONTENT TOOL_RESULTS CALL_ID ARGS THINK
PREFIX SUFFIX MIDDLE MODEL_SETTINGS BEGIN END BOS EOS PAD UNK MASK gMASK sMASK
CLS SEP IMG IMG_BREAK IMG_END AUDIO TRANSCRIBE BEGIN_AUDIO CONTROL
`)

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

// unseen reports whether r cannot be seen in print.
func unseen(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	for n := 0; n < len(unseenRunes); n += 2 {
		if unseenRunes[n] <= r && r <= unseenRunes[n+1] {
			return true
		}
	}
	return false
}

// unseenRunes are the first and the last of each range. The table is fixed: the one of the standard library
// grows with Unicode, and a prompt must stay the same when the compiler changes.
var unseenRunes = []rune("" +
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

// Name renders a name that a model or a user wrote as [Quote] does, and in quotation marks where it could be
// mistaken for a sentence around it.
func Name(s string) string {
	strange := func(r rune) bool {
		if r < utf8.RuneSelf {
			return !strings.ContainsRune(nameChars, r)
		}
		return unseen(r) || r == utf8.RuneError
	}
	marked := strings.Contains(s, "~~") || strings.Contains(s, fullBar)
	if s == "" || len(s) > maxName || marked || strings.ContainsFunc(s, strange) {
		return inMarks(s, maxName)
	}
	return s
}

// nameChars are the characters of ASCII that a plain name is made of.
const nameChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./~@"

// InMarks renders text that a tool, a reducer or another program gave as [Quote] does, in quotation marks, so
// that it cannot be mistaken for what stands around it. It is at most limit bytes long, which are 16 or more.
func InMarks(s string, limit int) string {
	if marked := inMarks(s, limit-2); len(marked) <= limit {
		return marked
	}
	return inMarks(s, (limit-2)/2) // there are many marks within
}

// marks are quotation marks with the backslashes before them: these are doubled, for they would
// escape the escape.
var marks = regexp.MustCompile(`(\\*)"`)

// inMarks is s quoted, cut to limit bytes, in quotation marks. Those within are escaped, and may double its
// length.
func inMarks(s string, limit int) string {
	escaped := marks.ReplaceAllString(QuoteWithin(s, limit)+`"`, `$1$1\"`)
	return `"` + strings.TrimSuffix(escaped, `\"`) + `"`
}

// Cut shortens s to limit bytes at the end of a character, with an ellipsis where there is room for one.
func Cut(s string, limit int) string {
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
