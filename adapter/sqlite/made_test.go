package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
)

// halfMade is a database with tables by their statements, and how to make more.
func halfMade(t *testing.T, statements ...string) (path string, more func(statement string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "half.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	more = func(statement string) {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	for _, s := range append([]string{"PRAGMA journal_mode = WAL"}, statements...) {
		more(s)
	}
	return path, more
}

// A database that another process is just making is waited for, and has no journals yet.
func TestADatabaseThatIsBeingMadeIsEmpty(t *testing.T) {
	path, more := halfMade(t)
	go more("CREATE TABLE retake_inbox (session TEXT)")
	s := readerOf(t, path)
	ids, err := s.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, ids)
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	assert.Empty(t, stats)
	_, err = s.Peek(t.Context(), "order-42")
	require.ErrorIs(t, err, journal.ErrNoRun)
	_, err = s.Open(t.Context(), "order-42")
	require.ErrorContains(t, err, "does not exist")
}

// While stores are made, readers see no half of one.
func TestReadersBesideThoseThatMakeDatabases(t *testing.T) {
	for n := range 20 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(n, ".db"))
		made := make(chan error, 1)
		go func() {
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				err = s.Close()
			}
			made <- err
		}()
		var s *sqlite.Store
		for s == nil {
			s, _ = sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true}) // it may not be there yet
		}
		_, err := s.List(t.Context())
		require.NoError(t, err)
		_, err = s.Stats(t.Context())
		require.NoError(t, err)
		_, err = s.Items(t.Context(), "order-42")
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.NoError(t, <-made)
	}
}

// Another program's database is none, and nothing is waited for.
func TestADatabaseOfAnotherProgramIsNamed(t *testing.T) {
	path, _ := halfMade(t, "CREATE TABLE places (name TEXT)")
	_, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.ErrorContains(t, err, "half.db: it has no tables of a store: give a database that a store has made")
}
