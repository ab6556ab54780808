//go:build unix

package main

import (
	"bufio"
	"io"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// visited is an output. When it is written to for the first time, another process speaks to a database, and
// closes it.
type visited struct {
	t    *testing.T
	path string
	once *sync.Once
}

func (v visited) Write(text []byte) (int, error) {
	v.once.Do(func() {
		out, _ := retakes(v.t, "say", v.path, "nobody", "Hello.")
		assert.Contains(v.t, out, "there is no run to continue")
		assert.FileExists(v.t, v.path+"-wal", "the log of a database that this process has open")
	})
	return len(text), nil
}

// Naming the sessions of a database that is open does not drop SQLite's locks on it: another process would
// take itself for the last one, and what is deleted after that would be there again.
func TestADatabaseThatIsPrunedIsKeptFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	for _, id := range []string{"order-1", "order-2", "order-3"} {
		j, err := journal.Open(t.Context(), store, id, journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{Journal: j})
		require.NoError(t, err)
		l, err := loop.New(looptest.NewModel(looptest.Say("Hello.")), loop.Config{})
		require.NoError(t, err)
		_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Hi."})
		require.NoError(t, err)
		require.NoError(t, j.Close())
	}
	require.NoError(t, store.Close())

	e := &env{out: bufio.NewWriterSize(visited{t, path, new(sync.Once)}, 16), err: io.Discard}
	p := &prune{Older: 1, stores: stores{names: []string{path}}}
	require.NoError(t, p.run(e))
	require.NoError(t, e.closeDatabases())
	store, err = sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	left, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, store.Close())
}
