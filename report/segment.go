package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// segment is a part of a text as a page shows it.
type segment struct {
	// Kind is empty for plain text; "hidden" names a character that cannot be seen, "redacted" says what was
	// left out, "missing" what should stand here, "end" that the text ends too soon, "number" the issues that
	// the part before is about.
	Kind string
	Text string
	// Bad is set for what an issue is about.
	Bad bool
}

// maxHidden bounds the characters of a text that are named.
const maxHidden = 2_000

// segments cuts a text at its marks, and names what cannot be seen. Marks are as [marksOf] has them.
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

// ends adds what stands after the marks that end at an offset.
func (c *cutter) ends(marks []mark, at int) {
	for _, m := range marks {
		if m.end != at {
			continue
		}
		switch {
		case m.missing != "":
			c.add(segment{Kind: "missing", Text: visible(m.missing), Bad: true})
		case m.begin == m.end:
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

// plain adds text, and names what in it cannot be seen.
func (c *cutter) plain(text string, bad bool) {
	for text != "" {
		cut := redacted.FindStringIndex(text)
		if cut == nil {
			c.visible(text, bad)
			return
		}
		c.visible(text[:cut[0]], bad)
		c.add(segment{"redacted", strings.Trim(text[cut[0]:cut[1]], "[]"), bad})
		text = text[cut[1]:]
	}
}

func (c *cutter) visible(text string, bad bool) {
	from := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		name := hiddenName(r, size, text[at])
		if name == "" {
			at += size
			continue
		}
		c.put(text[from:at], bad)
		times := 0
		for ; hiddenAt(text, at) == name; at += size {
			times++
		}
		c.hide(name, times, bad)
		from = at
	}
	c.put(text[from:], bad)
}

func hiddenAt(text string, at int) string {
	if at >= len(text) {
		return ""
	}
	r, size := utf8.DecodeRuneInString(text[at:])
	return hiddenName(r, size, text[at])
}

func (c *cutter) put(text string, bad bool) {
	if text != "" {
		c.add(segment{Text: text, Bad: bad})
	}
}

// hide names a character that cannot be seen; beyond the bound it is a mere sign.
func (c *cutter) hide(name string, times int, bad bool) {
	if c.hidden++; c.hidden > maxHidden {
		c.put("\uFFFD", bad)
		return
	}
	if times > 1 {
		name += fmt.Sprintf(" ×%d", times)
	}
	c.add(segment{"hidden", name, bad})
}

// joiner makes one sign of several, as in emoji.
const joiner = '\u200d'

// hiddenName is the name of a character that cannot be seen, or that changes how others are seen; empty for
// all others.
func hiddenName(r rune, size int, first byte) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("byte %02X", first)
	case r == '\n' || r == '\t' || r == joiner || unicode.IsGraphic(r):
		return ""
	}
	return fmt.Sprintf("U+%04X", r)
}

// visible names what cannot be seen in a short text.
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
