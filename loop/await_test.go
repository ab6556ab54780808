package loop_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// patient are the runs whose server first asks for a wait of an hour.
func patient() (loop.Config, loop.Model) {
	set, most := policy.DefaultSet(), 2*time.Hour
	set.Transport = exactly()
	set.Transport.MaxRetryAfter, set.Transport.MaxTotalDelay = &most, &most
	var told sync.Map
	return loop.Config{Policy: &set}, loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if _, asked := told.LoadOrStore(r.Messages[0].Text, true); !asked {
			return message.Reply{}, &fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Hour}
		}
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
}

func poolOf(t testing.TB, cfg loop.Config, model loop.Model, opts ...loop.Option) *loop.Pool {
	t.Helper()
	p, err := loop.NewPool(loop.PoolConfig{Model: model, Config: cfg, Options: opts})
	require.NoError(t, err)
	return p
}

// awaits makes a run in the pool and returns the channel of its end.
func awaits(ctx context.Context, p *loop.Pool, s *session.Session, prompt string, j *journal.Journal) <-chan runEnded {
	end := make(chan runEnded, 1)
	go func() {
		r, err := p.Await(ctx, fixture.In(s, j), loop.Input{Prompt: prompt})
		end <- runEnded{s, r, err}
	}()
	return end
}

// serves drives a pool until the test ends.
func serves(t *testing.T, p *loop.Pool) {
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- p.Serve(ctx, 2) }()
	t.Cleanup(func() {
		stop()
		require.ErrorIs(t, <-over, context.Canceled)
	})
}

func TestACallerThatLeavesEndsItsRun(t *testing.T) {
	gone := errors.New("gone")
	for name, driven := range map[string]bool{"driven": true, "driven_no_more": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := poolOf(t, patientConfig(), overloaded())
				drive, stop := context.WithCancel(t.Context())
				go func() { _ = p.Serve(drive, 1) }()
				ctx, leave := context.WithCancelCause(t.Context())
				end := awaits(ctx, p, newSession(t), "a", nil)
				synctest.Wait()
				if !driven {
					stop()
				}
				leave(gone)
				got := <-end
				require.ErrorIs(t, got.err, policy.ReasonCancelled)
				require.ErrorIs(t, got.err, gone)
				assert.Equal(t, 1, got.session.State().AttemptCount())
				assert.Zero(t, p.Len())
				stop()
			})
		})
	}
}

func patientConfig() loop.Config { cfg, _ := patient(); return cfg }

// overloaded is a model that never replies.
func overloaded() loop.Model {
	return loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{}, &fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Hour}
	})
}

func TestACallerThatLeavesBeforeAnybodyDrives(t *testing.T) {
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	p := poolOf(t, loop.Config{}, looptest.NewModel())
	s := newSession(t)
	_, err := p.Await(ctx, s, loop.Input{Prompt: "a"})
	require.ErrorIs(t, err, policy.ReasonCancelled)
	require.ErrorIs(t, err, gone)
	require.NoError(t, session.DriverOf(s).Acquire(), "it is free again")
}

func TestACallUnderWayIsCancelledByItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, loop.Config{}, loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			<-ctx.Done()
			return message.Reply{}, ctx.Err()
		}))
		serves(t, p)
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		_, err := p.Await(ctx, newSession(t), loop.Input{Prompt: "a"})
		require.ErrorIs(t, err, policy.ReasonDeadline)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestACallerSuspendsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, model := patient()
		p, dir := poolOf(t, cfg, model), journal.Dir(t.TempDir())
		serves(t, p)
		j := recorded(t, dir)
		ctx, leave := context.WithCancelCause(t.Context())
		end := awaits(ctx, p, newSession(t), "a", j)
		synctest.Wait()
		leave(loop.ErrSuspended)
		require.ErrorIs(t, (<-end).err, loop.ErrSuspended)
		require.True(t, j.Unfinished())
		r, err := p.Await(t.Context(), fixture.In(newSession(t), j), loop.Input{Prompt: ""})
		require.NoError(t, err)
		assert.Equal(t, "done", r.Text)
		require.NoError(t, j.Close())
	})
}

func TestCallersOfAPoolThatIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, model := patient()
		p := poolOf(t, cfg, model)
		ctx, stop := context.WithCancel(t.Context())
		go func() { _ = p.Serve(ctx, 1) }()
		waits := awaits(t.Context(), p, newSessionNamed(t, "waits"), "a", nil)
		synctest.Wait()
		stop()
		synctest.Wait()
		fresh := awaits(t.Context(), p, newSessionNamed(t, "fresh"), "b", nil)
		synctest.Wait()
		left := p.Close()
		require.Len(t, left, 1, "what has not begun is no run")
		got := <-waits
		require.ErrorIs(t, got.err, loop.ErrPoolClosed)
		require.ErrorIs(t, got.err, loop.ErrSuspended)
		got = <-fresh
		require.Equal(t, loop.ErrPoolClosed, got.err)
		require.NoError(t, session.DriverOf(got.session).Acquire(), "it was never taken")
		_, err := p.Await(t.Context(), newSession(t), loop.Input{Prompt: "c"})
		require.Equal(t, loop.ErrPoolClosed, err)

		next, told := pooled(t, loop.PoolConfig{Model: model, Config: cfg})
		_, err = next.AddParked(left[0])
		require.NoError(t, err)
		require.NoError(t, next.Run(t.Context(), 1))
		require.Len(t, told(), 1)
		assert.Equal(t, "done", told()[0].result.Text)
	})
}

// A panic of one caller's run must not end a worker, nor block the caller.
func TestACallerIsToldWhatEndedItsWorker(t *testing.T) {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		switch r.Messages[0].Text {
		case "panics":
			panic("no model")
		case "exits":
			runtime.Goexit()
		}
		return message.Reply{Text: "done", Finish: message.Stop}, nil
	})
	p, dir := poolOf(t, loop.Config{}, model), journal.Dir(t.TempDir())
	serves(t, p)
	j, s := recorded(t, dir), newSession(t)
	_, err := p.Await(t.Context(), fixture.In(s, j), loop.Input{Prompt: "panics"})
	var panicked *fault.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.Equal(t, "no model", panicked.Value)
	assert.Contains(t, panicked.Stack, "await_test.go")
	require.True(t, j.Unfinished(), "it can be resumed")
	require.NoError(t, j.Close())
	require.NoError(t, session.DriverOf(s).Acquire(), "it is free again")

	_, err = p.Await(t.Context(), newSession(t), loop.Input{Prompt: "exits"})
	require.ErrorIs(t, err, policy.ReasonCancelled)
	require.ErrorContains(t, err, "Goexit")
	r, err := p.Await(t.Context(), newSession(t), loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	assert.Equal(t, "done", r.Text)
}

func TestACallerIsToldWhyItsRunCannotBegin(t *testing.T) {
	p := poolOf(t, loop.Config{}, looptest.NewModel())
	serves(t, p)
	s := newSession(t)
	require.NoError(t, session.DriverOf(s).Acquire())
	_, err := p.Await(t.Context(), s, loop.Input{Prompt: "a"})
	require.ErrorIs(t, err, session.ErrBusy)
	_, err = p.Await(t.Context(), nil, loop.Input{Prompt: "a"})
	require.ErrorContains(t, err, "session is nil")
}

func TestTheContextOfACallerIsThatOfItsRun(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var seen []any
		over := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
		p := poolOf(t, patientConfig(), loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
			if seen = append(seen, ctx.Value(key{})); len(seen) == 1 {
				return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Minute}
			}
			return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Hour}
		}), over.tracer())
		serves(t, p)
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "mine"), 30*time.Minute)
		defer cancel()
		_, err := p.Await(ctx, newSession(t), loop.Input{Prompt: "a"})
		require.ErrorIs(t, err, policy.ReasonDeadline, "no wait outlasts it")
		assert.Equal(t, []any{"mine", "mine"}, seen, "before the wait and after it")
		require.Len(t, over.of(observe.WorkRun), 1)
		require.ErrorIs(t, over.of(observe.WorkRun)[0].Err, policy.ReasonDeadline)
	})
}

// draws draws numbers from its own source and logs the seed. It is safe for concurrent use.
func draws(t *testing.T) func(below int) int {
	seed := rand.Uint64()
	t.Log("seed", seed)
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, 0))
	return func(below int) int {
		mu.Lock()
		defer mu.Unlock()
		return source.IntN(below)
	}
}

// TestManyCallers lets callers leave at any time while workers come and go. Each gets the end of its own
// run.
func TestManyCallers(t *testing.T) {
	const callers = 2000
	draw := draws(t)
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, patientConfig(), loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
			said := r.Messages[0].Text
			if draw(2) == 0 {
				return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Duration(draw(60)) * time.Second}
			}
			return message.Reply{Text: said, Finish: message.Stop}, nil
		}))
		over, stop := context.WithCancel(t.Context())
		var drivers, all sync.WaitGroup
		for range 3 {
			drivers.Go(func() {
				for over.Err() == nil {
					ctx, cancel := context.WithTimeout(over, time.Duration(1+draw(90))*time.Second)
					_ = p.Serve(ctx, 2)
					cancel()
				}
			})
		}
		var ended, left atomic.Int64
		for n := range callers {
			all.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if n%3 == 0 {
					time.AfterFunc(time.Duration(draw(120))*time.Second, cancel)
				}
				r, err := p.Await(ctx, newSessionNamed(t, fmt.Sprint(n)), loop.Input{Prompt: fmt.Sprint(n)})
				switch {
				case err == nil:
					assert.Equal(t, fmt.Sprint(n), r.Text)
					ended.Add(1)
				case errors.Is(err, policy.ReasonCancelled):
					assert.Zero(t, n%3, "nobody else leaves")
					left.Add(1)
				default:
					assert.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
				}
			})
		}
		all.Wait()
		stop()
		drivers.Wait()
		assert.NotZero(t, ended.Load())
		assert.NotZero(t, left.Load())
		assert.Empty(t, p.Close())
	})
}

func ExamplePool_Await() {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Text: "You said: " + r.Messages[0].Text, Finish: message.Stop}, nil
	})
	pool, err := loop.NewPool(loop.PoolConfig{Model: model})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = pool.Serve(ctx, 4) }()

	s, _ := session.New(session.Config{ID: "order-1"})
	result, err := pool.Await(ctx, s, loop.Input{Prompt: "Hello."})
	fmt.Println(result.Text, err)
	// Output: You said: Hello. <nil>
}
