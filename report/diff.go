package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/retake-go/retake/internal/canon"
)

// diffLine is one line of a comparison. Op is "+", "-", " ", or "…" for equal lines that are left out.
type diffLine struct{ Op, Text string }

// maxDiff is the most changed lines that a comparison shows.
const maxDiff = 800

// diffLines compares two texts line by line. It returns no lines for equal texts, and false if more than
// maxDiff lines have changed.
func diffLines(was, is string) (lines []diffLine, ok bool) {
	changed := 0
	// The first lines are the header of the diff.
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

// pretty formats strict JSON in canonical order, one member a line. It returns false for any other text.
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

// prettyPair formats two texts for a comparison: with pretty if both are strict JSON, else with loose.
func prettyPair(a, b string) (string, string) {
	prettyA, okA := pretty(a)
	prettyB, okB := pretty(b)
	if okA && okB {
		return prettyA, prettyB
	}
	return loose(a), loose(b)
}

// loose breaks invalid JSON into lines, and leaves any other text as it is.
func loose(text string) string {
	if s := strings.TrimSpace(text); s == "" || !isBracket(s[0]) {
		return text
	}
	lines := strings.NewReplacer(", ", ",\n", ",", ",\n", "{", "{\n", "[", "[\n", "}", "\n}", "]", "\n]")
	return lines.Replace(text)
}
