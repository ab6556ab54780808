package main

import (
	"strings"
	"time"
	"unicode"

	"github.com/retake-go/retake/internal/canon"
)

// paint colours text if it is set.
type paint bool

func (p paint) with(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p paint) bold(text string) string  { return p.with("1", text) }
func (p paint) faint(text string) string { return p.with("2", text) }
func (p paint) red(text string) string   { return p.with("31", text) }
func (p paint) green(text string) string { return p.with("32", text) }
func (p paint) cyan(text string) string  { return p.with("36", text) }

// plain makes any text safe for a line of a terminal: tabs become spaces, and other characters that cannot be
// seen U+FFFD.
func plain(s string) string { return strings.ReplaceAll(plainLines(s), "\n", "\uFFFD") }

// plainLines is plain for a text of several lines.
func plainLines(s string) string {
	var b strings.Builder
	for at, r := range s {
		switch {
		case r == '\t':
			r = ' '
		case r != '\n' && !canon.Seen(s[:at], r):
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}

// indent puts two spaces before each line.
func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// barWidth is the length of the longest bar, in characters.
const barWidth = 40

// bar returns a part of a whole as a bar. Any part above 0 has a block.
func bar[N int | time.Duration](part, whole N) string {
	if part <= 0 || whole <= 0 {
		return ""
	}
	return strings.Repeat("█", max(1, int(float64(part)/float64(whole)*barWidth)))
}
