package sqlite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// asNobody runs the rest of the test as a user without special rights, because root may write everywhere.
func asNobody(t *testing.T) {
	const nobody = 65534
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	require.NoError(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		require.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

// openFolder is a folder that every user may read.
func openFolder(t *testing.T) string {
	dir := t.TempDir()
	for d := dir; d != filepath.Clean(os.TempDir()); d = filepath.Dir(d) {
		require.NoError(t, os.Chmod(d, 0o755))
	}
	return dir
}

// recorded is a database with one ended run, in its own folder.
func recorded(t *testing.T) (path string, want loop.Result) {
	t.Helper()
	path = filepath.Join(openFolder(t), "journals.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	l, err := loop.New(looptest.NewModel(looptest.Say("Done.")), loop.Config{})
	require.NoError(t, err)
	want, err = l.Run(t.Context(), s, loop.Input{Prompt: "Hi."})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, store.Close())
	return path, want
}

// An ended run in a read-only database can be read and returned. Writing is refused by name.
func TestAnEndedJournalInADatabaseThatIsReadOnly(t *testing.T) {
	for name, mode := range map[string]struct{ file, dir os.FileMode }{
		"file and folder": {0o444, 0o555}, "the file alone": {0o444, 0o777}, "the folder alone": {0o666, 0o555},
	} {
		t.Run(name, func(t *testing.T) {
			path, want := recorded(t)
			require.NoError(t, os.Chmod(path, mode.file))
			require.NoError(t, os.Chmod(filepath.Dir(path), mode.dir))
			t.Cleanup(func() { assert.NoError(t, os.Chmod(filepath.Dir(path), 0o755)) })
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			asNobody(t)
			for range 2 {
				store, err := sqlite.Open(t.Context(), path)
				require.NoError(t, err)
				ids, err := store.List(t.Context())
				require.NoError(t, err)
				assert.Equal(t, []string{"order-42"}, ids)
				j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
				require.NoError(t, err)
				s, err := session.New(session.Config{Journal: j})
				require.NoError(t, err)
				l, err := loop.New(looptest.NewModel(looptest.Say("No.")), loop.Config{})
				require.NoError(t, err)
				got, err := l.Resume(t.Context(), s)
				require.NoError(t, err)
				assert.Equal(t, want.Text, got.Text)
				_, err = l.Run(t.Context(), s, loop.Input{Prompt: "More."})
				require.ErrorIs(t, err, journal.ErrReadOnly)
				require.ErrorContains(t, err, `journal of session "order-42"`)
				require.NoError(t, j.Close())

				_, err = store.Open(t.Context(), "order-43")
				require.ErrorIs(t, err, journal.ErrReadOnly)
				require.ErrorContains(t, err, `session "order-43"`)
				require.NoError(t, store.Close())
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, before, after)
			files, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, files, 1, "nothing is left beside it")
		})
	}
}

// A pool returns the recorded end and asks no model.
func TestAPoolGivesTheEndInADatabaseThatIsReadOnly(t *testing.T) {
	path, want := recorded(t)
	require.NoError(t, os.Chmod(path, 0o444))
	asNobody(t)
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	var got loop.Result
	pool, err := loop.NewPool(loop.PoolConfig{
		Model: looptest.NewModel(), Done: func(_ *session.Session, r loop.Result, err error) {
			assert.NoError(t, err)
			got = r
		},
	})
	require.NoError(t, err)
	_, err = pool.Add(s, loop.Input{Prompt: "Hi."})
	require.NoError(t, err)
	require.NoError(t, pool.Run(t.Context(), 1))
	assert.Equal(t, want.Text, got.Text)
	require.NoError(t, j.Close())
	require.NoError(t, store.Close())
}

// Changes that a dead process did not bring into the file cannot be read there. They are reported, not
// ignored.
func TestADatabaseWhoseLogIsNotInItIsRefused(t *testing.T) {
	path, _ := recorded(t)
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	log, err := store.Open(t.Context(), "order-43")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
	dir := openFolder(t)
	copied := filepath.Join(dir, "journals.db")
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(path + suffix)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied+suffix, raw, 0o444))
	}
	require.NoError(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(dir, 0o755)) })
	require.NoError(t, log.Close())
	require.NoError(t, store.Close())
	asNobody(t)
	_, err = sqlite.Open(t.Context(), copied)
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, "journals.db-wal has changes that are not yet in the database; open the database once where it can be written")
}
