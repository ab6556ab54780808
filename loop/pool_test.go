package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// runEnded is the end of a run.
type runEnded struct {
	session *session.Session
	result  loop.Result
	err     error
}

// pooled returns a pool and the ends so far.
func pooled(t testing.TB, cfg loop.PoolConfig) (*loop.Pool, func() []runEnded) {
	t.Helper()
	var (
		mu  sync.Mutex
		all []runEnded
	)
	cfg.Done = func(s *session.Session, r loop.Result, err error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, runEnded{s, r, err})
	}
	p, err := loop.NewPool(cfg)
	require.NoError(t, err)
	return p, func() []runEnded {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// recorded opens the journal of the one session of a directory.
func recorded(t require.TestingT, dir journal.Dir) *journal.Journal {
	j, err := journal.Open(context.Background(), dir, "order-42", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	return j
}

func lines(t require.TestingT, dir journal.Dir) string {
	text, err := os.ReadFile(filepath.Join(string(dir), journal.FileName("order-42")))
	require.NoError(t, err)
	return string(text)
}

// exactly is a transport layer without jitter, for tests of times.
func exactly() policy.Layer {
	b := backoff.Exponential(time.Second, 2*backoff.One)
	b.Jitter.Kind = backoff.NoJitter
	return policy.Layer{Backoff: &b}
}

func newSessionNamed(t testing.TB, id string) *session.Session {
	s, err := session.New(session.Config{ID: id})
	require.NoError(t, err)
	return s
}

// after is a model that fails once for each session, with the wait in its prompt.
func after(asked *[]string) loop.Model {
	var mu sync.Mutex
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		text := r.Messages[0].Text
		*asked = append(*asked, text)
		wait, err := time.ParseDuration(text)
		if err != nil {
			return message.Reply{}, err
		}
		for _, before := range (*asked)[:len(*asked)-1] {
			if before == text {
				return message.Reply{Text: "done", Finish: message.Stop}, nil
			}
		}
		return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: wait}
	})
}

func TestAPoolWakesByDeadline(t *testing.T) {
	var asked []string
	clock := looptest.NewClock()
	exact := policy.DefaultSet()
	exact.Transport = exactly()
	p, told := pooled(t, loop.PoolConfig{Model: after(&asked), Config: loop.Config{Policy: &exact}, Options: []loop.Option{loop.WithClock(clock)}})
	for _, wait := range []string{"30s", "10s", "20s"} {
		_, err := p.Add(newSessionNamed(t, wait), loop.Input{Prompt: wait})
		require.NoError(t, err)
	}
	assert.Equal(t, 3, p.Len())
	assert.Equal(t, 3, p.Due(clock.Now()), "they begin in order")
	at, ok := p.Next()
	assert.True(t, ok)
	assert.Equal(t, looptest.Epoch.Add(10*time.Second), at)
	assert.Zero(t, p.Due(clock.Now()), "none is due yet")
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Equal(t, []string{"30s", "10s", "20s", "10s", "20s", "30s"}, asked)
	assert.Len(t, told(), 3)
	assert.Zero(t, p.Len())
	_, ok = p.Next()
	assert.False(t, ok)
}

func TestARunInAPoolIsCancelledWhereverItStands(t *testing.T) {
	var asked []string
	clock, gone := looptest.NewClock(), errors.New("gone")
	p, told := pooled(t, loop.PoolConfig{Model: after(&asked), Options: []loop.Option{loop.WithClock(clock)}})
	ready, err := p.Add(newSessionNamed(t, "ready"), loop.Input{Prompt: "1m"})
	require.NoError(t, err)
	waits, err := p.Add(newSessionNamed(t, "waits"), loop.Input{Prompt: "4m"})
	require.NoError(t, err)
	ready.Cancel(gone)
	p.Due(clock.Now())
	require.Len(t, told(), 1)
	waits.Cancel(gone)
	waits.Cancel(errors.New("again"))
	require.NoError(t, p.Run(t.Context(), 1))
	require.Len(t, told(), 2)
	for _, end := range told() {
		require.ErrorIs(t, end.err, policy.ReasonCancelled)
		require.ErrorIs(t, end.err, gone)
	}
	waits.Cancel(nil)
	assert.Equal(t, looptest.Epoch, clock.Now(), "nothing was waited for")
}

func TestACallUnderWayIsCancelled(t *testing.T) {
	began := make(chan struct{})
	model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		close(began)
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	p, told := pooled(t, loop.PoolConfig{Model: model})
	seat, err := p.Add(newSessionNamed(t, "a"), loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	go func() { <-began; seat.Cancel(nil) }()
	require.NoError(t, p.Run(t.Context(), 3))
	require.ErrorIs(t, told()[0].err, policy.ReasonCancelled)
}

func TestSoManyWorkersAreAllThatWork(t *testing.T) {
	const workers = 3
	var at, most atomic.Int64
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		defer at.Add(-1)
		now := at.Add(1)
		for {
			if seen := most.Load(); seen >= now || most.CompareAndSwap(seen, now) {
				break
			}
		}
		runtime.Gosched()
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
	p, told := pooled(t, loop.PoolConfig{Model: model})
	for n := range 500 {
		_, err := p.Add(newSessionNamed(t, fmt.Sprint(n)), loop.Input{Prompt: "Hello."})
		require.NoError(t, err)
	}
	require.NoError(t, p.Run(t.Context(), workers))
	assert.Len(t, told(), 500)
	assert.LessOrEqual(t, most.Load(), int64(workers))
}

func TestAPoolIsStoppedAndGoneOnWith(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var asked []string
	patient := after(&asked)
	model := loop.ModelFunc(func(c context.Context, r loop.Request) (message.Reply, error) {
		stop()
		return patient.Reply(c, r)
	})
	clock := looptest.NewClock()
	p, told := pooled(t, loop.PoolConfig{Model: model, Options: []loop.Option{loop.WithClock(clock)}})
	for _, wait := range []string{"1m", "2m"} {
		_, err := p.Add(newSessionNamed(t, wait), loop.Input{Prompt: wait})
		require.NoError(t, err)
	}
	require.ErrorIs(t, p.Run(ctx, 1), context.Canceled)
	assert.Empty(t, told())
	assert.Equal(t, 2, p.Len(), "none was cancelled")
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Len(t, told(), 2)
	assert.Empty(t, p.Close())
	require.ErrorIs(t, p.Run(t.Context(), 1), loop.ErrPoolClosed)
	s := newSessionNamed(t, "late")
	_, err := p.Add(s, loop.Input{Prompt: "1m"})
	require.ErrorIs(t, err, loop.ErrPoolClosed)
	require.NoError(t, session.DriverOf(s).Acquire(), "it is free")
}

func TestAPoolSaysWhatIsWrongWithItsConfig(t *testing.T) {
	_, err := loop.NewPool(loop.PoolConfig{Config: loop.Config{Consult: []fault.Class{fault.RateLimit}}})
	for _, want := range []string{"model:", "consult:"} {
		require.ErrorContains(t, err, want)
	}
	p, _ := pooled(t, loop.PoolConfig{Model: looptest.NewModel()})
	require.ErrorContains(t, p.Run(t.Context(), 0), "workers")
	_, err = p.Add(nil, loop.Input{Prompt: "Hello."})
	require.Error(t, err)
	p, err = loop.NewPool(loop.PoolConfig{Model: looptest.NewModel()})
	require.NoError(t, err)
	_, err = p.Add(newSession(t), loop.Input{Prompt: "Hello."})
	require.ErrorContains(t, err, "done:")
	_, err = p.AddParked(loop.Parked{})
	require.ErrorContains(t, err, "done:")
}

func ExamplePool() {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Text: "You said: " + r.Messages[0].Text, Finish: message.Stop}, nil
	})
	pool, err := loop.NewPool(loop.PoolConfig{Model: model, Done: func(s *session.Session, r loop.Result, err error) {
		fmt.Println(s.ID(), r.Text, err)
	}})
	if err != nil {
		panic(err)
	}
	for _, id := range []string{"order-1", "order-2"} {
		s, _ := session.New(session.Config{ID: id})
		if _, err := pool.Add(s, loop.Input{Prompt: "Hello, I am " + id + "."}); err != nil {
			panic(err)
		}
	}
	fmt.Println(pool.Run(context.Background(), 1))
	// Output:
	// order-1 You said: Hello, I am order-1. <nil>
	// order-2 You said: Hello, I am order-2. <nil>
	// <nil>
}

// BenchmarkParked measures the memory of a session that waits in a pool after one failed call, its message
// included.
func BenchmarkParked(b *testing.B) {
	const n = 100_000
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Minute}
	})
	for b.Loop() {
		clock := looptest.NewClock()
		p, _ := pooled(b, loop.PoolConfig{Model: model, Options: []loop.Option{loop.WithClock(clock)}})
		before := held()
		for range n {
			s, err := session.New(session.Config{ID: "parked"})
			require.NoError(b, err)
			_, err = p.Add(s, loop.Input{Prompt: "Hello."})
			require.NoError(b, err)
		}
		p.Due(clock.Now())
		b.ReportMetric(float64(held()-before)/n, "B/session")
		runtime.KeepAlive(p)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/session")
}

// BenchmarkWoken wakes many sessions that wait after one failed call, in the order of their waits. Each asks
// the model once more and ends.
func BenchmarkWoken(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			woken := time.Duration(0)
			for b.Loop() {
				asked := 0
				model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
					if asked++; asked <= n {
						return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Minute + time.Duration(asked)*time.Millisecond}
					}
					return message.Reply{Text: "Hello.", Finish: message.Stop}, nil
				})
				clock := looptest.NewClock()
				ended := 0
				p, err := loop.NewPool(loop.PoolConfig{
					Model: model, Options: []loop.Option{loop.WithClock(clock)}, Done: func(*session.Session, loop.Result, error) { ended++ },
				})
				require.NoError(b, err)
				for range n {
					_, err := p.Add(newSessionNamed(b, "parked"), loop.Input{Prompt: "Hello."})
					require.NoError(b, err)
				}
				p.Due(clock.Now())
				clock.Add(time.Hour)
				runtime.GC()
				began := time.Now()
				p.Due(clock.Now())
				woken += time.Since(began)
				require.Equal(b, n, ended)
			}
			b.ReportMetric(float64(n)*float64(b.N)/woken.Seconds(), "woken/s")
		})
	}
}

// held is the memory in use.
func held() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A panic of the Done function is not hidden. The run is over, its caller gets the panic, and its session
// is free.
func TestAPanicOfWhoIsToldIsNotHidden(t *testing.T) {
	p, err := loop.NewPool(loop.PoolConfig{
		Model: looptest.NewModel(looptest.Say("one"), looptest.Say("two")),
		Done:  func(*session.Session, loop.Result, error) { panic("nobody listens") },
	})
	require.NoError(t, err)
	s := newSession(t)
	_, err = p.Add(s, loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	assert.PanicsWithValue(t, "nobody listens", func() { p.Due(time.Now()) })
	require.NoError(t, session.DriverOf(s).Acquire(), "it is free again")
	session.DriverOf(s).Release()

	told := make(chan loop.Result)
	go func() {
		r, err := p.Await(t.Context(), s, loop.Input{Prompt: "Hello."})
		assert.NoError(t, err)
		told <- r
	}()
	for ready := false; !ready; runtime.Gosched() {
		_, ready = p.Next()
	}
	assert.PanicsWithValue(t, "nobody listens", func() { p.Due(time.Now()) })
	assert.Equal(t, "two", (<-told).Text)
	assert.Zero(t, p.Len())
}
