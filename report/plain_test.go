package report_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/report"
)

func TestALineIsFitForATerminal(t *testing.T) {
	assert.Equal(t, "a b c", report.PlainOne("a\r\nb\t\tc \n"))
	assert.Equal(t, "\ufffd[31mred\ufffd\ufffd", report.PlainOne("\x1b[31mred\u202e\xff"))
	assert.Equal(t, "see [redacted, 12 bytes]", report.PlainOne("see [redacted 00112233445566778899aabbccddeeff, 12 bytes]"))
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range report.PlainOne(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))) {
			assert.True(t, unicode.IsGraphic(r), "%U", r)
		}
	})
}

func TestWrap(t *testing.T) {
	assert.Equal(t, []string{"one two", "three"}, report.Wrap("one two three", 8))
	assert.Equal(t, []string{"日本", "語"}, report.Wrap("日本語", 5))
	assert.Equal(t, []string{"a", "0123", "456"}, report.Wrap("a 0123456", 4))
	assert.Equal(t, 3, report.Width("e\u0301日"))
	rapid.Check(t, func(t *rapid.T) {
		text := report.PlainOne(rapid.String().Draw(t, "text"))
		limit := rapid.IntRange(2, 30).Draw(t, "limit")
		parts := report.Wrap(text, limit)
		for _, part := range parts {
			assert.LessOrEqual(t, report.Width(part), limit)
		}
		assert.Equal(t, strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(strings.Join(parts, " ")), ""))
	})
}

func TestBarsAreToScale(t *testing.T) {
	assert.Equal(t, strings.Repeat("█", 40), report.Bar(4*time.Second, 4*time.Second, 99))
	assert.Equal(t, strings.Repeat("█", 10), report.Bar(time.Second, 4*time.Second, 99))
	assert.Equal(t, "█", report.Bar(1, time.Hour, 20), "what is waited shows")
	assert.Empty(t, report.Bar(0, time.Hour, 20))
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	left, bare, omitted, stripped := report.Keep(4, 1<<20, []int{1, 1, 1, 1, 1, 1, 1})
	assert.Equal(t, []int{0, 1, 5, 6}, left)
	assert.Empty(t, bare)
	assert.Equal(t, []int{3, 0}, []int{omitted, stripped})

	left, bare, omitted, stripped = report.Keep(10, 20_000, []int{8_000, 8_000, 1, 8_000, 8_000})
	assert.Equal(t, []int{0, 1, 2, 3, 4}, left)
	assert.Equal(t, []int{1, 2, 3}, bare, "texts of the middle are left out")
	assert.Equal(t, []int{0, 3}, []int{omitted, stripped})

	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOf(rapid.IntRange(0, 5_000)).Draw(t, "sizes")
		entries := rapid.IntRange(2, 12).Draw(t, "entries")
		left, _, omitted, _ := report.Keep(entries, 12_000, sizes)
		assert.LessOrEqual(t, len(left), entries)
		assert.Len(t, sizes, len(left)+omitted)
	})
}
