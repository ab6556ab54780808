package extract

import "strings"

// space skips white space, comments, and Markdown's backslash before a bracket.
func (r *reader) space() bool {
	for r.pos < r.stop() {
		c := r.src[r.pos]
		switch {
		case isSpace(c):
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
			return true
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

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isNameStart and isNameByte accept every byte of a character beyond ASCII.
func isNameStart(c byte) bool { return isLetter(c) || c == '_' || c >= 0x80 }

func isNameByte(c byte) bool { return isNameStart(c) || isDigit(c) }

// textStart is the offset after a byte order mark.
func textStart(text string) int { return len(text) - len(strings.TrimPrefix(text, "\ufeff")) }

func skipSpace(text string, pos int) int {
	for pos < len(text) && isSpace(text[pos]) {
		pos++
	}
	return pos
}
