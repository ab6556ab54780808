package report

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// redacted matches the mark of a redacted text in a journal.
var redacted = regexp.MustCompile(`\[redacted [0-9a-f]{32}, ([0-9]{1,18}) bytes(?: of JSON)?\]`)

// isRedacted reports whether a whole text was redacted.
func isRedacted(text string) bool {
	text = strings.TrimSpace(text)
	at := redacted.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text)
}

// line makes any text one line that is safe for a terminal. Line feeds and tabs become spaces, and characters
// that do not print become U+FFFD. A long text is cut first.
func line(s string) string {
	if limit := maxText * utf8.UTFMax * 2; len(s) > limit {
		s = s[:limit]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsGraphic(r):
			return r
		}
		return unicode.ReplacementChar
	}, s)
	s = redacted.ReplaceAllString(s, "[redacted, $1 bytes]")
	return strings.Join(strings.Fields(s), " ")
}

// clip cuts a text to a number of characters.
func clip(s string, limit int) string {
	n := 0
	for at := range s {
		if n++; n > limit {
			return strings.Clone(strings.TrimRight(s[:at], " ")) + "…"
		}
	}
	return s
}

// columns is how many columns of a terminal a character takes.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// columnsOf is how many columns a text takes.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// wrap breaks a line between words, so that no part is wider than limit. A wider word is broken, too.
func wrap(s string, limit int) []string {
	var (
		lines []string
		now   string
	)
	for _, word := range strings.Fields(s) {
		for columnsOf(now)+1+columnsOf(word) > limit {
			if now != "" {
				lines, now = append(lines, now), ""
			}
			if columnsOf(word) <= limit {
				break
			}
			cut := within(word, limit)
			lines, word = append(lines, word[:cut]), word[cut:]
		}
		if now != "" {
			now += " "
		}
		now += word
	}
	if now != "" {
		lines = append(lines, now)
	}
	return lines
}

// within is how many bytes of a text fit into limit columns; at least one character.
func within(s string, limit int) int {
	n := 0
	for at, r := range s {
		if n += columns(r); n > limit && at > 0 {
			return at
		}
	}
	return len(s)
}
