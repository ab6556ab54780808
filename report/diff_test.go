package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/report"
)

func TestDiff(t *testing.T) {
	lines, ok := report.Diff("a\nb\nc\nd\ne\nf\ng\nh", "a\nb\nc\nd\ne\nX\ng\nh\ni")
	require.True(t, ok)
	assert.Equal(t, []report.Line{
		{"…", "2 same lines"}, {" ", "c"}, {" ", "d"}, {" ", "e"}, {"-", "f"}, {"+", "X"}, {" ", "g"}, {" ", "h"}, {"+", "i"},
	}, lines)
	lines, ok = report.Diff("same", "same")
	assert.True(t, ok)
	assert.Empty(t, lines)
	_, ok = report.Diff(strings.Repeat("a\n", 1000), strings.Repeat("b\n", 1000))
	assert.False(t, ok, "too long")
}

// What a comparison keeps and removes is the one text, what it keeps and adds the other.
func TestDiffTellsBothSides(t *testing.T) {
	side := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", ""}), 0, 24)
	rapid.Check(t, func(t *rapid.T) {
		a, b := side.Draw(t, "a"), side.Draw(t, "b")
		before, after := strings.Join(a, "\n"), strings.Join(b, "\n")
		lines, ok := report.Diff(before, after)
		require.True(t, ok)
		if before == after {
			require.Empty(t, lines)
			return
		}
		rest, is := strings.Split(before, "\n"), []string{}
		for _, l := range lines {
			same := 0
			switch l.Op {
			case "…":
				_, err := fmt.Sscan(l.Text, &same)
				require.NoError(t, err)
			case "+":
				is = append(is, l.Text)
			case "-":
				require.Equal(t, rest[0], l.Text)
				rest = rest[1:]
			case " ":
				require.Equal(t, rest[0], l.Text)
				same = 1
			}
			is, rest = append(is, rest[:same]...), rest[same:]
		}
		require.Empty(t, rest)
		require.Equal(t, after, strings.Join(is, "\n"))
	})
}

func TestBrokenJSONIsBrokenIntoLines(t *testing.T) {
	assert.Equal(t, "{\n  \"a\": [\n    1,\n    \"x, {\\\"}\"\n  ],\n  \"b\": tru", report.Loose(`{"a":[1, "x, {\"}"], "b": tru`))
	assert.Equal(t, "no JSON: {", report.Loose("no JSON: {"))
}
