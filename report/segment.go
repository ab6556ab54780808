package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/report/internal/told"
)

// segment is a part of a text as a page shows it.
type segment struct {
	// Kind is empty for plain text. "hidden" is the name of an invisible character, "redacted" a redaction
	// mark, "end" the place where the text is cut off, and "number" the numbers of the issues of the part
	// before.
	Kind string
	Text string
	// Bad is set for what an issue is about.
	Bad bool
}

// maxHidden is the most invisible characters of a text that are named.
const maxHidden = 2_000

// segments splits a text at its marks, and names invisible characters. The marks are those of [marksOf].
func segments(text string, marks []mark) []segment {
	c := &cutter{text: text}
	var cuts []int
	for _, m := range marks {
		cuts = append(cuts, m.begin, m.end)
	}
	slices.Sort(cuts)
	at := 0
	for _, cut := range slices.Compact(append(cuts, len(text))) {
		c.plain(text[at:cut], inside(marks, at, cut))
		c.ends(marks, cut)
		at = cut
	}
	return c.out
}

// inside reports whether a part is within a mark.
func inside(marks []mark, begin, end int) bool {
	return slices.ContainsFunc(marks, func(m mark) bool {
		return m.begin <= begin && end <= m.end && m.begin < m.end
	})
}

// cutter collects segments.
type cutter struct {
	text   string
	out    []segment
	hidden int
}

// ends adds what follows the marks that end at an offset.
func (c *cutter) ends(marks []mark, at int) {
	for _, m := range marks {
		if m.end != at {
			continue
		}
		if m.begin == m.end {
			c.add(segment{Kind: "end", Text: "the text ends here", Bad: true})
		}
		numbers := make([]string, len(m.issues))
		for n, i := range m.issues {
			numbers[n] = fmt.Sprint(i)
		}
		c.add(segment{Kind: "number", Text: strings.Join(numbers, ",")})
	}
}

func (c *cutter) add(s segment) { c.out = append(c.out, s) }

// plain adds text and its redaction marks.
func (c *cutter) plain(text string, bad bool) {
	at := 0
	for _, cut := range told.Redacted.FindAllStringIndex(text, -1) {
		c.visible(text[at:cut[0]], bad)
		c.add(segment{"redacted", strings.Trim(text[cut[0]:cut[1]], "[]"), bad})
		at = cut[1]
	}
	c.visible(text[at:], bad)
}

// visible adds text, with names in the place of invisible characters.
func (c *cutter) visible(text string, bad bool) {
	for at := 0; at < len(text); {
		name, end, times := hidden(text, at), at, 0
		for end < len(text) && hidden(text, end) == name {
			_, size := utf8.DecodeRuneInString(text[end:])
			end, times = end+size, times+1
		}
		switch {
		case name == "":
			c.add(segment{Text: text[at:end], Bad: bad})
		case c.hidden >= maxHidden:
			c.add(segment{Text: "\uFFFD", Bad: bad})
		case times > 1:
			name += fmt.Sprintf(" ×%d", times)
			fallthrough
		default:
			c.add(segment{"hidden", name, bad})
			c.hidden++
		}
		at = end
	}
}

// joiner joins emoji into one.
const joiner = '\u200d'

// hidden returns the name of the character at an offset if it is invisible or changes the direction of
// others, else empty.
func hidden(text string, at int) string {
	r, size := utf8.DecodeRuneInString(text[at:])
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte %02X", text[at])
	case r == '\n' || r == '\t' || r == joiner || canon.Seen(text[:at], r):
		return ""
	}
	return fmt.Sprintf("U+%04X", r)
}

// visible names the invisible characters of a short text.
func visible(s string) string {
	var b strings.Builder
	for _, part := range segments(s, nil) {
		if part.Kind == "" {
			b.WriteString(part.Text)
		} else {
			b.WriteString("⟨" + part.Text + "⟩")
		}
	}
	return b.String()
}
