package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

func TestReportsCountInWords(t *testing.T) {
	assert.Equal(t, "session s: 1 event, 1 prompt: all as recorded", journal.Report{Session: "s", Events: 1, Prompts: 1}.String())
	assert.Equal(t, "session s: 4 events of 2 runs, 2 prompts: all as recorded", journal.Report{Session: "s", Events: 4, Runs: 2, Prompts: 2}.String())
}

func utf16of(text []byte, order func(uint16) []byte) []byte {
	out := order(0xfeff)
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = append(out, order(unit)...)
	}
	return out
}

// What editors and text-mode copies make of a journal is refused with words that name each of their changes.
func TestAJournalThatWasCopiedAsText(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(v1, "corrected.jsonl"))
	require.NoError(t, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	crlf := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")) }
	marked := append([]byte("\ufeff"), whole...)
	const want = `it is no line of a journal: {"hash":…,"record":…} is wanted, in UTF-8 without a byte order mark, ` +
		"and a line feed alone at its end; copy the file byte for byte"
	for name, text := range map[string][]byte{
		"mark":                    marked,
		"mark, torn":              marked[:60],
		"mark, and CRs":           crlf(marked),
		"mark of a prose":         []byte("\ufeffonce upon a time\n"),
		"UTF-16, low byte first":  utf16of(whole, func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }),
		"UTF-16, high byte first": utf16of(whole, func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }),
		"CRs":                     crlf(whole),
		"CR from a later line on": append(bytes.Clone(lines[0]), crlf(lines[1])...),
		"prose with a CR":         []byte("once upon a time\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := journal.Replay(bytes.NewReader(text), nil)
			require.ErrorIs(t, err, journal.ErrCorrupt)
			assert.ErrorContains(t, err, want)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "order-42.jsonl"), text, 0o600))
			_, err = journal.Open(context.Background(), journal.Dir(dir), "order-42", journal.Settings{})
			assert.ErrorContains(t, err, want)
		})
	}
}

// cutOff is a text whose end was not reached.
type cutOff struct{ io.Reader }

func (c cutOff) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err != nil {
		err = fmt.Errorf("read tcp: %w", err)
	}
	return n, err
}

// A text that was cut off is not taken for a whole one, although the error wraps io.EOF.
func TestATextThatWasCutOffIsNotWhole(t *testing.T) {
	_, err := journal.NewReader(cutOff{strings.NewReader("")}).Next()
	assert.EqualError(t, err, "the text was cut off: read tcp: EOF")
	assert.NotErrorIs(t, err, io.EOF)
}

// A journal is compacted at once, so no crash leaves one without its snapshot. Whoever reads it is told, and
// makes nothing anew that is only in the snapshot.
func TestACompactedJournalWithoutItsSnapshotIsNotWhole(t *testing.T) {
	whole := kept(t, "compacted")
	first := bytes.IndexByte(whole, '\n') + 1
	torn := whole[:first+bytes.IndexByte(whole[first:], '\n')]
	_, replayed := replay(torn)
	_, asked := journal.WhatIf{}.Run(bytes.NewReader(torn))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.FileName(theSession)), torn, 0o600))
	_, last := journal.Last(t.Context(), journal.Dir(dir), theSession)
	r := journal.NewReader(bytes.NewReader(torn))
	_, read := r.Next()
	require.NoError(t, read)
	_, read = r.Next()
	for _, err := range []error{replayed, asked, last, read, journal.Compact(t.Context(), journal.Dir(dir), theSession, nil)} {
		require.ErrorIs(t, err, journal.ErrCorrupt)
		require.ErrorContains(t, err, "line 2 (offset "+strconv.Itoa(first)+"): the snapshot of the compacted journal is missing or cut off")
	}
}
