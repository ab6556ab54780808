package journal_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

// Who reads a journal in the process of its writer and closes the file does not let others write it: the lock
// belongs to the open file, not to the process.
func TestReadersInTheProcessLeaveTheLockOfAWriter(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	unfinished(t, dir, "order-42")
	defer held(t, dir, "order-42")()
	for name, read := range map[string]func() error{
		"the file": func() error {
			_, err := os.ReadFile(filepath.Join(string(dir), journal.FileName("order-42")))
			return err
		},
		"a look": func() error {
			in, err := dir.Peek(t.Context(), "order-42")
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, in)
			require.NoError(t, err)
			return in.Close()
		},
		"a writer that is refused": func() error {
			_, err := dir.Open(t.Context(), "order-42")
			require.ErrorIs(t, err, journal.ErrConflict)
			return nil
		},
		"the last run": func() error {
			_, err := journal.Last(t.Context(), dir, "order-42")
			return err
		},
	} {
		require.NoError(t, read(), name)
		for range 2 { // a look is a reader, too
			all, err := dir.Stats(t.Context())
			require.NoError(t, err)
			assert.True(t, all[0].Held, name)
		}
		_, err := journaltest.Drive(dir, "order-42", func(string) {})
		require.ErrorIs(t, err, journal.ErrConflict, name)
	}
}
