package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
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

// What a journal was before it was sealed or compacted is gone, too.
func TestAReplacedJournalIsInNoFileOfTheDatabase(t *testing.T) {
	dir := t.TempDir()
	store := open(t, filepath.Join(dir, "journals.db"))
	secret := []byte(strings.Repeat("the secret of order 42; ", 1000) + "\n")
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, secret, true))
	require.NoError(t, log.Replace(t.Context(), int64(len(secret)), []byte("sealed\n")))
	require.NoError(t, log.Close())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		require.NoError(t, err)
		assert.NotContains(t, string(text), "secret of order", f.Name())
	}
}

// An owner that was superseded before its journal was deleted does not own the next one of that id.
func TestADeletedJournalGivesItsNumbersToNobody(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "journals.db"))
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Replace(t.Context(), 4, nil))
	again, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(t.Context(), 0, []byte("one\n"), true), journal.ErrConflict)
	require.NoError(t, log.Close())
	require.NoError(t, again.Append(t.Context(), 0, []byte("two\n"), true))
}

func TestAClosedStoreAndOneThatIsReadTakeNoItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	store := open(t, path)
	item := journal.Item{Kind: journal.AnswerItem, Key: "q1", Body: []byte("1"), At: time.Unix(1e9, 0)}
	require.NoError(t, store.Put(t.Context(), "order-42", item))
	require.NoError(t, store.Close())
	require.ErrorContains(t, store.Put(t.Context(), "order-42", item), `sqlite: inbox of session "order-42": sql: database is closed`)
	read, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.NoError(t, err)
	defer read.Close()
	items, err := read.Items(t.Context(), "order-42")
	require.NoError(t, err)
	assert.Len(t, items, 1)
	require.ErrorIs(t, read.Put(t.Context(), "order-43", item), journal.ErrReadOnly)
	require.ErrorIs(t, read.Remove(t.Context(), "order-42", item), journal.ErrReadOnly)
}

// A journal that was deleted and begun anew is not the one that was followed.
func TestAFollowedJournalThatBecomesShorterIsNamed(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "journals.db"))
	var f journal.Follower
	follow := func() error {
		in, err := store.Peek(t.Context(), "order-42")
		require.NoError(t, err)
		defer in.Close()
		return f.Read(in)
	}
	_, err := journaltest.Drive(store, "order-42", func(string) {})
	require.NoError(t, err)
	require.NoError(t, follow())
	require.NoError(t, journal.Delete(t.Context(), store, "order-42"))
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("short\n"), true))
	err = follow()
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "the journal has become shorter than")
}
