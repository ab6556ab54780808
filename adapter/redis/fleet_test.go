package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/redis"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// The environment of the test binary when it is one of the processes of a fleet.
const (
	envSocket = "RETAKE_TEST_REDIS"
	envURL    = "RETAKE_TEST_PROVIDER"
)

// What a process works on at once, and how often it tries a call that was refused.
const (
	sessions     = 8
	attempts     = 5
	perSecond    = 100
	lostNotice   = "lost"
	servedNotice = "served"
	failedNotice = "exhausted"
)

// work makes calls until it is killed or its input ends. It prints a line for each call, and for the loss of
// the store.
func work(socket string) error {
	db := client.NewClient(&client.Options{Network: "unix", Addr: socket})
	defer db.Close()
	limits, err := redis.NewLimits(db)
	if err != nil {
		return err
	}
	var printing sync.Mutex
	say := func(what string) {
		printing.Lock()
		defer printing.Unlock()
		fmt.Println(what)
	}
	l, err := limiter.New(limiter.Config{
		Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: perSecond, Period: time.Second}}},
		Store: limits,
		Notice: func(n limiter.Notice) {
			if n.Kind == limiter.StoreLost {
				say(lostNotice)
			}
		},
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); stop() }() // the test closes it at the end
	var all sync.WaitGroup
	for range sessions {
		all.Go(func() {
			for ctx.Err() == nil {
				say(call(ctx, l))
			}
		})
	}
	all.Wait()
	return nil
}

// call makes a call, again when it was refused, and says how it ended.
func call(ctx context.Context, l *limiter.Limiter) string {
	for n := range attempts {
		grant, err := l.Acquire(ctx, limiter.Ask{Scope: "a", Retry: n > 0})
		if ctx.Err() != nil {
			return servedNotice // the end of the test
		}
		if err != nil {
			return err.Error()
		}
		outcome := limit.Down
		if resp, err := http.Get(os.Getenv(envURL)); err == nil {
			outcome = limit.Served
			if resp.StatusCode == http.StatusTooManyRequests {
				outcome = limit.Refused
			}
			_ = resp.Body.Close()
		}
		l.Settle(grant, limiter.Use{Outcome: outcome})
		if outcome == limit.Served {
			return servedNotice
		}
	}
	return failedNotice
}

// provider serves perSecond calls a second, and refuses others.
type provider struct {
	mu              sync.Mutex
	left            float64
	at              time.Time
	served, refused atomic.Int64
}

// burst is how many calls it takes at once.
const burst = perSecond / 2

func (p *provider) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	now := time.Now()
	p.left = min(burst, p.left+now.Sub(p.at).Seconds()*perSecond)
	p.at = now
	serves := p.left >= 1
	if serves {
		p.left--
	}
	p.mu.Unlock()
	if !serves {
		p.refused.Add(1)
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	p.served.Add(1)
}

// process is one of the fleet.
type process struct {
	cmd   *osexec.Cmd
	input io.Closer
	done  chan error
}

// start starts a process. hear is called with each line that it says.
func start(t *testing.T, url string, hear func(what string)) *process {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: osexec.Command(exe), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), envSocket+"="+server.Socket(), envURL+"="+url)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			hear(lines.Text())
		}
		p.done <- p.cmd.Wait()
	}()
	return p
}

// Processes share a limit of 100 calls a second. Two are killed, and others take their places. Then the
// server is killed and loses all it had, and the processes go on at their parts. Nobody's call is refused
// five times.
func TestAFleetOutlivesKilledProcessesAndAKilledServer(t *testing.T) {
	connect(t)
	p := &provider{left: burst, at: time.Now()}
	web := httptest.NewServer(p)
	defer web.Close()
	each := 60 // calls between two steps of the story
	if testing.Short() {
		each = 20
	}
	var lost sync.Once
	wasLost, served := make(chan struct{}), make(chan struct{}, 10_000)
	var exhausted atomic.Int64
	hear := func(what string) {
		switch what {
		case lostNotice:
			lost.Do(func() { close(wasLost) })
		case servedNotice:
			served <- struct{}{}
		default:
			exhausted.Add(1)
			assert.Equal(t, failedNotice, what)
		}
	}
	goOn := func() {
		for range each {
			<-served
		}
	}
	fleet := make([]*process, 4)
	for n := range fleet {
		fleet[n] = start(t, web.URL, hear)
	}
	goOn()
	for n := range 2 {
		require.NoError(t, fleet[n].cmd.Process.Kill())
		require.Error(t, <-fleet[n].done)
		fleet[n] = start(t, web.URL, hear)
		goOn()
	}
	require.NoError(t, server.Kill())
	<-wasLost
	goOn()
	require.NoError(t, server.Restart())
	goOn()
	goOn()
	for _, f := range fleet {
		require.NoError(t, errors.Join(f.input.Close(), <-f.done))
	}
	assert.Zero(t, exhausted.Load())
	t.Logf("%d calls served, %d refused", p.served.Load(), p.refused.Load())
	assert.Less(t, p.refused.Load(), p.served.Load()/4, "refusals are the exception")
}
