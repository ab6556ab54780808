package report_test

import (
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
		{"…", "3 same lines"}, {" ", "d"}, {" ", "e"}, {"-", "f"}, {"+", "X"}, {" ", "g"}, {" ", "h"}, {"+", "i"},
	}, lines)
	lines, ok = report.Diff("same", "same")
	assert.True(t, ok)
	assert.Empty(t, lines)
	_, ok = report.Diff(strings.Repeat("a\n", 1000), strings.Repeat("b\n", 1000))
	assert.False(t, ok, "too long")
}

// What a comparison keeps and removes is the one text, what it keeps and adds the other.
func TestDiffTellsBothSides(t *testing.T) {
	side := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		a, b := side.Draw(t, "a"), side.Draw(t, "b")
		var was, is []string
		for _, l := range report.Compare(a, b) {
			if l.Op != "+" {
				was = append(was, l.Text)
			}
			if l.Op != "-" {
				is = append(is, l.Text)
			}
		}
		assert.Equal(t, strings.Join(a, ""), strings.Join(was, ""))
		assert.Equal(t, strings.Join(b, ""), strings.Join(is, ""))
	})
}

func TestBrokenJSONIsBrokenIntoLines(t *testing.T) {
	assert.Equal(t, "{\n  \"a\": [\n    1,\n    \"x, {\\\"}\"\n  ],\n  \"b\": tru", report.Loose(`{"a":[1, "x, {\"}"], "b": tru`))
	assert.Equal(t, "no JSON: {", report.Loose("no JSON: {"))
}
