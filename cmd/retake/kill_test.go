//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/journal"
)

// dieAt makes a process die after N bytes of journals. With "self:N" it kills itself in the middle of a
// write. With "other:N" it writes "now" to standard error, and its parent kills it.
const dieAt = "RETAKE_TEST_DIE_AT"

func init() { newStore = mortalStore() }

// mortalStore makes the stores of a process that dies as [dieAt] says, if it says anything.
func mortalStore() func(dir string) journal.Store {
	how, text, _ := strings.Cut(os.Getenv(dieAt), ":")
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return newStore
	}
	d := &death{self: how == "self"}
	d.left.Store(at)
	return func(dir string) journal.Store { return mortal{journal.Dir(dir), d} }
}

// death ends the process after left bytes.
type death struct {
	self bool
	left atomic.Int64
}

// come ends the process; it does not return.
func (d *death) come() {
	if d.self {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	}
	_, _ = os.Stderr.WriteString("now\n")
	for {
		_, _ = syscall.Read(0, make([]byte, 1))
	}
}

// mortal is a store that ends its process.
type mortal struct {
	journal.Store
	death *death
}

func (m mortal) Open(ctx context.Context, session string) (journal.Log, error) {
	log, err := m.Store.Open(ctx, session)
	return mortalLog{log, m.death}, err
}

type mortalLog struct {
	journal.Log
	death *death
}

// Append writes as many bytes as are left, and then ends the process.
func (l mortalLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	left := l.death.left.Add(-int64(len(lines)))
	if left >= 0 {
		return l.Log.Append(ctx, at, lines, durable)
	}
	if fits := int64(len(lines)) + left; fits > 0 {
		_ = l.Log.Append(ctx, at, lines[:fits], false)
	}
	l.death.come()
	return nil
}

// smallCorpus has questions that need one to four attempts, and some with too few replies.
func smallCorpus(t *testing.T) string {
	var b strings.Builder
	for n := range 20 {
		var replies []string
		for range n % 4 {
			replies = append(replies, `{"tool_calls": [{"name": "book", "arguments": "{\"nights\": \"two\"}"}]}`)
		}
		if n%5 > 0 {
			replies = append(replies, fmt.Sprintf(`{"text": "book(nights=%d)"}`, n+1))
		}
		fmt.Fprintf(&b, `{"id": "q/%d", "question": "%d nights, please.", "tools": [{"name": "book", "description": "Book.", "parameters": `+
			`{"type": "object", "properties": {"nights": {"type": "integer"}}, "required": ["nights"]}}], "replies": [%s]}`+"\n",
			n, n+1, strings.Join(replies, ", "))
	}
	path := filepath.Join(t.TempDir(), "corpus.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// killed runs the command over a corpus and counts how often it was killed.
type killed struct {
	corpus, policy string
	kills          int
}

// run runs the command in a process of its own, and reports whether it was killed.
func (k *killed) run(t *testing.T, dir, die string) (out string, dead bool) {
	if out, dead = runsOrDies(t, die, "play", "-fail-on", "none", "-corpus", k.corpus, "-policy", k.policy, "-seed", "s", "-journal", dir, "-json"); dead {
		k.kills++
	}
	return out, dead
}

// runsOrDies runs the command in a process of its own that dies as [dieAt] says, and reports whether it did.
func runsOrDies(t *testing.T, die string, args ...string) (out string, dead bool) {
	exe, err := os.Executable()
	require.NoError(t, err)
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(exe)
	cmd.Args = append([]string{"retake"}, args...)
	cmd.Env = append(os.Environ(), dieAt+"="+die, "GORACE=atexit_sleep_ms=0")
	cmd.Stdout = &stdout
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	told, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(io.TeeReader(told, &stderr))
	for lines.Scan() {
		if lines.Text() == "now" {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	err = cmd.Wait()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		status := ended.Sys().(syscall.WaitStatus)
		require.True(t, status.Signaled() && status.Signal() == syscall.SIGKILL, "%v: %s%s", err, stderr.String(), stdout.String())
		return "", true
	}
	require.NoError(t, err)
	return stdout.String(), false
}

// chainsOf returns the journals of a directory without their notes, by name.
func chainsOf(t *testing.T, dir string) map[string]string {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	chains := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		var kept strings.Builder
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, `,"record":{"note":`) {
				kept.WriteString(line)
			}
		}
		chains[filepath.Base(name)] = kept.String()
	}
	return chains
}

// tracesOf returns the traces of the journals of a directory, by name.
func tracesOf(t *testing.T, dir string) map[string]string {
	traces := map[string]string{}
	for name := range chainsOf(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		var trace bytes.Buffer
		require.NoError(t, journal.Trace(bytes.NewReader(text), &trace), name)
		traces[name] = trace.String()
	}
	return traces
}

// A run that was killed continues from its journals, and ends with the same journals as one that was not
// killed, byte for byte. The test kills it 200 times, or 20 times with -short.
func TestARunThatIsKilledAgainAndAgainComesToTheSameEnd(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	k := &killed{corpus: smallCorpus(t), policy: filepath.Join(t.TempDir(), "policy.yaml")}
	if os.Getenv("RETAKE_CORPUS") != "" {
		k.corpus = corpusFile(t)
	}
	require.NoError(t, os.WriteFile(k.policy, []byte("backoff: {kind: exponential, base: 1s, factor: 2, jitter: {kind: full}}\n"), 0o600))
	whole := filepath.Join(t.TempDir(), "whole")
	summary, dead := k.run(t, whole, "")
	require.False(t, dead)
	plain := retake(t, "play", "-fail-on", "none", "-corpus", k.corpus, "-policy", k.policy, "-seed", "s", "-json")
	require.Equal(t, plain, summary, "a journal changes nothing")
	chains, traces := chainsOf(t, whole), tracesOf(t, whole)
	size := 0
	for _, text := range chains {
		size += len(text)
	}
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 0
	for ; k.kills < kills; rounds++ {
		dir := filepath.Join(t.TempDir(), "killed")
		for dead := true; dead; {
			how := []string{"self", "self", "self", "other"}[random.IntN(4)]
			var got string
			if got, dead = k.run(t, dir, fmt.Sprintf("%s:%d", how, 1+random.IntN(size/6))); !dead {
				require.Equal(t, summary, got)
			}
		}
		require.Equal(t, traces, tracesOf(t, dir))
		require.True(t, fmt.Sprint(chains) == fmt.Sprint(chainsOf(t, dir)), "the journals are others")
	}
	t.Logf("%d kills in %d rounds over %d bytes of journals", k.kills, rounds, size)
}
