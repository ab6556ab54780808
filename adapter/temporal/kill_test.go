//go:build temporal

package temporal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
)

// The environment of a worker process.
const (
	envWorker   = "RETAKE_WORKER"
	envCorpus   = "RETAKE_CORPUS"
	envServer   = "RETAKE_TEMPORAL"
	envSessions = "RETAKE_SESSIONS"
	queue       = "retake"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(envWorker); address != "" {
		if err := work(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func corpusFile() string {
	if path := os.Getenv(envCorpus); path != "" {
		return path
	}
	return filepath.Join("testdata", "corpus.jsonl")
}

func sessions() int {
	if n, err := strconv.Atoi(os.Getenv(envSessions)); err == nil {
		return n
	}
	return 50
}

// work is a worker process. It prints what begins, so that it can be killed then.
func work(address string) error {
	c, err := client.NewLazyClient(client.Options{HostPort: address, Logger: nothing()})
	if err != nil {
		return err
	}
	defer c.Close()
	questions, err := corpus(corpusFile(), sessions())
	if err != nil {
		return err
	}
	var mu sync.Mutex
	say := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(what)
	}
	takes := func(ctx context.Context, what string) {
		say(what)
		timer := time.NewTimer(400 * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	waits := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Retrying && n.Delay > 0 {
			say("wait")
		}
	})
	w := worker.New(c, queue, worker.Options{MaxConcurrentActivityExecutionSize: 8})
	for _, q := range questions {
		own, err := q.worker(takes, waits)
		if err != nil {
			return err
		}
		if err := temporal.Register(w, own); err != nil {
			return err
		}
	}
	if err := temporal.Register(w, booked(takes)); err != nil {
		return err
	}
	return w.Run(nil)
}

func nothing() sdklog.Logger { return quietLog{} }

// server is a server of the temporal command, on loopback, with a database in a file.
type server struct {
	t                   *testing.T
	binary, db, address string
	args                []string
	cmd                 *exec.Cmd
}

func newServer(t *testing.T) *server {
	binary := os.Getenv(envServer)
	require.NotEmpty(t, binary, "%s must name the temporal command: go install github.com/temporalio/cli/cmd/temporal@v1.5.1", envServer)
	s := &server{t: t, binary: binary, db: filepath.Join(t.TempDir(), "temporal.db")}
	ports := freePorts(t)
	s.address = "127.0.0.1:" + ports[0]
	s.args = []string{"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", ports[0], "--http-port", ports[1],
		"--metrics-port", ports[2], "--db-filename", s.db, "--log-level", "never",
		"--search-attribute", temporal.AttributeStatus + "=Keyword", "--search-attribute", temporal.AttributeAttempts + "=Int",
		"--search-attribute", temporal.AttributeExhausted + "=Keyword"}
	s.start()
	t.Cleanup(s.kill)
	return s
}

// freePorts are three free ports.
func freePorts(t *testing.T) (ports [3]string) {
	for n := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		_, ports[n], err = net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
	}
	return ports
}

func (s *server) start() {
	s.cmd = exec.Command(s.binary, s.args...)
	s.cmd.Stderr = os.Stderr
	require.NoError(s.t, s.cmd.Start())
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.t.Logf("the server used %v of processor", s.cmd.ProcessState.UserTime()+s.cmd.ProcessState.SystemTime())
}

// dial waits until the server answers.
func (s *server) dial() client.Client {
	var last error
	ctx, stop := context.WithTimeout(s.t.Context(), time.Minute)
	defer stop()
	for ctx.Err() == nil {
		c, err := client.Dial(client.Options{HostPort: s.address, Logger: nothing(), Identity: "client"})
		if err == nil {
			s.t.Cleanup(c.Close)
			return c
		}
		last = err
	}
	require.NoError(s.t, last)
	return nil
}

// killable is a worker process.
type killable struct {
	cmd  *exec.Cmd
	said *bufio.Scanner
}

func startWorker(t *testing.T, address string) *killable {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), envWorker+"="+address)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &killable{cmd, bufio.NewScanner(out)}
}

// killIn kills the worker as soon as something of that kind begins; false if its output ended before.
func (k *killable) killIn(what string) bool {
	for k.said.Scan() {
		if k.said.Text() == what {
			k.kill()
			return true
		}
	}
	k.kill()
	return false
}

func (k *killable) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

// Fifty sessions survive the death of their workers, in model calls, tools and waits, and of their server.
// They decide as undisturbed runs in process do, except after a lost call of an undeclared tool, which is
// not repeated.
func TestSessionsOutliveWorkersAndTheServer(t *testing.T) {
	s := newServer(t)
	c := s.dial()
	questions, err := corpus(corpusFile(), sessions())
	require.NoError(t, err)
	require.Len(t, questions, sessions())
	w := startWorker(t, s.address)
	handles := make([]*temporal.Handle, len(questions))
	for n, q := range questions {
		handles[n], err = temporal.Start(t.Context(), c, temporal.Options{ID: q.ID, TaskQueue: queue, Agent: q.agent()}, loop.Input{Prompt: q.prompt()}, held())
		require.NoError(t, err)
	}
	kills := map[string]int{}
	for n, what := range []string{"model", "tool", "wait", "model", "server", "tool", "wait", "model", "tool", "wait"} {
		if what == "server" {
			s.kill()
			s.start()
			s.dial()
			kills[what]++
			continue
		}
		t.Logf("kill %d: in a %s", n+1, what)
		if w.killIn(what) {
			kills[what]++
		}
		w = startWorker(t, s.address)
	}
	go func() { _, _ = io.Copy(io.Discard, readerOf(w)) }()
	t.Cleanup(w.kill)
	t.Logf("killed in: %v", kills)
	for _, what := range []string{"model", "tool", "wait", "server"} {
		assert.Positive(t, kills[what], what)
	}
	maybePaid := 0
	for n, q := range questions {
		maybePaid += holdToProcess(t, c, handles[n], q)
	}
	t.Logf("%d calls may have been paid for twice", maybePaid)
	assert.Positive(t, maybePaid)
}

func readerOf(k *killable) io.Reader {
	r, w := io.Pipe()
	go func() {
		for k.said.Scan() {
		}
		_ = w.Close()
	}()
	return r
}

// holdToProcess waits for the end of a session and compares its trace. It returns the number of calls that
// may have been paid for.
func holdToProcess(t *testing.T, c client.Client, h *temporal.Handle, q question) int {
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	_, err := h.Result(ctx)
	var exhausted *loop.RetryExhaustedError
	if err != nil && !errors.As(err, &exhausted) {
		require.NoError(t, err, q.ID)
	}
	histories, err := temporal.Histories(ctx, c, h.ID())
	require.NoError(t, err)
	var doc, trace bytes.Buffer
	require.NoError(t, temporal.Export{}.Journal(ctx, histories, &doc), q.ID)
	report, err := journal.Replay(bytes.NewReader(doc.Bytes()), nil)
	require.NoError(t, err)
	assert.True(t, report.Ended)
	require.NoError(t, journal.Trace(bytes.NewReader(doc.Bytes()), &trace))
	want, err := q.inProcess(context.WithoutCancel(ctx), held())
	require.NoError(t, err)
	inDoubt := strings.Count(trace.String(), `"verdict":"unknown"`)
	if inDoubt == 0 {
		assert.Equal(t, want, trace.String(), q.ID)
	} else {
		t.Logf("%s: %d calls of undeclared tools lost their worker, and were not made again", q.ID, inDoubt)
		assert.Empty(t, q.declared())
	}
	status, err := h.Status(ctx)
	require.NoError(t, err)
	notes := strings.Count(doc.String(), `"maybe_paid"`)
	assert.Equal(t, status.MaybePaid, notes)
	return notes
}
