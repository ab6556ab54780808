package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/retake-go/retake/internal/canon"
)

// diffLine is one line of a comparison: Op is "+", "-", " ", or "…" where lines that are the same are left
// out.
type diffLine struct{ Op, Text string }

// maxDiff bounds the lines of a comparison.
const maxDiff = 800

// diffLines compares two texts line by line; nil where they are the same. Where too much has changed to be
// shown, ok is false.
func diffLines(was, is string) (lines []diffLine, ok bool) {
	changed := 0
	// The first lines name the two sides.
	_, hunks, _ := strings.Cut(string(diff.Diff("", []byte(was+"\n"), "", []byte(is+"\n"))), "\n+++ ")
	for line := range strings.Lines(hunks) {
		op, text := line[:1], strings.TrimSuffix(line[1:], "\n")
		switch {
		case op == "@" && len(lines) > 0:
			op, text = "…", ""
		case op == "+", op == "-":
			changed++
		case op != " ":
			continue
		}
		lines = append(lines, diffLine{op, text})
	}
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
	if s := strings.TrimSpace(text); s == "" || !isBracket(s[0]) {
		return text
	}
	return strings.NewReplacer(", ", ",\n", "{", "{\n", "[", "[\n", ",", ",\n", "}", "\n}", "]", "\n]").Replace(text)
}
