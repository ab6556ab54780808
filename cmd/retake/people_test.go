//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/sqlite"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/sealed"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// asksIn makes a process run the session order-42 in a store. Its agent asks a person before it pays, and the
// process says so on standard output. It ends with the run.
const asksIn = "RETAKE_TEST_ASKS_IN"

func init() {
	if name := os.Getenv(asksIn); name != "" {
		if err := payAnn(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// payAnn runs the agent. Its model asks to pay until it is told how that went.
func payAnn(name string) error {
	inboxes, err := (&env{}).openInbox(name, toWrite)
	store := journal.Store(inboxes)
	if keys := os.Getenv(sealKeysVar); err == nil && keys != "" {
		var with []sealed.Sealer
		if with, err = sealed.ParseKeys([]byte(keys)); err == nil {
			store, err = sealed.New(store, with...)
		}
	}
	if err != nil {
		return err
	}
	j, err := journal.Open(context.Background(), store, "order-42", journal.Settings{})
	if err != nil {
		return err
	}
	s, err := session.New(session.Config{Journal: j})
	if err != nil {
		return err
	}
	type payment struct {
		Amount int    `json:"amount"`
		Note   string `json:"note,omitempty"`
	}
	tools, err := tool.NewSet(tool.New("pay", "Pays Ann.", func(_ context.Context, p payment) (string, error) {
		fmt.Println("paid", p.Amount)
		return "paid", nil
	}, tool.NeedsApproval(func(payment) bool { return true })))
	if err != nil {
		return err
	}
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if r.Last().Role == message.Tool {
			return message.Reply{Text: "It said: " + r.Last().Text, Finish: message.Stop}, nil
		}
		return message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: `{"amount": 500, "note": "\u202e"}`}}}, nil
	})
	l, err := loop.New(model, loop.Config{Tools: tools}, loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Asked {
			fmt.Println("asked")
		}
	})))
	if err != nil {
		return err
	}
	result, err := l.Run(context.Background(), s, loop.Input{Prompt: "Pay Ann."})
	fmt.Println(result.Text)
	return err
}

// agent is a process that runs [payAnn].
type agent struct {
	*exec.Cmd
	out *bufio.Reader
}

func startAgent(t *testing.T, store string) *agent {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asksIn+"="+store, "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &agent{cmd, bufio.NewReader(out)}
}

// retakes runs the command in a process of its own, and returns what it wrote and its exit status.
func retakes(t *testing.T, args ...string) (out string, status int) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"retake"}, args...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	text, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(t, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// pendingCall returns the call that waits, as a script reads it.
func pendingCall(t *testing.T, store string) string {
	text, status := retakes(t, "pending", store, "-json")
	require.Zero(t, status, text)
	assert.Contains(t, text, `"deadline":`, "it is there, null if there is none")
	assert.Contains(t, text, `"note":"\u202e"`, "what does not print is escaped")
	var list struct {
		Pending []struct{ Session, Call, Tool string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &list), text)
	require.Len(t, list.Pending, 1)
	assert.Equal(t, "order-42", list.Pending[0].Session)
	assert.Equal(t, "pay", list.Pending[0].Tool)
	return list.Pending[0].Call
}

// A person answers by the command while the process of the run is alive, or after it was killed between
// question and answer. The answer counts once, and the payment is made once or not at all.
func TestAPersonAnswersARunOfAnotherProcess(t *testing.T) {
	for _, store := range []string{"runs", "runs.db", "sealed"} {
		for _, alive := range []bool{true, false} {
			if !alive && store == "runs.db" {
				continue // a database gives a journal to another process when the lease of the first has ended
			}
			t.Run(fmt.Sprint(store, alive), func(t *testing.T) {
				if store == "sealed" {
					t.Setenv(sealKeysVar, strings.Repeat("k", sealed.MinKey))
				}
				store := filepath.Join(t.TempDir(), store)
				if strings.HasSuffix(store, ".db") {
					db, err := sqlite.Open(t.Context(), store)
					require.NoError(t, err)
					require.NoError(t, db.Close())
				}
				a := startAgent(t, store)
				line, err := a.out.ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, "asked\n", line)
				call := pendingCall(t, store)
				if !alive {
					require.NoError(t, a.Process.Kill())
					require.Error(t, a.Wait())
					require.Equal(t, call, pendingCall(t, store), "the question outlives its process")
				}
				text, status := retakes(t, "answer", store, "order-42", call, "approve", "-arguments", `{"amount": 80}`, "-by", "bob")
				require.Zero(t, status, text)
				if !alive {
					text, status = retakes(t, "answer", store, "order-42", call, "refuse", "-reason", "no")
					require.Equal(t, 1, status, text)
					assert.Contains(t, text, "the question is answered already: it was given by bob at ")
					text, _ = retakes(t, "pending", store)
					assert.Empty(t, text)
					a = startAgent(t, store)
				}
				rest, err := io.ReadAll(a.out)
				require.NoError(t, err)
				require.NoError(t, a.Wait(), string(rest))
				assert.Equal(t, 1, strings.Count(string(rest), "paid 80\n"), string(rest))
				text, status = retakes(t, "answer", store, "order-42", call, "refuse")
				assert.Equal(t, 1, status, text)
				assert.Contains(t, text, "the question is answered already")
			})
		}
	}
}
