package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// SQLite keeps what is deleted in free pages, and in its log, unless it is told otherwise.
func TestADeletedJournalIsInNoFileOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	store := open(t, filepath.Join(dir, "journals.db"))
	secret := strings.Repeat("the secret of order 42; ", 1000)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte(secret+"\n"), true))
	require.NoError(t, log.Close())
	require.NoError(t, journal.Delete(t.Context(), store, "order-42"))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		assert.NotContains(t, string(text), "secret of order", f.Name())
		assert.NotContains(t, string(text), "order-42", f.Name())
	}
}

// An owner that was superseded before its journal was deleted does not own the next one of that id.
func TestADeletedJournalGivesItsNumbersToNobody(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "journals.db"))
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.(journal.Deleter).Delete(t.Context(), 4))
	again, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(t.Context(), 0, []byte("one\n"), true), journal.ErrConflict)
	require.NoError(t, log.Close())
	require.NoError(t, again.Append(t.Context(), 0, []byte("two\n"), true))
}
