package postgres_test

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/postgres"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/journaltest"
)

// The environment of the test binary when it is one of many processes on a database.
const (
	envURL      = "RETAKE_TEST_POSTGRES"
	envEffects  = "RETAKE_TEST_EFFECTS"
	envSessions = "RETAKE_TEST_SESSIONS"
	// envKills is the number of processes that are killed.
	envKills = "RETAKE_KILLS"
)

// driveAll drives the runs of all sessions, one step each in turn, until all have ended. It writes what it
// does into a file, and prints a line for it.
func driveAll(url string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	var store *postgres.Store
	for store == nil {
		// The server may be down when the process begins.
		if store, err = postgres.New(ctx, pool, postgres.Settings{Lease: time.Second}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	defer store.Close()
	file, err := os.OpenFile(os.Getenv(envEffects), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	sessions, err := strconv.Atoi(os.Getenv(envSessions))
	if err != nil {
		return err
	}
	for open := rand.Perm(sessions); len(open) > 0; runtime.Gosched() {
		left := open[:0]
		for _, n := range open {
			id := fmt.Sprint("order-", n)
			ended, err := journaltest.Drive(store, id, func(what string) {
				fmt.Fprintf(file, "%s: %s\n", id, what)
				fmt.Println("one more")
			})
			if err != nil && !errors.Is(err, journal.ErrConflict) {
				fmt.Fprintln(os.Stderr, err) // the server was down for long: the run goes on later
			}
			if !ended {
				left = append(left, n)
			}
		}
		open = left
	}
	return nil
}

// crowd are processes that drive the same sessions. Some are killed.
type crowd struct {
	t                 *testing.T
	effects, url      string
	sessions, toKill  int
	kills, serverDead atomic.Int64
	// restarting lets one kill the server at a time.
	restarting sync.Mutex
}

// work runs one process after another until one has seen all sessions end.
func (c *crowd) work(random *rand.Rand) {
	for !c.t.Failed() {
		if c.one(random) {
			return
		}
	}
}

// one runs a process. It kills it in the middle of something, and at times the server, unless enough were
// killed.
func (c *crowd) one(random *rand.Rand) (ended bool) {
	exe, err := os.Executable()
	if !assert.NoError(c.t, err) {
		return false
	}
	var said strings.Builder
	cmd := osexec.Command(exe)
	cmd.Env = append(os.Environ(), envURL+"="+c.url, envEffects+"="+c.effects, envSessions+"="+fmt.Sprint(c.sessions))
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if !assert.NoError(c.t, err) || !assert.NoError(c.t, cmd.Start()) {
		return false
	}
	after := 1 + random.IntN(20)
	for lines := bufio.NewScanner(out); lines.Scan(); after-- {
		if after > 0 || c.kills.Load() >= int64(c.toKill) {
			continue
		}
		if n := c.kills.Add(1); n%5 == 3 {
			c.restart()
		}
		assert.NoError(c.t, cmd.Process.Kill())
	}
	err = cmd.Wait()
	if killed, is := errors.AsType[*osexec.ExitError](err); is && killed.Sys().(syscall.WaitStatus).Signaled() {
		return false
	}
	return assert.NoError(c.t, err, said.String())
}

// restart kills the server and starts it again.
func (c *crowd) restart() {
	c.restarting.Lock()
	defer c.restarting.Unlock()
	assert.NoError(c.t, server.Kill())
	assert.NoError(c.t, server.Restart())
	c.serverDead.Add(1)
}

// Processes are killed in the middle of runs, and so is the server. Every run comes to its end, no payment is
// made twice, and each that was not made is one of which the journal says that nobody knows.
func TestKilledProcessesAndAKilledServerLoseNothingAndRepeatNothing(t *testing.T) {
	usual := "5"
	if testing.Short() {
		usual = "3"
	}
	kills, err := strconv.Atoi(cmp.Or(os.Getenv(envKills), usual))
	require.NoError(t, err)
	c := &crowd{t: t, url: urlOf(t), toKill: kills, sessions: 2 * kills, effects: filepath.Join(t.TempDir(), "effects")}
	require.NoError(t, os.WriteFile(c.effects, nil, 0o600))
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() { c.work(rand.New(rand.NewPCG(1, uint64(n)))) })
	}
	wg.Wait()
	require.False(t, t.Failed())

	paid := map[string]map[string]int{}
	text, err := os.ReadFile(c.effects)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		id, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if paid[id] == nil {
			paid[id] = map[string]int{}
		}
		if strings.HasPrefix(what, "pay ") {
			paid[id][what]++
		}
	}
	doubted, ended := 0, 0
	store := open(t, connect(t, c.url))
	for s, err := range journal.Summaries(t.Context(), store, journal.Filter{}, time.Now()) {
		require.NoError(t, err)
		assert.Equal(t, journal.SessionDone, s.State, s.Session)
		doubts := doubtsOf(t, store, s.Session)
		for n := range 5 {
			times := paid[s.Session][fmt.Sprint("pay ", n+1)]
			assert.LessOrEqual(t, times, 1, "%s: payment %d is made twice", s.Session, n+1)
			assert.True(t, times == 1 || slices.Contains(doubts, fmt.Sprint("c", n+1)), "%s: payment %d is lost", s.Session, n+1)
		}
		doubted += len(doubts)
		ended++
	}
	assert.Equal(t, c.sessions, ended)
	assert.GreaterOrEqual(t, c.kills.Load(), int64(kills))
	t.Logf("%d sessions, %d processes killed, the server %d times, %d payments in doubt", ended, c.kills.Load(), c.serverDead.Load(), doubted)
}

// doubtsOf are the calls of an ended run of which nobody knows whether they had an effect.
func doubtsOf(t *testing.T, store *postgres.Store, id string) (calls []string) {
	t.Helper()
	j, err := journal.Open(t.Context(), store, id, journal.Settings{})
	require.NoError(t, err)
	past, err := j.Past()
	require.NoError(t, err)
	for _, call := range past.State.Outcome.InDoubt {
		calls = append(calls, call.CallID)
	}
	require.NoError(t, j.Close())
	return calls
}
