package told

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/retake-go/retake/internal/canon"
)

// maxLine is how many bytes of a text are looked at.
const maxLine = 4800

// Redacted matches the mark of a redacted text in a journal.
var Redacted = regexp.MustCompile(`\[redacted [0-9a-f]{32}, ([0-9]{1,18}) bytes(?: of JSON)?\]`)

// IsRedacted reports whether a whole text was redacted.
func IsRedacted(text string) bool {
	text = strings.TrimSpace(text)
	at := Redacted.FindStringIndex(text)
	return at != nil && at[0] == 0 && at[1] == len(text)
}

// Line makes any text one line that is safe for a terminal. Line feeds and tabs become spaces, and characters
// that cannot be seen become U+FFFD. A long text is cut first.
func Line(s string) string {
	s = s[:min(len(s), maxLine)]
	var b strings.Builder
	for at, r := range s {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			r = ' '
		case !canon.Seen(s[:at], r):
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	s = Redacted.ReplaceAllString(b.String(), "[redacted, $1 bytes]")
	return strings.Join(strings.Fields(s), " ")
}

// Clip cuts a text to a number of characters.
func Clip(s string, limit int) string {
	n := 0
	for at := range s {
		if n++; n > limit {
			return strings.Clone(strings.TrimRight(s[:at], " ")) + "…"
		}
	}
	return s
}

// Brief returns the first characters of a text, on one line.
func Brief(s string, limit int) string { return Clip(Line(s), limit) }
