package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns returns how many columns of a terminal a character takes.
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

// columnsOf returns how many columns a text takes.
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

// within returns how many bytes of a text fit into limit columns; at least one character.
func within(s string, limit int) int {
	n := 0
	for at, r := range s {
		if n += columns(r); n > limit && at > 0 {
			return at
		}
	}
	return len(s)
}
