package limittest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// The environment of a process that makes a run under a limit: the folder of its journal, and where it dies.
const (
	envRun = "RETAKE_TEST_RUN"
	envDie = "RETAKE_TEST_DIE"
)

// inCall is where a process dies that dies in the call of the model. Others die when a line with the text was
// written.
const inCall = "call"

// Killed kills the process of a run that waits for a limiter with the store: when its ask was written, when
// its grant was, and in the call. Another process ends the run: no attempt is charged for the death, and what
// the dead process was granted, or granted when it was dead, is out no longer than any lost call.
//
// env is added to the environment of the processes, to find the store by. Their TestMain calls [Work].
func Killed(t *testing.T, store limiter.Store, env ...string) {
	t.Helper()
	for name, die := range map[string]string{
		"after its ask": `"kind":"grant"`, "after its grant": `"kind":"granted"`, "in its call": inCall,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := underLimit(store)
			require.NoError(t, err)
			require.NoError(t, call(t.Context(), l)) // the run waits
			env := append(env, envRun+"="+t.TempDir())
			out, err := inProcess(append(env, envDie+"="+die))
			killed, is := errors.AsType[*exec.ExitError](err)
			require.True(t, is, "%v %s", err, out)
			require.False(t, killed.Exited(), "it is killed: %s", out)
			out, err = inProcess(env)
			require.NoError(t, err, out)
			var got ended
			require.NoError(t, json.Unmarshal([]byte(out), &got), out)
			assert.Equal(t, ended{"Done.", 1}, got, "no attempt is charged for the death")

			for {
				require.NoError(t, call(t.Context(), l))
				status, err := limiter.Recorded("a", load(t, store, "a").Value)
				require.NoError(t, err)
				if status.State.InFlight <= 1 && status.Waiting == 0 { // one's own
					break
				}
			}
			require.NoError(t, l.Flush(t.Context()))
		})
	}
}

// underLimit returns a limiter of one call in 300 ms.
func underLimit(store limiter.Store) (*limiter.Limiter, error) {
	c := rate(1, 300*time.Millisecond)
	c.Hold = time.Second
	return limiter.New(limiter.Config{Store: store, Limit: c})
}

// inProcess makes the run in a process of its own.
func inProcess(env []string) (out string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// ended is what a process says of its run.
type ended struct {
	Text     string `json:"text"`
	Attempts int    `json:"attempts"`
}

// runUnderLimit makes a run, or goes on with it, and prints its result. Its journal is in dir.
func runUnderLimit(store limiter.Store, dir, die string) error {
	ctx := context.Background()
	l, err := underLimit(store)
	if err != nil {
		return err
	}
	j, err := journal.Open(ctx, dyingStore{journal.Dir(dir), die}, "order-1", journal.Settings{})
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
	inOneScope := loop.WithScope(func(loop.Request) string { return "a" })
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

// dies ends the process by SIGKILL.
func dies() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Fprintln(os.Stderr, "killed:", err)
	select {}
}

// dyingStore is a store of journals whose process dies once a line with a text was written.
type dyingStore struct {
	journal.Store
	die string
}

// Open implements [journal.Store].
func (m dyingStore) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := m.Store.Open(ctx, id)
	if err != nil || m.die == "" {
		return log, err
	}
	return dyingLog{log, m.die}, nil
}

type dyingLog struct {
	journal.Log
	die string
}

// Append implements [journal.Log].
func (l dyingLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	err := l.Log.Append(ctx, at, lines, durable)
	if strings.Contains(string(lines), l.die) {
		dies()
	}
	return err
}
