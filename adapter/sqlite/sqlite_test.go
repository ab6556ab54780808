package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/journal/sealed"
)

func open(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	journaltest.Store(t, func(t *testing.T) journal.Store { return open(t, filepath.Join(t.TempDir(), "journals.db")) })
}

func TestASealedStore(t *testing.T) {
	key, err := sealed.AES(bytes.Repeat([]byte("k"), sealed.MinKey))
	require.NoError(t, err)
	journaltest.Store(t, func(t *testing.T) journal.Store {
		s, err := sealed.New(open(t, filepath.Join(t.TempDir(), "journals.db")), key)
		require.NoError(t, err)
		return s
	})
}

func TestTheFilesAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	store := open(t, filepath.Join(dir, "journals.db"))
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

func TestAnyPathIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20é.db")
	open(t, path)
	assert.FileExists(t, path)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := sqlite.Open(t.Context(), "")
	require.ErrorContains(t, err, "the path is empty")
	_, err = sqlite.Open(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "opening "+filepath.Dir(t.TempDir()))
	require.ErrorContains(t, err, "it is a folder: give the path of a file")
	_, err = sqlite.OpenLimits(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "it is a folder: give the path of a file")
}
