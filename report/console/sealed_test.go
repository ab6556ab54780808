package console_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/report/console"
)

func keyOf(t *testing.T, name string) sealed.Sealer {
	t.Helper()
	k, err := sealed.AES([]byte(name + strings.Repeat("k", sealed.MinKey)))
	require.NoError(t, err)
	return k
}

// unsealed is a console of a folder that opens sealed journals with keys.
func unsealed(t *testing.T, dir string, keys ...sealed.Sealer) *console.Console {
	t.Helper()
	store, err := sealed.New(journal.Dir(dir), keys...)
	require.NoError(t, err)
	return open(t, dir, soonAfter, func(s *console.Settings) { s.Stores[0].Store = store.(journal.Keeper) })
}

// Lines of a sealed journal that were swapped, left out, repeated or taken from another journal are told by
// number, and nothing behind them is believed. The keys that are missing are named, and nothing else is told.
func TestSealedJournals(t *testing.T) {
	dir, one := t.TempDir(), keyOf(t, "one")
	edits := map[string]func(lines, other [][]byte) [][]byte{
		"whole":    func(l, _ [][]byte) [][]byte { return l },
		"swapped":  func(l, _ [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l },
		"left-out": func(l, _ [][]byte) [][]byte { return append(l[:2], l[3:]...) },
		"repeated": func(l, _ [][]byte) [][]byte { return append(l[:3:3], l[2:]...) },
		"foreign":  func(l, other [][]byte) [][]byte { l[2] = other[2]; return l },
	}
	lines := func(id string) [][]byte {
		put(t, dir, id+".jsonl", asked(t, id, acme, time.Hour, pay(always)))
		require.NoError(t, sealed.Seal(t.Context(), journal.Dir(dir), id, one))
		text, err := os.ReadFile(filepath.Join(dir, id+".jsonl"))
		require.NoError(t, err)
		return bytes.SplitAfter(text, []byte("\n"))
	}
	other := lines("other")
	for id, edit := range edits {
		put(t, dir, id+".jsonl", bytes.Join(edit(lines(id), other), nil))
	}
	c := unsealed(t, dir, one)
	list := body(t, ask(t, c, "GET", "/api/sessions"))
	inbox := body(t, ask(t, c, "GET", "/inbox"))
	for id, line := range map[string]string{"whole": "", "swapped": "3", "left-out": "3", "repeated": "4", "foreign": "3"} {
		page := body(t, ask(t, c, "GET", "/session?id="+id))
		if line == "" {
			assert.Contains(t, list, `{"id":"`+id+`","state":"asking"`)
			assert.Contains(t, page, "Pay &lt;b&gt;ACME")
			assert.Contains(t, inbox, `href="session?id=`+id+`"`)
			continue
		}
		assert.Contains(t, list, `{"id":"`+id+`","state":"failed","why":"cannot be read from line `+line+`"`)
		assert.Contains(t, page, "line "+line+" ", id)
		assert.NotContains(t, inbox, id)
	}
	for name, c := range map[string]*console.Console{"no key": open(t, dir, soonAfter), "another key": unsealed(t, dir, keyOf(t, "two"))} {
		for _, target := range []string{"/", "/api/sessions", "/session?id=whole", "/inbox"} {
			r := ask(t, c, "GET", target)
			page := body(t, r)
			assert.Equal(t, http.StatusOK, r.StatusCode, "%s %s", name, target)
			assert.NotContains(t, page, "ACME", "%s %s", name, target)
			if target != "/inbox" {
				assert.Contains(t, page, "is sealed with the key whose id is", "%s %s", name, target)
				assert.Contains(t, page, one.KeyID(), "%s %s", name, target)
			}
		}
	}
}
