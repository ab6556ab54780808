package extract

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/retake-go/retake/fault"
)

// smartQuote opens a string in quotation marks as word processors set them, and smartEnd closes it.
const smartQuote, smartEnd = "“", "”"

// string reads a string in quotes, and writes it as JSON.
func (r *reader) string(quote byte) bool {
	start := r.pos
	closer := r.src[start : start+1]
	if r.has(smartQuote) {
		closer, quote = smartEnd, '"'
		r.repaired(formSmartQuotes, start)
	} else if rest := r.src[start:r.stop()]; len(rest) >= 3 && rest[1] == quote && rest[2] == quote {
		closer = rest[:3]
		r.repaired(formTripleQuotes, start)
	} else if quote == '\'' {
		r.repaired(formSingleQuotes, start)
	}
	r.pos += len(closer)
	r.said = r.said[:0]
	for r.pos < r.stop() {
		r.plain()
		if r.has(closer) && !(closer == "'" && r.apostrophe()) {
			r.pos += len(closer)
			r.lastString, r.afterString = start, r.pos
			return quoteAs(r, r.said, start)
		}
		if r.pos < r.stop() && !r.char(quote, len(closer) == 3 && closer != smartEnd) {
			return false
		}
	}
	return r.ends(start)
}

// apostrophe reports whether the single quote at pos is between two letters. Nothing that may follow a string
// begins with a letter.
func (r *reader) apostrophe() bool {
	before, _ := utf8.DecodeLastRuneInString(r.src[:r.pos])
	after, _ := utf8.DecodeRuneInString(r.src[r.pos+1 : r.stop()])
	if !unicode.IsLetter(before) || !unicode.IsLetter(after) {
		return false
	}
	r.repaired(formApostrophe, r.pos)
	return true
}

// between reads a string between two equal tokens. It has no escapes.
func (r *reader) between(token string) bool {
	start := r.pos
	length := strings.Index(r.src[start+len(token):r.stop()], token)
	if length < 0 {
		return r.ends(start)
	}
	r.repaired(formTokenQuotes, start)
	r.pos += len(token)
	text := r.src[r.pos : r.pos+length]
	r.pos += length + len(token)
	return r.quote(text, start)
}

// quoteTokens are control tokens that are used as quotes.
var quoteTokens = [...]string{"<escape>", `<|"|>`}

// quoteToken returns the one of the quoteTokens at pos, if any.
func (r *reader) quoteToken() string {
	for _, token := range quoteTokens {
		if r.has(token) {
			return token
		}
	}
	return ""
}

// plain reads the characters up to the next quote, backslash, control character or character beyond ASCII.
func (r *reader) plain() {
	start, stop := r.pos, r.stop()
	for r.pos < stop {
		if c := r.src[r.pos]; c < 0x20 || c >= 0x80 || c == '"' || c == '\'' || c == '\\' {
			break
		}
		r.pos++
	}
	r.said = append(r.said, r.src[start:r.pos]...)
}

// char reads one character or escape of a string.
func (r *reader) char(quote byte, triple bool) bool {
	c := r.src[r.pos]
	switch {
	case c == '\\':
		return r.escape(quote)
	case c < 0x20:
		if !triple || c != '\n' {
			r.repaired(formRawControl, r.pos)
		}
	case c >= 0x80:
		v, n := utf8.DecodeRuneInString(r.src[r.pos:r.end])
		if v == utf8.RuneError && n == 1 {
			return r.fail(fault.RuleInvalidUTF8, r.pos)
		}
		r.put(v)
		r.pos += n
		return true
	}
	r.put(rune(c))
	r.pos++
	return true
}

// put adds one character to the content of a string.
func (r *reader) put(v rune) { r.said = utf8.AppendRune(r.said, v) }

// simpleEscapes are the escapes of one character that are the same in JSON and Python.
var simpleEscapes = [256]rune{'"': '"', '\\': '\\', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape of JSON or Python. It refuses those that differ between the two (\/ in single
// quotes) or could be Markdown (\_).
func (r *reader) escape(quote byte) bool {
	start := r.pos
	if start+1 >= r.stop() {
		return r.ends(start)
	}
	c := r.src[start+1]
	r.pos += 2
	if v := simpleEscapes[c]; v != 0 {
		r.put(v)
		return true
	}
	switch {
	case c == '/' && quote == '"':
		r.put('/')
		return true
	case c == 'u':
		return r.unicode(start)
	}
	return r.pythonEscape(start, c, quote)
}

// pythonEscape reads the rest of an escape that only Python has; c is its first character.
func (r *reader) pythonEscape(start int, c, quote byte) bool {
	switch {
	case c == '\'':
		r.put('\'')
	case c == 'x' || c == 'U':
		digits := 2
		if c == 'U' {
			digits = 8
		}
		v, ok := r.hex(digits)
		if !ok {
			return r.unfit(start)
		}
		if !utf8.ValidRune(v) {
			return r.fail(fault.RuleInvalidUTF8, start)
		}
		r.put(v)
	case quote == '\'' && isLetter(c) && c != 'a' && c != 'v' && c != 'N':
		r.put('\\')
		r.put(rune(c))
	default:
		return r.fail(fault.RuleSyntax, start)
	}
	r.repaired(formPythonEscape, start)
	return true
}

// unicode reads the digits of \uXXXX, and the second half of a surrogate pair.
func (r *reader) unicode(start int) bool {
	v, ok := r.hex(4)
	if !ok {
		return r.unfit(start)
	}
	if !utf16.IsSurrogate(v) {
		r.put(v)
		return true
	}
	if r.has(`\u`) {
		r.pos += 2
		low, ok := r.hex(4)
		if !ok {
			return r.unfit(start)
		}
		if pair := utf16.DecodeRune(v, low); pair != utf8.RuneError {
			r.put(pair)
			return true
		}
	}
	return r.fail(fault.RuleInvalidUTF8, start)
}

// hex reads n hexadecimal digits.
func (r *reader) hex(n int) (rune, bool) {
	if r.pos+n > r.stop() {
		r.pos = r.stop()
		return 0, false
	}
	v, err := strconv.ParseUint(r.src[r.pos:r.pos+n], 16, 32)
	if err != nil || v > utf8.MaxRune {
		return utf8.MaxRune + 1, err == nil
	}
	r.pos += n
	return rune(v), true
}
