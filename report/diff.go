package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/retake-go/retake/internal/canon"
)

// diffLine is one line of a comparison: Op is "+", "-", " ", or "…" for lines that are the same and left
// out.
type diffLine struct{ Op, Text string }

// maxDiff bounds the lines of a comparison.
const maxDiff = 800

// diffLines compares two texts line by line; nil where they are the same. Where too much has changed to be
// shown, ok is false.
func diffLines(was, is string) (lines []diffLine, ok bool) {
	if was == is {
		return nil, true
	}
	next, changed := 1, 0 // the line of was that follows, and how many lines are not the same
	unchanged := func(to int) {
		if to > next {
			lines = append(lines, diffLine{"…", many(to-next, "same line")})
			next = to
		}
	}
	header := 3
	for hunk := range strings.Lines(string(diff.Diff("was", []byte(was+"\n"), "is", []byte(is+"\n")))) {
		op, text := hunk[:1], strings.TrimSuffix(hunk[1:], "\n")
		switch {
		case header > 0:
			header--
			continue
		case op == "@":
			var from, count int
			_, _ = fmt.Sscanf(text, "@ -%d,%d", &from, &count)
			if count == 0 {
				from++ // nothing of was stands there: it is the line before
			}
			unchanged(from)
			continue
		case op != "+":
			next++
		}
		if op != " " {
			changed++
		}
		lines = append(lines, diffLine{op, text})
	}
	unchanged(strings.Count(was, "\n") + 2)
	if changed > maxDiff {
		return nil, false
	}
	return lines, true
}

// pretty is JSON in canonical order, one member a line; ok is false for a text that is no strict JSON.
func pretty(text string) (string, bool) {
	raw, err := canon.JSON([]byte(text))
	if err != nil {
		return "", false
	}
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return "", false
	}
	return out.String(), true
}

// prettyPair makes two texts comparable: in canonical order where both are strict JSON, else as they are
// written, a member a line where they look like JSON.
func prettyPair(a, b string) (string, string) {
	prettyA, okA := pretty(a)
	prettyB, okB := pretty(b)
	if okA && okB {
		return prettyA, prettyB
	}
	return loose(a), loose(b)
}

// loose breaks what looks like JSON into lines, whatever may be wrong with it; any other text is as it is.
func loose(text string) string {
	if s := strings.TrimLeft(text, " \t\r\n"); s == "" || strings.IndexByte("{[", s[0]) < 0 {
		return text
	}
	var (
		b      strings.Builder
		depth  int
		quoted bool
	)
	feed := func() { b.WriteString("\n" + strings.Repeat("  ", min(depth, maxWalk))) }
	for n := 0; n < len(text); n++ {
		c := text[n]
		switch {
		case quoted && c == '\\' && n+1 < len(text):
			b.WriteByte(c)
			n++
			c = text[n]
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte(" \t\r\n", c) >= 0:
			continue
		case c == '}' || c == ']':
			depth = max(0, depth-1)
			feed()
		}
		b.WriteByte(c)
		switch {
		case quoted:
		case c == '{' || c == '[':
			depth++
			feed()
		case c == ',':
			feed()
		case c == ':':
			b.WriteByte(' ')
		}
	}
	return b.String()
}
