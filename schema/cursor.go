package schema

import (
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// cursor walks the tokens of one text of strict JSON, a step at a time, without making more of them than is asked for. The
// text must be UTF-8: whoever walks it checks that first. The zero value of at is the text's beginning; where a step fails,
// at is of no use any more. The grammar beyond tokens (commas, colons, names that stand twice) is the walker's.
//
// Not for concurrent use.
type cursor struct {
	text string
	at   int
	form *canon.Form // is told what the canonical form of the text needs to know; nil where nobody wants that
}

// peek skips white space and returns the byte that follows, without stepping over it; 0 at the end.
func (c *cursor) peek() (b byte) {
	if c.at < len(c.text) {
		b = c.text[c.at]
	}
	if b <= ' ' {
		return c.skip()
	}
	return b
}

// skip is peek where there may be white space, kept out of it so that peek is inlined.
//
//go:noinline
func (c *cursor) skip() (b byte) {
	from := c.at
	for ; c.at < len(c.text); c.at++ {
		if b = c.text[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			break
		}
		b = 0
	}
	if c.at > from {
		c.form.Skip(from, c.at)
	}
	return b
}

// eat steps over white space and one byte, if it is that byte.
func (c *cursor) eat(b byte) bool {
	if c.peek() != b {
		return false
	}
	c.at++
	return true
}

// word steps over a literal such as true.
func (c *cursor) word(word string) bool {
	if !strings.HasPrefix(c.text[c.at:], word) {
		return false
	}
	c.at += len(word)
	return true
}

// str steps over the string that begins here and returns what it says. The result shares the memory of text where
// nothing is escaped, and says so.
func (c *cursor) str() (s string, shared, ok bool) {
	if c.at >= len(c.text) || c.text[c.at] != '"' {
		return "", false, false
	}
	c.at++
	n := canon.PlainRun(c.text[c.at:])
	if end := c.at + n; end < len(c.text) && c.text[end] == '"' {
		s, c.at = c.text[c.at:end], end+1
		return s, true, true
	}
	return c.escaped(n)
}

// escaped reads a string of which n bytes stand for themselves before something else does.
func (c *cursor) escaped(n int) (string, bool, bool) {
	var b strings.Builder
	start := c.at - 1
	for {
		b.WriteString(c.text[c.at : c.at+n])
		c.at += n
		if c.at >= len(c.text) {
			return "", false, false
		}
		if c.text[c.at] == '"' {
			c.at++
			c.form.Say(start, c.at, b.String())
			return b.String(), false, true
		}
		r, ok := c.escape()
		if !ok {
			return "", false, false
		}
		b.WriteRune(r)
		n = canon.PlainRun(c.text[c.at:])
	}
}

// shortEscapes are the escapes of one letter.
var shortEscapes = ['u']byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads one escape; half a surrogate pair is none.
func (c *cursor) escape() (rune, bool) {
	if c.at+1 >= len(c.text) || c.text[c.at] != '\\' {
		return 0, false
	}
	letter := c.text[c.at+1]
	if letter != 'u' {
		c.at += 2
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
func (c *cursor) unit() (rune, bool) {
	rest := c.text[c.at:]
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
	c.at += 6
	return r, true
}

// numberForm is how a number is written.
type numberForm uint8

const (
	formNone     numberForm = iota // it is no number
	formWhole                      // with neither fraction nor exponent
	formFraction                   // with a fraction
	formPower                      // with an exponent
)

// num steps over the number that begins here and returns its text.
func (c *cursor) num() (text string, form numberForm) {
	start := c.at
	c.byte('-')
	first := c.at
	if digits := c.digits(); digits == 0 || digits > 1 && c.text[first] == '0' {
		return "", formNone
	}
	form = formWhole
	if c.byte('.') {
		form = formFraction
		if c.digits() == 0 {
			return "", formNone
		}
	}
	if c.byte('e') || c.byte('E') {
		form = formPower
		if !c.byte('+') {
			c.byte('-')
		}
		if c.digits() == 0 {
			return "", formNone
		}
	}
	return c.text[start:c.at], form
}

func (c *cursor) byte(b byte) bool {
	if c.at >= len(c.text) || c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

func (c *cursor) digits() int {
	start := c.at
	for c.at < len(c.text) && c.text[c.at]-'0' <= 9 {
		c.at++
	}
	return c.at - start
}

// ends reports whether nothing but white space follows.
func (c *cursor) ends() bool { return c.peek() == 0 && c.at == len(c.text) }
