package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// The leases are in the file. If it is removed or replaced while it is open, whoever opens the database anew
// has other ones, so this process writes no more.
func TestAStoreWhoseFileIsGoneWritesNoMore(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed": func(path string) error {
			return errors.Join(os.Remove(path), os.RemoveAll(path+"-wal"), os.RemoveAll(path+"-shm"))
		},
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journals.db")
			first, err := Open(t.Context(), path)
			require.NoError(t, err)
			log, err := first.Open(t.Context(), "order-42")
			require.NoError(t, err)
			require.NoError(t, log.Append(t.Context(), 0, []byte("1\n"), true))
			require.NoError(t, lose(path))
			require.ErrorIs(t, log.Append(t.Context(), 2, []byte("2\n"), true), journal.ErrConflict)
			err = log.Replace(t.Context(), 2, []byte("2\n"))
			require.ErrorIs(t, err, journal.ErrConflict)
			assert.ErrorContains(t, err, path+" was removed or replaced while it was open")
			_, err = first.Open(t.Context(), "order-43")
			require.ErrorIs(t, err, journal.ErrConflict)
			_, err = first.Stats(t.Context())
			require.ErrorIs(t, err, journal.ErrConflict, "what it lists is no longer what the file has")
			_ = log.Close()
			require.NoError(t, first.Close())
		})
	}
}

// What is written to a log that was removed is lost with the process, and no other process sees it.
func TestAStoreWhoseLogIsGoneWritesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	store, err := Open(t.Context(), path)
	require.NoError(t, err)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("1\n"), true))
	require.NoError(t, os.Remove(path+"-wal"))
	err = log.Append(t.Context(), 2, []byte("2\n"), true)
	require.ErrorIs(t, err, journal.ErrConflict)
	require.ErrorContains(t, err, path+"-wal was removed while it was open")
	_ = log.Close()
	require.NoError(t, store.Close())

	store, err = Open(t.Context(), path)
	require.NoError(t, err)
	defer store.Close()
	log, err = store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	in, err := log.Read(t.Context())
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(text), "it was still open, and what it had came into the database")
	require.NoError(t, log.Append(t.Context(), 2, []byte("2\n"), true))
	require.NoError(t, log.Close())
}

// A path that is relative names the same file when the process goes elsewhere.
func TestAFileStaysWhenTheProcessGoesElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	store, err := Open(t.Context(), "journals.db")
	require.NoError(t, err)
	defer store.Close()
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, log.Append(t.Context(), 0, []byte("1\n"), true))
	require.NoError(t, log.Close())
}
