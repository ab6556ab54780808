package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/report"
)

func TestDiff(t *testing.T) {
	lines, ok := report.Diff("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm", "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn")
	require.True(t, ok)
	assert.Equal(t, []report.Line{
		{" ", "a"}, {"-", "b"}, {"+", "B"}, {" ", "c"}, {" ", "d"}, {" ", "e"}, {"…", ""},
		{" ", "k"}, {" ", "l"}, {" ", "m"}, {"+", "n"},
	}, lines)
	lines, ok = report.Diff("same", "same")
	assert.True(t, ok)
	assert.Empty(t, lines)
	_, ok = report.Diff(strings.Repeat("a\n", 1000), strings.Repeat("b\n", 1000))
	assert.False(t, ok, "too long")
}

// Without its removed and added lines, a diff is what both texts share.
func TestDiffTellsBothSides(t *testing.T) {
	side := rapid.SliceOfNDistinct(rapid.StringMatching("[a-z]?[ab]"), 0, 24, rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		sides := map[string][]string{"-": side.Draw(t, "was"), "+": side.Draw(t, "is")}
		was, is := strings.Join(sides["-"], "\n"), strings.Join(sides["+"], "\n")
		lines, ok := report.Diff(was, is)
		require.True(t, ok)
		rest := map[string][]string{"-": strings.Split(was, "\n"), "+": strings.Split(is, "\n")}
		kept := map[string][]string{}
		for _, l := range lines {
			for _, op := range []string{"-", "+"} {
				if l.Op != op && l.Op != " " {
					continue
				}
				at := slices.Index(rest[op], l.Text)
				require.GreaterOrEqual(t, at, 0, "%q is no line of %q", l.Text, rest[op])
				if l.Op == " " {
					at++
				}
				kept[op] = append(kept[op], rest[op][:at]...)
				rest[op] = rest[op][max(at, 1):]
			}
		}
		for _, op := range []string{"-", "+"} {
			kept[op] = append(kept[op], rest[op]...)
		}
		require.Equal(t, kept["-"], kept["+"])
	})
}

func TestBrokenJSONIsBrokenIntoLines(t *testing.T) {
	assert.Equal(t, "{\n\"a\":[\n1,\n\"x\"\n],\n\"b\": tru", report.Loose(`{"a":[1, "x"], "b": tru`))
	assert.Equal(t, "no JSON: {", report.Loose("no JSON: {"))
}

func TestAPromptShowsTheLinesThatAreNew(t *testing.T) {
	long := strings.Repeat("You book rooms.\n", 20)
	for name, c := range map[string]struct{ was, is, part string }{
		"the_same":      {long + "b", long + "b", ""},
		"changed":       {long + "b\n" + long, long + "c\n" + long, "c"},
		"added":         {long, long + "c\nd", "c\nd"},
		"removed":       {long + "b\nc\n" + long + "d", long + "c\n" + long + "d", "c"},
		"end_removed":   {long + "b\nc", long + "b", "b"},
		"too_few_alike": {"a\nb", "a\nc", "a\nc"},
	} {
		part, same := report.News(c.was, c.is)
		assert.Equal(t, c.part, part, name)
		if part != c.is {
			assert.Equal(t, len(c.is)-len(part), same, name)
		}
	}
}
