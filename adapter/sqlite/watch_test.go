package sqlite_test

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
)

// Who watches a database sees each journal grow, and whether somebody has it.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer store.Close()
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), false))
	require.NoError(t, log.Append(t.Context(), 4, []byte("two\nthree\n"), false))

	reader, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.NoError(t, err)
	defer reader.Close()
	all, err := reader.Watch(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, "order-42", all[0].Session)
	assert.Equal(t, int64(14), all[0].Size)
	assert.False(t, all[0].HeldUntil.IsZero())
	for from, want := range map[int64]string{0: "one\ntwo\nthree\n", 4: "two\nthree\n", 14: ""} {
		in, err := reader.ReadFrom(t.Context(), "order-42", from)
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	require.NoError(t, log.Close())
	all, err = reader.Watch(t.Context())
	require.NoError(t, err)
	assert.True(t, all[0].HeldUntil.IsZero())
}
