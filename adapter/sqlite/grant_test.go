package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// The environment of a process that makes a run under a limit: its database, and where it dies.
const (
	envRun = "RETAKE_TEST_RUN"
	envDie = "RETAKE_TEST_DIE"
)

// inCall is where a process dies that dies in the call of the model. Others die when a line with the text was
// written.
const inCall = "call"

// underLimit is a limiter of one call in 300 ms, with the database at path.
func underLimit(path string) (*sqlite.Limits, *limiter.Limiter, error) {
	limits, err := sqlite.OpenLimits(context.Background(), path)
	if err != nil {
		return nil, nil, err
	}
	l, err := limiter.New(limiter.Config{Store: limits, Limit: limit.Config{
		Hold: time.Second, Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: 300 * time.Millisecond}},
	}})
	return limits, l, err
}

// inOneScope has all calls take from the limits of "a".
var inOneScope = loop.WithScope(func(loop.Request) string { return "a" })

// runUnderLimit makes a run, or goes on with it, and prints its result.
func runUnderLimit(path, die string) error {
	ctx := context.Background()
	limits, l, err := underLimit(path)
	if err != nil {
		return err
	}
	defer limits.Close()
	store, err := sqlite.OpenWith(ctx, path, sqlite.Settings{Lease: time.Second})
	if err != nil {
		return err
	}
	defer store.Close()
	j, err := journal.Open(ctx, mortal{store, die}, "order-1", journal.Settings{})
	for errors.Is(err, journal.ErrConflict) { // of the process that died
		j, err = journal.Open(ctx, mortal{store, die}, "order-1", journal.Settings{})
	}
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return err
	}
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		if die == inCall {
			dies()
		}
		return message.Reply{Text: "Done.", Finish: message.Stop}, nil
	})
	runs, err := loop.New(model, loop.Config{}, loop.WithLimiter(l), inOneScope)
	if err != nil {
		return err
	}
	var result loop.Result
	if j.Unfinished() {
		result, err = runs.Resume(ctx, s)
	} else {
		result, err = runs.Run(ctx, s, loop.Input{Prompt: "Go."})
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(ended{result.Text, len(result.Attempts)})
}

// ended is what a process says of its run.
type ended struct {
	Text     string `json:"text"`
	Attempts int    `json:"attempts"`
}

// dies ends the process by SIGKILL.
func dies() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Fprintln(os.Stderr, "killed:", err)
	select {}
}

// mortal is a store whose process dies once a line with a text was written.
type mortal struct {
	*sqlite.Store
	die string
}

// Open implements [journal.Store].
func (m mortal) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := m.Store.Open(ctx, id)
	if err != nil || m.die == "" {
		return log, err
	}
	return mortalLog{log, m.die}, nil
}

type mortalLog struct {
	journal.Log
	die string
}

// Append implements [journal.Log].
func (l mortalLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	err := l.Log.Append(ctx, at, lines, durable)
	if strings.Contains(string(lines), l.die) {
		dies()
	}
	return err
}

// A run that waits for the limiter in the database of its journal is killed: when its ask was written, when
// its grant was, and in the call. Another process ends it: no attempt is charged for the death, and what the
// dead process was granted, or granted when it was dead, is out no longer than any lost call.
func TestARunThatIsKilledBetweenAskAndGrantAndCallGoesOn(t *testing.T) {
	for name, die := range map[string]string{
		"after its ask": `"kind":"grant"`, "after its grant": `"kind":"granted"`, "in its call": inCall,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "retake.db")
			limits, l, err := underLimit(path)
			require.NoError(t, err)
			defer limits.Close()
			acquire(t, l) // the run waits
			out, err := inProcess(path, die)
			killed, is := errors.AsType[*exec.ExitError](err)
			require.True(t, is, "%v %s", err, out)
			require.False(t, killed.Exited(), "it is killed: %s", out)
			out, err = inProcess(path, "")
			require.NoError(t, err, out)
			var got ended
			require.NoError(t, json.Unmarshal([]byte(out), &got), out)
			assert.Equal(t, "Done.", got.Text)
			assert.Equal(t, 1, got.Attempts, "none is charged for the death")

			store := open(t, path)
			for {
				acquire(t, l)
				all, err := store.Limits(t.Context())
				require.NoError(t, err)
				if st := all[0].State; st.InFlight <= 1 && st.Waiting() == 0 { // one's own
					return
				}
			}
		})
	}
}

// acquire makes a call.
func acquire(t *testing.T, l *limiter.Limiter) {
	t.Helper()
	grant, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
	require.NoError(t, err)
	l.Settle(grant, limiter.Use{Outcome: limit.Served})
}

// inProcess makes the run in a process of its own.
func inProcess(path, die string) (out string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envRun+"="+path, envDie+"="+die)
	text, err := cmd.CombinedOutput()
	return string(text), err
}
