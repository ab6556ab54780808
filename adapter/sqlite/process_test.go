package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
)

// visitIn makes a process open a database, look at it and close it, as the command does.
const visitIn = "RETAKE_TEST_VISIT"

func init() {
	path := os.Getenv(visitIn)
	if path == "" {
		return
	}
	s, err := sqlite.Open(context.Background(), path)
	if err == nil {
		_, err = s.List(context.Background())
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A process that opens the file once more does not lose the locks that it has on it: another process, when it
// closes the file, would take itself for the last and delete the log to which this one writes.
func TestOpeningTheFileAgainKeepsItsLocks(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	for name, again := range map[string]func(path string) error{
		"limits": func(path string) error {
			l, err := sqlite.OpenLimits(t.Context(), path)
			if err == nil {
				t.Cleanup(func() { assert.NoError(t, l.Close()) })
			}
			return err
		},
		"a store": func(path string) error {
			s, err := sqlite.Open(t.Context(), path)
			if err == nil {
				t.Cleanup(func() { assert.NoError(t, s.Close()) })
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journals.db")
			store, err := sqlite.Open(t.Context(), path)
			require.NoError(t, err)
			log, err := store.Open(t.Context(), "order-42")
			require.NoError(t, err)
			require.NoError(t, log.Append(t.Context(), 0, []byte("one\n"), true))
			require.NoError(t, again(path))
			visit := exec.Command(exe)
			visit.Env = append(os.Environ(), visitIn+"="+path)
			out, err := visit.CombinedOutput()
			require.NoError(t, err, string(out))
			_, err = os.Stat(path + "-wal")
			require.NoError(t, err, "the log of an open database is there")
			require.NoError(t, log.Append(t.Context(), 4, []byte("two\n"), true))
			require.NoError(t, log.Close())
			require.NoError(t, store.Close())
			assert.Equal(t, "one\ntwo\n", whole(t, readerOf(t, path), "order-42"))
		})
	}
}
