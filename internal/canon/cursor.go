package canon

import (
	"strings"
	"unicode/utf8"
)

// Cursor walks the tokens of one text of strict JSON, a step at a time, without making more of them than is asked for. The
// text must be UTF-8: whoever walks it checks that first. The zero value of At is the text's beginning; where a step fails,
// At is of no use any more. The grammar beyond tokens (commas, colons, names that stand twice) is the walker's.
//
// Not for concurrent use.
type Cursor struct {
	Text string
	At   int
}

// Next skips white space and returns the byte that follows, without stepping over it; 0 at the end.
func (c *Cursor) Next() byte {
	for ; c.At < len(c.Text); c.At++ {
		if b := c.Text[c.At]; b > ' ' || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// Eat steps over white space and one byte, if it is that byte.
func (c *Cursor) Eat(b byte) bool {
	if c.Next() != b {
		return false
	}
	c.At++
	return true
}

// Word steps over a literal such as true.
func (c *Cursor) Word(word string) bool {
	if !strings.HasPrefix(c.Text[c.At:], word) {
		return false
	}
	c.At += len(word)
	return true
}

// String steps over the string that begins here and returns what it says. The result shares the memory of Text where
// nothing is escaped, and says so.
func (c *Cursor) String() (s string, shared, ok bool) {
	if c.At >= len(c.Text) || c.Text[c.At] != '"' {
		return "", false, false
	}
	c.At++
	n := plainRun(c.Text[c.At:])
	if end := c.At + n; end < len(c.Text) && c.Text[end] == '"' {
		s, c.At = c.Text[c.At:end], end+1
		return s, true, true
	}
	return c.escaped(n)
}

// plainRun is how many bytes of s stand for themselves in a JSON string.
func plainRun(s string) int {
	n := 0
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// escaped reads a string of which n bytes stand for themselves before something else does.
func (c *Cursor) escaped(n int) (string, bool, bool) {
	var b strings.Builder
	for {
		b.WriteString(c.Text[c.At : c.At+n])
		c.At += n
		if c.At >= len(c.Text) {
			return "", false, false
		}
		if c.Text[c.At] == '"' {
			c.At++
			return b.String(), false, true
		}
		r, ok := c.escape()
		if !ok {
			return "", false, false
		}
		b.WriteRune(r)
		n = plainRun(c.Text[c.At:])
	}
}

// shortEscapes are the escapes of one letter.
var shortEscapes = ['u']byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape; half a surrogate pair is none.
func (c *Cursor) escape() (rune, bool) {
	if c.At+1 >= len(c.Text) || c.Text[c.At] != '\\' {
		return 0, false
	}
	letter := c.Text[c.At+1]
	if letter != 'u' {
		c.At += 2
		if int(letter) >= len(shortEscapes) || shortEscapes[letter] == 0 {
			return 0, false
		}
		return rune(shortEscapes[letter]), true
	}
	high, ok := c.unit()
	switch {
	case !ok || high >= 0xDC00 && high <= 0xDFFF:
		return 0, false
	case high < 0xD800 || high > 0xDFFF:
		return high, true
	}
	low, ok := c.unit()
	if !ok || low < 0xDC00 || low > 0xDFFF {
		return 0, false
	}
	return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, true
}

// unit reads a UTF-16 code unit such as \u00e9.
func (c *Cursor) unit() (rune, bool) {
	rest := c.Text[c.At:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, digit := range []byte(rest[2:6]) {
		switch {
		case digit >= '0' && digit <= '9':
			r = r<<4 | rune(digit-'0')
		case digit|0x20 >= 'a' && digit|0x20 <= 'f':
			r = r<<4 | rune(digit|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	c.At += 6
	return r, true
}

// Number steps over the number that begins here and returns its text; whole says that it has neither fraction nor exponent.
func (c *Cursor) Number() (text string, whole, ok bool) {
	start := c.At
	c.byte('-')
	first := c.At
	if digits := c.digits(); digits == 0 || digits > 1 && c.Text[first] == '0' {
		return "", false, false
	}
	whole = true
	if c.byte('.') {
		whole = false
		if c.digits() == 0 {
			return "", false, false
		}
	}
	if c.byte('e') || c.byte('E') {
		whole = false
		if !c.byte('+') {
			c.byte('-')
		}
		if c.digits() == 0 {
			return "", false, false
		}
	}
	return c.Text[start:c.At], whole, true
}

func (c *Cursor) byte(b byte) bool {
	if c.At >= len(c.Text) || c.Text[c.At] != b {
		return false
	}
	c.At++
	return true
}

func (c *Cursor) digits() int {
	start := c.At
	for c.At < len(c.Text) && c.Text[c.At]-'0' <= 9 {
		c.At++
	}
	return c.At - start
}

// Ends reports whether nothing but white space follows.
func (c *Cursor) Ends() bool { return c.Next() == 0 && c.At == len(c.Text) }

// NewCursor is at the beginning of a copy of the text; false where it is not UTF-8.
func NewCursor(text []byte) (Cursor, bool) {
	if !utf8.Valid(text) {
		return Cursor{}, false
	}
	return Cursor{Text: string(text)}, true
}
