package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/retake-go/retake/internal/canon"
)

// diffLine is one line of a comparison: Op is "+", "-", " ", or "…" for lines that are the same and left out.
type diffLine struct{ Op, Text string }

// maxDiff bounds the lines of each side that are compared, after what is the same at beginning and end.
const maxDiff = 400

// around is how many lines that are the same stand around a change.
const around = 2

// diff compares two texts line by line; nil where they are the same. Where they are too long to be compared, ok is false.
func diff(was, is string) (lines []diffLine, ok bool) {
	if was == is {
		return nil, true
	}
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	midA, midB := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(midA) > maxDiff || len(midB) > maxDiff {
		return nil, false
	}
	for _, text := range a[:head] {
		lines = append(lines, diffLine{" ", text})
	}
	lines = append(lines, compare(midA, midB)...)
	for _, text := range a[len(a)-tail:] {
		lines = append(lines, diffLine{" ", text})
	}
	return fold(lines), true
}

// compare finds the longest common lines.
func compare(a, b []string) []diffLine {
	common := make([][]int, len(a)+1)
	for n := range common {
		common[n] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var lines []diffLine
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			lines = append(lines, diffLine{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			lines = append(lines, diffLine{"-", a[i]})
			i++
		default:
			lines = append(lines, diffLine{"+", b[j]})
			j++
		}
	}
	return lines
}

// fold leaves lines out that are far from any change.
func fold(lines []diffLine) []diffLine {
	near := make([]bool, len(lines))
	for n, l := range lines {
		if l.Op == " " {
			continue
		}
		for k := max(0, n-around); k <= min(len(lines)-1, n+around); k++ {
			near[k] = true
		}
	}
	var folded []diffLine
	for n := 0; n < len(lines); n++ {
		if near[n] {
			folded = append(folded, lines[n])
			continue
		}
		from := n
		for n+1 < len(lines) && !near[n+1] {
			n++
		}
		folded = append(folded, diffLine{"…", many(n-from+1, "same line")})
	}
	return folded
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

// prettyPair makes two texts comparable: in canonical order where both are strict JSON, else as they are written, a member a line
// where they look like JSON.
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
