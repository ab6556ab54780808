package extract

import (
	"strings"
	"unicode/utf8"
)

// space skips white space, also that of JavaScript, comments, and Markdown's backslash before a bracket.
func (r *reader) space() bool {
	for r.pos < r.stop() {
		c := r.src[r.pos]
		switch {
		case isSpace(c):
			if r.odd == r.pos {
				r.odd++
			}
			r.pos++
		case c == '#' || c == '/':
			if !r.comment() {
				return false
			}
		case c == '\\' && r.pos+1 < r.stop() && strings.IndexByte("{}[]()", r.src[r.pos+1]) >= 0:
			r.repaired(formMarkdownEscape, r.pos)
			r.pos++
			return true
		default:
			size := oddSpace(r.src[r.pos:r.stop()])
			if size == 0 {
				return true
			}
			r.repaired(formOddSpace, r.pos)
			r.pos += size
			r.odd = r.pos
		}
	}
	return true
}

func (r *reader) comment() bool {
	start := r.pos
	switch {
	case r.has("#") || r.has("//"):
		for r.pos < r.stop() && r.src[r.pos] != '\n' {
			r.pos++
		}
	case r.has("/*"):
		size := strings.Index(r.src[r.pos+2:r.stop()], "*/")
		if size < 0 {
			return r.ends(start)
		}
		r.pos += size + len("/**/")
	default:
		return r.unexpected()
	}
	r.repaired(formComment, start)
	return true
}

// oddSpace returns the length of white space that JavaScript has and JSON does not, such as a no-break space,
// or of a line break or tab that is written as in a string. A letter after the latter makes it no space:
// \name is not a line break and ame. 0 means none.
func oddSpace(text string) int {
	switch c := text[0]; {
	case c == '\\':
		if len(text) > 2 && strings.IndexByte("nrt", text[1]) >= 0 && !isNameStart(text[2]) {
			return 2
		}
		return 0
	case c == '\v' || c == '\f':
		return 1
	case c < utf8.RuneSelf:
		return 0
	}
	switch v, size := utf8.DecodeRuneInString(text); {
	case v >= 0x2000 && v <= 0x200a:
		return size
	case v == 0xa0 || v == 0x1680 || v == 0x2028 || v == 0x2029 || v == 0x202f || v == 0x205f || v == 0x3000 ||
		v == 0xfeff:
		return size
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isNameStart and isNameByte accept every byte of a character beyond ASCII.
func isNameStart(c byte) bool { return isLetter(c) || c == '_' || c >= 0x80 }

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) }

// textStart returns the offset after a byte order mark.
func textStart(text string) int { return len(text) - len(strings.TrimPrefix(text, "\ufeff")) }

func skipSpace(text string, pos int) int {
	for pos < len(text) && isSpace(text[pos]) {
		pos++
	}
	return pos
}
