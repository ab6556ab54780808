package sqlite_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/limit/limittest"
)

func openLimits(t *testing.T, path string) *sqlite.Limits {
	t.Helper()
	l, err := sqlite.OpenLimits(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func TestLimits(t *testing.T) {
	limittest.Store(t, func(t *testing.T) limiter.Store { return openLimits(t, filepath.Join(t.TempDir(), "limits.db")) })
}

func TestLimitsAndJournalsShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	open(t, path)
	swapped, err := openLimits(t, path).Swap(t.Context(), "a", 0, []byte("one"))
	require.NoError(t, err)
	assert.True(t, swapped)
	_, err = sqlite.OpenLimits(t.Context(), "")
	require.ErrorContains(t, err, "the path is empty")
}

// A store tells of the limits in its database: of none before a limiter uses it, also if it is only read.
func TestAStoreTellsOfTheLimits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "retake.db")
	store := open(t, path)
	all, err := store.Limits(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
	limits := openLimits(t, path)
	toRead, err := sqlite.OpenWith(t.Context(), path, sqlite.Settings{ReadOnly: true})
	require.NoError(t, err)
	defer toRead.Close()
	limittest.Lister(t, limits, "sqlite", store.Limits, toRead.Limits)
}

// A scope that nobody uses any more is forgotten. What was replaced within the hour stays.
func TestOldLimitsAreForgotten(t *testing.T) {
	limits := openLimits(t, filepath.Join(t.TempDir(), "limits.db"))
	now := time.Unix(1e9, 0)
	limits.SetClock(func() time.Time { return now })
	swap := func(scope string, version int64) bool {
		swapped, err := limits.Swap(t.Context(), scope, version, []byte("one"))
		require.NoError(t, err)
		return swapped
	}
	load := func(scope string) int64 {
		r, err := limits.Load(t.Context(), scope)
		require.NoError(t, err)
		return r.Version
	}
	require.True(t, swap("old", 0))
	require.True(t, swap("again", 0))
	old := load("old")
	now = now.Add(time.Minute)
	require.True(t, swap("young", 0))
	require.True(t, swap("again", load("again")))
	now = now.Add(time.Hour)
	require.True(t, swap("new", 0))
	for _, scope := range []string{"young", "again", "new"} {
		assert.NotZero(t, load(scope), scope)
	}
	assert.Zero(t, load("old"))
	assert.False(t, swap("old", old), "it is not there")
	require.True(t, swap("old", 0))
	assert.False(t, swap("old", old), "it is another one")
}

func TestARunThatIsKilledBetweenAskAndGrantAndCallGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.db")
	limittest.Killed(t, openLimits(t, path), envLimits+"="+path)
}

// envLimits is the database of a process that makes calls under a limit.
const envLimits = "RETAKE_TEST_LIMITS"

// limited makes calls under a limit until it is killed or its input ends, and prints a line for each.
func limited(store limiter.Store) error {
	l, err := limiter.New(limiter.Config{
		Store: store, Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 10, Period: 100 * time.Millisecond}}},
	})
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		grant, err := l.Acquire(context.Background(), limiter.Ask{Scope: "a"})
		if err != nil {
			return err
		}
		if _, err := os.Stdout.WriteString("called\n"); err != nil {
			return err
		}
		l.Settle(grant, limiter.Use{Outcome: limit.Served})
	}
	return nil
}

// Processes of one machine keep a limit together, also when one of them is killed.
func TestProcessesShareALimitAndOutliveOneThatIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.db")
	exe, err := os.Executable()
	require.NoError(t, err)
	const calls = 30
	begun := time.Now()
	var all sync.WaitGroup
	for n := range 3 {
		all.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env, cmd.Stderr = append(os.Environ(), envLimits+"="+path), os.Stderr
			in, err := cmd.StdinPipe()
			assert.NoError(t, err)
			out, err := cmd.StdoutPipe()
			assert.NoError(t, err)
			if !assert.NoError(t, cmd.Start()) {
				return
			}
			heard := bufio.NewScanner(out)
			for done := range calls {
				_, err := in.Write([]byte("one more\n"))
				assert.NoError(t, err)
				if !assert.True(t, heard.Scan()) {
					break
				}
				if n == 0 && done == calls/2 {
					assert.NoError(t, cmd.Process.Kill())
					assert.Error(t, cmd.Wait())
					return
				}
			}
			assert.NoError(t, in.Close())
			assert.NoError(t, cmd.Wait())
		})
	}
	all.Wait()
	least := (2*calls + calls/2 - 10) * time.Second / 100 // a window is free at the beginning
	assert.GreaterOrEqual(t, time.Since(begun), least-50*time.Millisecond)
}

// Old limits are found by an index, also in a database that was made without it.
func TestOldLimitsAreFoundWithoutLookingAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "limits.db")
	require.NoError(t, openLimits(t, path).DropIndex(t.Context()))
	plan, err := openLimits(t, path).ForgetPlan(t.Context())
	require.NoError(t, err)
	assert.Contains(t, plan, "INDEX retake_limit_used (used<?)")
}

// underLimits does the work of a process that the tests have started, whose limits are in the database.
func underLimits(path string, work func(limiter.Store) error) error {
	store, err := sqlite.OpenLimits(context.Background(), path)
	if err != nil {
		return err
	}
	defer store.Close()
	return work(store)
}
