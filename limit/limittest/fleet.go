package limittest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The fleet, and how long after its store is killed refusals are laid to that.
const (
	processes = 8
	grace     = 5 * time.Second
)

// Server is a real server with the store of a fleet.
type Server interface {
	// Kill ends it at once, and Restart starts it again.
	Kill() error
	Restart() error
}

// Fleet runs eight processes of this test binary, whose limiters share the store of a server, against a
// provider on loopback that serves 100 calls a second. Two processes are killed in the middle of it, and
// others take over what they had to do; then the server is killed, and started again. Every session makes
// all its calls, and none is refused too often. With RETAKE_FLEET in the environment there are 1,000 sessions,
// it takes about two minutes, and also measures: without, the machine may be too busy for that.
//
// env is added to the environment of the processes, to find the store by. Their TestMain calls [Work].
func Fleet(t *testing.T, server Server, env ...string) {
	t.Helper()
	sessions, calls := 10, 5 // of each process, and of each session
	measures := os.Getenv("RETAKE_FLEET") != ""
	switch {
	case measures:
		sessions, calls = 125, 10
	case testing.Short():
		t.Skip("many processes and some seconds: make test-fleet runs it")
	}
	p := &provider{}
	web := httptest.NewServer(p)
	defer web.Close()
	f := &fleet{t: t, env: append(env, envProvider+"="+web.URL), left: map[int]int{},
		served: make(chan struct{}, processes*sessions*calls), broken: make(chan string, 1)}
	for session := range processes * sessions {
		f.left[session] = calls
	}
	var working []*worker
	for n := range processes {
		var its []int
		for s := range sessions {
			its = append(its, n*sessions+s)
		}
		working = append(working, f.start(its))
	}
	for _, one := range working {
		<-one.begun
	}
	tenth := processes * sessions * calls / 10
	f.wait(2 * tenth)
	for n := range 2 {
		working[n] = f.replace(working[n])
		<-working[n].begun
		f.wait(tenth)
	}
	killed := time.Now()
	require.NoError(t, server.Kill())
	f.wait(tenth)
	require.NoError(t, server.Restart())
	f.wait(processes*sessions*calls - 5*tenth)
	for _, one := range working {
		require.NoError(t, <-one.done)
	}
	f.check(p, measures, killed)
}

// fleet is what the test knows of its processes.
type fleet struct {
	t      *testing.T
	env    []string
	served chan struct{}
	// broken gets what no process should say or do.
	broken chan string

	mu sync.Mutex
	// left are the calls that sessions have to make, by session.
	left       map[int]int
	lost, back int
}

// worker is one of its processes.
type worker struct {
	cmd      *exec.Cmd
	sessions []int
	killed   atomic.Bool
	// begun is closed when it has said something or ended.
	begun chan struct{}
	done  chan error
}

// start starts a process for what sessions have left.
func (f *fleet) start(sessions []int) *worker {
	exe, err := os.Executable()
	require.NoError(f.t, err)
	p := &worker{cmd: exec.Command(exe), sessions: sessions, begun: make(chan struct{}), done: make(chan error, 1)}
	p.cmd.Env = append(append(os.Environ(), f.env...), envWork+"="+f.work(sessions))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(f.t, err)
	input, err := p.cmd.StdinPipe() // the process ends with it
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = input.Close() })
	require.NoError(f.t, p.cmd.Start())
	go func() {
		begun := sync.OnceFunc(func() { close(p.begun) })
		for lines := bufio.NewScanner(out); lines.Scan(); begun() {
			f.hear(lines.Bytes())
		}
		begun()
		err := p.cmd.Wait()
		if p.done <- err; err != nil && !p.killed.Load() {
			f.breaks("a process ended: " + err.Error())
		}
	}()
	return p
}

// work returns what a process is told: the calls that its sessions have to make.
func (f *fleet) work(sessions []int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	work := map[int]int{}
	for _, session := range sessions {
		work[session] = f.left[session]
	}
	text, err := json.Marshal(work)
	require.NoError(f.t, err)
	return string(text)
}

// replace kills a process, and starts another one for what its sessions have left.
func (f *fleet) replace(p *worker) *worker {
	p.killed.Store(true)
	require.NoError(f.t, p.cmd.Process.Kill())
	require.Error(f.t, <-p.done)
	return f.start(p.sessions)
}

// hear takes what a process says.
func (f *fleet) hear(text []byte) {
	var said line
	if err := json.Unmarshal(text, &said); err != nil {
		said.What = string(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch said.What {
	case saidServed:
		f.left[said.Session]--
		f.served <- struct{}{}
	case saidLost:
		f.lost++
	case saidBack:
		f.back++
	default:
		f.breaks(fmt.Sprintf("session %d: %s %s", said.Session, said.What, said.Err))
	}
}

// breaks ends the test; only the first reason is told.
func (f *fleet) breaks(why string) {
	select {
	case f.broken <- why:
	default:
	}
}

// wait waits until so many more calls were served.
func (f *fleet) wait(calls int) {
	for range calls {
		select {
		case <-f.served:
		case why := <-f.broken:
			require.FailNow(f.t, why)
		}
	}
}

// check compares what became of the fleet with what is promised.
func (f *fleet) check(p *provider, measures bool, killed time.Time) {
	t := f.t
	p.mu.Lock()
	defer p.mu.Unlock()
	for session, left := range f.left {
		assert.Zero(t, left, "session %d has calls left", session)
	}
	arrived := len(p.arrived)
	outside := p.refusedOutside(killed, killed.Add(grace))
	t.Logf("%d calls, %d refused, %d of them not within %v of the store's end; utilisation %.1f %%; overshoot %d; store lost %d times, back %d",
		arrived, len(p.refused), outside, grace, 100*p.utilisation(), p.overshoot(), f.lost, f.back)
	if !measures {
		return
	}
	assert.LessOrEqual(t, outside, arrived*2/100, "refusals, without those that the loss of the store explains")
	assert.LessOrEqual(t, p.overshoot(), processes*rateOfProvider/10, "one lease, which is of 100 ms, for each process")
	assert.GreaterOrEqual(t, p.utilisation(), 0.6, "on a machine that has other work, too")
	assert.GreaterOrEqual(t, f.lost, processes, "all have noticed")
	assert.GreaterOrEqual(t, f.back, processes)
}
