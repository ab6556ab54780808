package console_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/report/console"
)

func showSecrets(s *console.Settings) { s.ShowSecrets = true }

// Each turn leads to its lines, which are shown as they stand in the journal, with their hashes.
func TestATurnLeadsToItsLines(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	put(t, string(dir), "order-42.jsonl", asked(t, "order-42", acme, time.Hour, pay(always)))
	c := open(t, string(dir), soonAfter, showSecrets)
	page := body(t, ask(t, c, "GET", "/session?id=order-42"))
	require.Contains(t, page, `<a href="lines?id=order-42&amp;store=&amp;from=3">line 3</a>`)

	text, err := os.ReadFile(filepath.Join(string(dir), "order-42.jsonl"))
	require.NoError(t, err)
	var want strings.Builder
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if n >= 2 {
			fmt.Fprintf(&want, "%6d  %s\n", n+1, line)
		}
	}
	shown := ask(t, c, "GET", "/lines?id=order-42&from=3")
	assert.Equal(t, "text/plain; charset=utf-8", shown.Header.Get("Content-Type"))
	assert.Equal(t, want.String(), body(t, shown))

	hides := open(t, string(dir), soonAfter)
	assert.NotContains(t, body(t, ask(t, hides, "GET", "/session?id=order-42")), "lines?")
	assert.Equal(t, 404, ask(t, hides, "GET", "/lines?id=order-42&from=3").StatusCode, "values that a schema marks as secret are in them")
}

// Lines are shown in parts. Long ones are cut, and what cannot be seen is written out.
func TestLinesOfAnyJournal(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "many.jsonl", slices.Concat(named(t, "many", -1), []byte(strings.Repeat("a\u202eb\n", 250)), bytes.Repeat([]byte("x"), 100_000)))
	c := open(t, dir, showSecrets)
	first := body(t, ask(t, c, "GET", "/lines?id=many&from=100"))
	assert.True(t, strings.HasPrefix(first, "   100  a⟨U+202E⟩b\n"), first)
	rest := body(t, ask(t, c, "GET", "/lines?id=many&from=200"))
	assert.True(t, strings.HasSuffix(rest, strings.Repeat("x", 1<<16)+" … 100000 bytes in all\n"))
	first = body(t, ask(t, c, "GET", "/lines?id=many&from=1"))
	assert.True(t, strings.HasPrefix(first, `     1  {"hash":"`), first)
	assert.True(t, strings.HasSuffix(first, "   200  a⟨U+202E⟩b\n\nmore: from=201\n"), first)
	assert.Empty(t, body(t, ask(t, c, "GET", "/lines?id=many&from=2000000000")))
	for query, status := range map[string]int{"id=many": 400, "id=many&from=0": 400, "id=many&from=99999999999": 400, "id=none&from=1": 404} {
		assert.Equal(t, status, ask(t, c, "GET", "/lines?"+query).StatusCode, query)
	}
}
