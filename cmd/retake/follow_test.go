package main

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
)

// step changes the journal between two looks at it. It reports whether the next look follows.
type step func(path string, whole []byte) bool

// followed follows a journal that has the first bytes of a run, and makes the next step each time it waits.
// It returns the exit status and both outputs.
func followed(t *testing.T, first int, steps ...step) (status int, out, errs string) {
	t.Helper()
	whole, err := os.ReadFile("../../testdata/journals/v1/transport_wait.jsonl")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "order-42.jsonl")
	require.NoError(t, os.WriteFile(path, whole[:min(first, len(whole))], 0o600))
	var stdout, stderr bytes.Buffer
	e := &env{in: strings.NewReader(""), out: bufio.NewWriter(&stdout), err: &stderr}
	e.after = func(time.Duration) <-chan time.Time {
		require.NotEmpty(t, steps, "nothing is waited for after the end")
		now := make(chan time.Time, 1)
		if steps[0](path, whole) {
			now <- time.Time{}
		}
		steps = steps[1:]
		return now
	}
	status = execute(e, []string{"show", "-follow", "-width", "80", path})
	assert.Empty(t, steps, "all was waited for")
	return status, stdout.String(), stderr.String()
}

// upTo writes at most the first bytes of the journal.
func upTo(size int) step {
	return func(path string, whole []byte) bool {
		return os.WriteFile(path, whole[:min(size, len(whole))], 0o600) == nil
	}
}

func TestAJournalIsFollowedUntilItsRunHasEnded(t *testing.T) {
	status, out, errs := followed(t, 0, upTo(100), upTo(1000), upTo(1001), upTo(math.MaxInt))
	assert.Equal(t, exitOK, status, errs)
	assert.Contains(t, out, "\n      +0s  wait      3.106s")
	assert.Equal(t, 1, strings.Count(out, "order-42"), "the head stands once")
	assert.True(t, strings.HasSuffix(out, "in, 2 out\n"), out)

	status, out, errs = followed(t, math.MaxInt)
	assert.Equal(t, exitOK, status, errs)
	assert.Contains(t, out, "  done      Hello.\n")
}

func TestWhatIsNoLongerTheJournalIsNotFollowed(t *testing.T) {
	for says, happens := range map[string]step{
		" was truncated while it was followed, to 1 bytes of 1000: show it again": func(path string, _ []byte) bool {
			return os.Truncate(path, 1) == nil
		},
		" was replaced by another file while it was followed: show it again": func(path string, whole []byte) bool {
			return os.Rename(path, path+".old") == nil && os.WriteFile(path, whole, 0o600) == nil
		},
		"the journal is gone while it was followed: ": func(path string, _ []byte) bool { return os.Remove(path) == nil },
	} {
		status, _, errs := followed(t, 1000, happens)
		assert.Equal(t, exitTrouble, status)
		assert.Contains(t, errs, says)
	}
}

func TestAnInterruptEndsWhatIsFollowed(t *testing.T) {
	status, out, errs := followed(t, 1500, func(string, []byte) bool {
		self, err := os.FindProcess(os.Getpid())
		return err != nil || self.Signal(os.Interrupt) != nil
	})
	assert.Equal(t, exitOK, status, errs)
	assert.Contains(t, out, "  open      unfinished: ")
}

// followedIn follows a journal in a database, with the next step each time it waits.
func followedIn(t *testing.T, name string, steps ...func()) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	e := &env{in: strings.NewReader(""), out: bufio.NewWriter(&stdout), err: &stderr}
	e.after = func(time.Duration) <-chan time.Time {
		require.NotEmpty(t, steps, "nothing is waited for after the end:\n%s", stdout.String())
		steps[0]()
		steps = steps[1:]
		now := make(chan time.Time, 1)
		now <- time.Time{}
		return now
	}
	status = execute(e, []string{"show", "-follow", "-width", "80", name + "#order-42"})
	assert.Empty(t, steps, "all was waited for")
	return status, stdout.String(), stderr.String()
}

// isFollowed follows a journal in a store that it writes, until its run has ended, until a shorter one has
// taken its place, and until it is deleted.
func isFollowed(t *testing.T, store journal.Store, name string) {
	t.Helper()
	whole, err := os.ReadFile("../../testdata/journals/v1/transport_wait.jsonl")
	require.NoError(t, err)
	log, err := store.Open(t.Context(), "order-42")
	require.NoError(t, err)
	defer func() { assert.NoError(t, log.Close()) }()
	end := 0
	upTo := func(size int) func() {
		return func() {
			require.NoError(t, log.Append(t.Context(), int64(end), whole[end:size], true))
			end = size
		}
	}
	replaced := func(size int) func() {
		return func() {
			require.NoError(t, log.Replace(t.Context(), int64(end), whole[:size]))
			end = size
		}
	}
	upTo(bytes.IndexByte(whole, '\n') + 1)()
	status, out, errs := followedIn(t, name, func() {}, upTo(1+bytes.LastIndexByte(whole[:len(whole)-1], '\n')), upTo(len(whole)))
	assert.Equal(t, exitOK, status, errs)
	assert.Contains(t, out, "  done      Hello.\n")
	first := bytes.IndexByte(whole, '\n') + 1
	second := first + bytes.IndexByte(whole[first:], '\n') + 1
	replaced(second)()
	status, _, errs = followedIn(t, name, func() {}, replaced(first))
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, errs, "the journal was replaced by a shorter one while it was followed: show it again")
	status, _, errs = followedIn(t, name, func() {}, replaced(0))
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, errs, "the journal is gone while it was followed: ")
}

func TestAJournalInADatabaseIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	isFollowed(t, store, path)
}
