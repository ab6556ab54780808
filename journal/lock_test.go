package journal

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file system may say that it has locks and keep nobody out. Two processes would then repeat effects.
func TestAJournalIsRefusedWhereLocksKeepNobodyOut(t *testing.T) {
	for name, lock := range map[string]func(*os.File) error{
		"a lock that does nothing": func(*os.File) error { return nil },
		"no locks":                 func(*os.File) error { return ErrNoLocks },
	} {
		t.Run(name, func(t *testing.T) {
			on := systemDisk
			on.lock = lock
			_, err := Dir(t.TempDir()).openOn(&on, "order-42")
			require.ErrorIs(t, err, ErrNoLocks)
			assert.ErrorContains(t, err, "use a folder on a local disk, or a store such as adapter/sqlite")
		})
	}
}

// Where open files cannot be renamed, as on Windows, a journal is compacted and emptied all the same.
func TestAJournalIsReplacedWhereOpenFilesCannotBeRenamed(t *testing.T) {
	on, dir := systemDisk, Dir(t.TempDir())
	on.movesOpen = false
	log, err := dir.openOn(&on, "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\ntwo\n"), true))
	require.NoError(t, log.Replace(t.Context(), 8, []byte("three\n")))
	require.NoError(t, log.Append(t.Context(), 6, []byte("four\n"), true))
	_, err = dir.openOn(&on, "order-42")
	require.ErrorIs(t, err, ErrConflict, "it is locked again")
	require.NoError(t, log.Close())
	text, err := os.ReadFile(filepath.Join(string(dir), FileName("order-42")))
	require.NoError(t, err)
	assert.Equal(t, "three\nfour\n", string(text))

	log, err = dir.openOn(&on, "empty")
	require.NoError(t, err)
	require.NoError(t, log.Close())
	files, err := os.ReadDir(string(dir))
	require.NoError(t, err)
	assert.Len(t, files, 1, "an empty journal leaves no file")
}

// A link in the folder does not make a file outside of it.
func TestALinkOutOfTheFolderIsNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, FileName("order-42"))))
	_, err := Dir(dir).Open(t.Context(), "order-42")
	require.Error(t, err)
	assert.NoFileExists(t, outside)
}

// A lock is on a file. If the file is removed or replaced, whoever opens the journal anew locks another one,
// so this writer stops.
func TestAWriterWhoseFileIsGoneStops(t *testing.T) {
	for name, lose := range map[string]func(path string) error{
		"removed":     os.Remove,
		"renamed":     func(path string) error { return os.Rename(path, path+".old") },
		"its folder":  func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"other there": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := Dir(filepath.Join(t.TempDir(), "sessions"))
			path := filepath.Join(string(dir), FileName("order-42"))
			for begun, text := range map[int64]string{0: "", 4: "one\n"} {
				first, err := dir.Open(t.Context(), "order-42")
				require.NoError(t, err)
				require.NoError(t, first.Append(t.Context(), 0, []byte(text), false))
				require.NoError(t, lose(path))
				second, err := dir.Open(t.Context(), "order-42")
				require.NoError(t, err)
				err = first.Append(t.Context(), begun, []byte("two\n"), false)
				require.ErrorIs(t, err, ErrConflict)
				assert.ErrorContains(t, err, path+" was removed or replaced while its journal was open")
				require.ErrorIs(t, first.Replace(t.Context(), begun, nil), ErrConflict)
				require.ErrorIs(t, first.Replace(t.Context(), begun, []byte("two\n")), ErrConflict)
				require.NoError(t, first.Close())
				assert.FileExists(t, path, "the file of the other writer stays")
				require.NoError(t, second.Append(t.Context(), 0, []byte("new\n"), false))
				require.NoError(t, second.Close())
				require.NoError(t, os.Remove(path))
			}
		})
	}
}

// A folder that is named from where the process works stays the same folder when the process goes elsewhere.
func TestAFolderStaysWhenTheProcessGoesElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	log, err := Dir("sessions").Open(t.Context(), "order-42")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	require.NoError(t, log.Replace(t.Context(), 4, []byte("two\n")))
	require.NoError(t, log.Append(t.Context(), 4, []byte("three\n"), true))
	require.NoError(t, log.Close())
	assert.NoDirExists(t, "sessions")
}
