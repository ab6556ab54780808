package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
	"github.com/retake-go/retake/limit/limittest"
	"github.com/retake-go/retake/looptest"
)

// at is a clock that stands still until it is set.
type at struct{ ns atomic.Int64 }

func (a *at) now() time.Time          { return looptest.Epoch.Add(time.Duration(a.ns.Load())) }
func (a *at) forward(d time.Duration) { a.ns.Add(int64(d)) }

func openAt(t *testing.T, path string, clock *at) *sqlite.Store {
	t.Helper()
	s, err := sqlite.OpenAt(t.Context(), path, sqlite.Settings{Lease: 10 * time.Second}, clock.now)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func TestLeases(t *testing.T) {
	journaltest.Leases(t, func(t *testing.T) (journal.Store, func()) {
		var clock at
		s := openAt(t, filepath.Join(t.TempDir(), "journals.db"), &clock)
		return s, func() { clock.forward(10 * time.Second) }
	})
}

func TestALeaseIsRenewedWhileTheStoreIsOpen(t *testing.T) {
	var clock at
	path := filepath.Join(t.TempDir(), "journals.db")
	mine, others := openAt(t, path, &clock), openAt(t, path, &clock)
	log, err := mine.Open(t.Context(), "order-42")
	require.NoError(t, err)
	closed, err := mine.Open(t.Context(), "order-43")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for range 3 {
		clock.forward(6 * time.Second)
		require.NoError(t, mine.Renew(t.Context()))
		require.NoError(t, others.Renew(t.Context()), "that of another store renews nothing here")
	}
	_, err = others.Open(t.Context(), "order-42")
	var held *journal.ConflictError
	require.ErrorAs(t, err, &held)
	assert.Equal(t, clock.now().Add(10*time.Second), held.Until)
	assert.EqualError(t, err, `journal: the journal of session "order-42" is held by another writer: one run at a time writes to it; `+
		`its lease ends at 2030-01-01T00:00:28Z unless it is renewed`)
	other, err := others.Open(t.Context(), "order-43")
	require.NoError(t, err, "what was closed is not renewed")
	require.NoError(t, other.Close())

	clock.forward(10 * time.Second)
	require.NoError(t, others.Renew(t.Context()))
	log2, err := others.Open(t.Context(), "order-42")
	require.NoError(t, err, "an owner that is not heard of any more is superseded")
	require.ErrorIs(t, log.Append(t.Context(), 0, []byte("one\n"), true), journal.ErrConflict)
	require.NoError(t, log2.Append(t.Context(), 0, []byte("one\n"), true))
}

// A journal that could not be let go of is not renewed for ever.
func TestAJournalThatCouldNotBeClosedIsLetGo(t *testing.T) {
	var clock at
	path := filepath.Join(t.TempDir(), "journals.db")
	mine, others := openAt(t, path, &clock), openAt(t, path, &clock)
	log, err := mine.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, mine.Exec(t.Context(), `ALTER TABLE retake_lease RENAME TO away`))
	require.Error(t, log.Close())
	require.Error(t, mine.Renew(t.Context()))
	require.NoError(t, mine.Exec(t.Context(), `ALTER TABLE away RENAME TO retake_lease`))
	require.NoError(t, mine.Renew(t.Context()))
	log, err = others.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

// A clock that was years ahead when a lease was written locks nobody out for years.
func TestALeaseIsNeverLongerThanWasAskedFor(t *testing.T) {
	var clock, ahead at
	ahead.forward(5 * 365 * 24 * time.Hour)
	path := filepath.Join(t.TempDir(), "journals.db")
	crashed, others := openAt(t, path, &ahead), openAt(t, path, &clock)
	begun, err := crashed.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, begun.Append(t.Context(), 0, []byte("1\n"), true))
	all, err := others.Stats(t.Context())
	require.NoError(t, err)
	assert.False(t, all[0].Held, "nor does it look as if somebody wrote it for years")

	_, err = others.Open(t.Context(), "order-42")
	var held *journal.ConflictError
	require.ErrorAs(t, err, &held)
	assert.Equal(t, clock.now().Add(10*time.Second), held.Until)
	clock.forward(9 * time.Second)
	_, err = others.Open(t.Context(), "order-42")
	require.ErrorIs(t, err, journal.ErrConflict, "its owner may live: it has its time to renew")
	clock.forward(time.Second)
	log, err := others.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

func TestAStoreThatIsClosedLetsAllGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	mine, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	log, err := mine.Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, mine.Close())
	require.NoError(t, mine.Close())
	require.NoError(t, log.Close())
	log, err = open(t, path).Open(t.Context(), "order-42")
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

func TestTheLengthOfALeaseIsBounded(t *testing.T) {
	for _, d := range []time.Duration{-1, time.Millisecond, 2 * time.Hour} {
		_, err := sqlite.OpenWith(t.Context(), filepath.Join(t.TempDir(), "journals.db"), sqlite.Settings{Lease: d})
		require.EqualError(t, err, fmt.Sprintf("sqlite: lease: must be 1s to 1h0m0s, or 0 for 15s, not %v", d))
	}
}

func TestOfManyThatOpenOneJournalOneHasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journals.db")
	stores := []*sqlite.Store{open(t, path), open(t, path)}
	for range 20 {
		var taken atomic.Pointer[journal.Log]
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				log, err := stores[n%2].Open(t.Context(), "order-42")
				if err != nil {
					assert.ErrorIs(t, err, journal.ErrConflict)
					return
				}
				assert.True(t, taken.CompareAndSwap(nil, &log), "a second one was given")
			})
		}
		wg.Wait()
		require.NotNil(t, taken.Load())
		require.NoError(t, (*taken.Load()).Close())
	}
}

func TestARowThatIsMissingInTheMiddleIsCorruption(t *testing.T) {
	store := open(t, filepath.Join(t.TempDir(), "journals.db"))
	for ended := false; !ended; {
		var err error
		ended, err = journaltest.Drive(store, "order-42", func(string) {})
		require.NoError(t, err)
	}
	const third = `(SELECT at FROM retake_journal ORDER BY at LIMIT 1 OFFSET 2)`
	for _, change := range []string{
		`UPDATE retake_journal SET lines = substr(lines, 1, length(lines) - 1) WHERE at = ` + third,
		`DELETE FROM retake_journal WHERE at = ` + third,
		`DELETE FROM retake_journal WHERE at = 0`,
	} {
		require.NoError(t, store.Exec(t.Context(), change))
		_, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.ErrorIs(t, err, journal.ErrCorrupt)
		var corrupt *journal.CorruptError
		require.ErrorAs(t, err, &corrupt)
		assert.Contains(t, corrupt.Why, "the next row of the database begins at byte ")
		assert.Contains(t, err.Error(), `"order-42"`)
		log, err := store.Open(t.Context(), "order-42")
		require.NoError(t, err)
		in, err := log.Read(t.Context())
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.ErrorIs(t, err, journal.ErrCorrupt)
		assert.Equal(t, int64(strings.Count(string(text), "\n"))+1, corrupt.Line)
		assert.Len(t, text, int(corrupt.Offset))
		require.NoError(t, log.Close())
	}
}

// The environment of the test binary when it is one of many processes on a database.
const (
	envDatabase = "RETAKE_TEST_DATABASE"
	envEffects  = "RETAKE_TEST_EFFECTS"
)

const sessions = 10

func TestMain(m *testing.M) {
	if path := os.Getenv(envDatabase); path != "" {
		if err := driveAll(path, os.Getenv(envEffects)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(envLimits); path != "" {
		work := limited
		if limittest.Works() {
			work = limittest.Work
		}
		if err := underLimits(path, work); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// driveAll drives the runs of all sessions, one step each in turn, until all have ended. It writes what it
// does into a file.
func driveAll(path, effects string) error {
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return err
	}
	defer store.Close()
	file, err := os.OpenFile(effects, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	for open := sessions; open > 0; runtime.Gosched() {
		open = 0
		for n := range sessions {
			id := fmt.Sprint("order-", n)
			ended, err := journaltest.Drive(store, id, func(what string) { fmt.Fprintf(file, "%s: %s\n", id, what) })
			if err != nil && !errors.Is(err, journal.ErrConflict) {
				return err
			}
			if !ended {
				open++
			}
		}
	}
	return nil
}

func TestFourProcessesOnOneDatabaseDoEachEffectOnce(t *testing.T) {
	dir := t.TempDir()
	path, effects := filepath.Join(dir, "journals.db"), filepath.Join(dir, "effects")
	require.NoError(t, os.WriteFile(effects, nil, 0o600))
	exe, err := os.Executable()
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), envDatabase+"="+path, envEffects+"="+effects)
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, string(out))
		})
	}
	wg.Wait()
	done := map[string][]string{}
	file, err := os.Open(effects)
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		id, what, _ := strings.Cut(lines.Text(), ": ")
		done[id] = append(done[id], what)
	}
	require.Len(t, done, sessions)
	for id, all := range done {
		assert.Equal(t, journaltest.Effects(), all, id)
	}
}
