package sqlite_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
)

// readerOf opens a database for reading only.
func readerOf(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

// whole reads the journal of a session.
func whole(t *testing.T, s *sqlite.Store, session string) string {
	t.Helper()
	log, err := s.Open(t.Context(), session)
	require.NoError(t, err)
	in, err := log.Read(t.Context())
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, log.Close())
	return string(text)
}

// A reader sees what the owner appends, keeps nobody out, and writes nothing.
func TestADatabaseIsReadBesideItsOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	owner := open(t, path)
	log, err := owner.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))

	reader := readerOf(t, path)
	ids, err := reader.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"order-42"}, ids)
	beside, err := reader.Open(t.Context(), "order-42")
	require.NoError(t, err)
	in, err := beside.Read(t.Context())
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(text))

	require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true), "the owner is not kept out")
	text, err = io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "two\n", string(text), "what is appended can be read at once")

	require.ErrorIs(t, beside.Append(t.Context(), 8, []byte("three\n"), true), journal.ErrReadOnly)
	require.NoError(t, beside.Close())
	require.NoError(t, reader.Close())
	require.NoError(t, log.Append(t.Context(), 8, []byte("three\n"), true), "no lease was taken")
	_, err = readerOf(t, path).Open(t.Context(), "order-43")
	require.ErrorContains(t, err, `session "order-43"`)
}

// A database that was closed is a single file, and stays one.
func TestReadingAClosedDatabaseLeavesNoTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	filled(t, path, "one\n")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "one\n", whole(t, readerOf(t, path), "order-42"))
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, files, 1)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// filled is a database with the journal of one session, which was closed.
func filled(t *testing.T, path, lines string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte(lines), true))
	require.NoError(t, log.Close())
	require.NoError(t, store.Close())
}

// A reader that found the database closed notices that it was opened and written to since, and closed again.
func TestAReaderNoticesThatAClosedDatabaseIsWrittenTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	filled(t, path, "one\n")
	reader := readerOf(t, path)
	log, err := reader.Open(t.Context(), "order-42")
	require.NoError(t, err)
	in, err := log.Read(t.Context())
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.Equal(t, "one\n", string(text))

	owner := open(t, path)
	theirs, err := owner.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, theirs.Append(t.Context(), 4, []byte("two\n"), true))
	text, err = io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "two\n", string(text))

	require.NoError(t, theirs.Append(t.Context(), 8, []byte("three\n"), true))
	require.NoError(t, theirs.Close())
	require.NoError(t, owner.Close())
	text, err = io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "three\n", string(text))
}

// What a process that died left in SQLite's log is read too.
func TestADatabaseThatWasNotClosedIsReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	owner := open(t, path)
	log, err := owner.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Close())
	left := filepath.Join(t.TempDir(), "journals.db")
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(left+suffix, raw, 0o600))
	}
	assert.Equal(t, "one\n", whole(t, readerOf(t, left), "order-42"))
	assert.Equal(t, "one\n", whole(t, open(t, left), "order-42"), "and the next owner has it")
}

func TestOnlyADatabaseThatExistsIsOpenedForReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	_, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.NoFileExists(t, path)
	require.NoError(t, os.WriteFile(path, []byte("no database at all, but a text that is long enough to be taken for one"), 0o600))
	_, err = sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.ErrorContains(t, err, "file is not a database")
}
