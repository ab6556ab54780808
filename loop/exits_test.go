package loop_test

import (
	"context"
	"errors"
	"runtime"
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
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// rough is a store that calls a function before each append.
type rough struct {
	journal.Dir
	first func()
}

func (r rough) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := r.Dir.Open(ctx, id)
	return roughLog{log, r.first}, err
}

type roughLog struct {
	journal.Log
	first func()
}

func (r roughLog) Append(ctx context.Context, at int64, lines []byte, durable bool) error {
	r.first()
	return r.Log.Append(ctx, at, lines, durable)
}

// roughly opens a journal on such a store.
func roughly(t testing.TB, first func()) *journal.Journal {
	j, err := journal.Open(context.Background(), rough{journal.Dir(t.TempDir()), first}, "order-42", journal.Settings{Sync: journal.SyncNever})
	require.NoError(t, err)
	return j
}

func observes(tell func(observe.Notice)) loop.Option {
	return loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) { tell(n) }))
}

var exitingModel = loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { runtime.Goexit(); panic(0) })

// TestWhateverExitsHangsNobody ends the goroutine of whatever a run calls, also while others are notified
// of it.
func TestWhateverExitsHangsNobody(t *testing.T) {
	exit := func(observe.Notice) { runtime.Goexit() }
	var broken atomic.Bool
	tests := map[string]struct {
		model loop.Model
		opts  []loop.Option
		// done is called at the end. first is called before each append; nil for none.
		done  func()
		first func()
		// panicked is set if the caller gets a panic.
		panicked bool
	}{
		"a model":                       {model: exitingModel},
		"an observer":                   {opts: []loop.Option{observes(exit)}},
		"a model, and then an observer": {model: exitingModel, opts: []loop.Option{observes(exit)}},
		"an observer of a run that is ended": {opts: []loop.Option{observes(func(n observe.Notice) {
			if n.Kind == observe.Ended {
				runtime.Goexit()
			}
		}), loop.WithPrompt(func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return "", nil, errors.New("no prompt")
		})}},
		"a tracer that is told of the end": {opts: []loop.Option{
			loop.WithObserver(tracerFunc(func(ctx context.Context, _ observe.Work) (context.Context, func(observe.WorkEnd)) {
				return ctx, func(observe.WorkEnd) { runtime.Goexit() }
			})),
		}},
		"who is told of the end":             {done: runtime.Goexit},
		"a journal, as the run begins":       {first: runtime.Goexit},
		"a journal panics as the run begins": {first: func() { panic("no disk") }, panicked: true},
		"a model, and then a journal panics": {model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			broken.Store(true)
			runtime.Goexit()
			panic(0)
		}), first: func() {
			if broken.Load() {
				panic("no disk")
			}
		}, panicked: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
				cfg := loop.PoolConfig{Model: test.model, Options: append(test.opts, over.tracer())}
				if cfg.Model == nil {
					cfg.Model = doneAfter(0)
				}
				if test.done != nil {
					cfg.Done = func(*session.Session, loop.Result, error) { test.done() }
				}
				p, err := loop.NewPool(cfg)
				require.NoError(t, err)
				drive, stop := context.WithCancel(t.Context())
				defer stop()
				go func() { _ = p.Serve(drive, 1) }()
				var j *journal.Journal
				if test.first != nil {
					j = roughly(t, test.first)
				}
				s := newSession(t)
				end := awaits(t.Context(), p, s, "Hello.", j)
				synctest.Wait()
				require.Len(t, end, 1, "the caller is told")
				var panicked *fault.PanicError
				assert.Equal(t, test.panicked, errors.As((<-end).err, &panicked))
				assert.Len(t, over.of(observe.WorkRun), 1, "and tracers are")
				assert.Zero(t, p.Len())
				require.NoError(t, session.DriverOf(s).Acquire(), "it is free")
				assert.Empty(t, p.Close())
			})
		})
	}
}

// TestAPanicOnTheGoroutineOfAnEngineLeavesThePoolInOrder panics in a run that nobody awaits. Whoever drives
// or adds it gets the panic.
func TestAPanicOnTheGoroutineOfAnEngineLeavesThePoolInOrder(t *testing.T) {
	tests := map[string]struct {
		model loop.Model
		first func()
	}{
		"as the run begins": {model: doneAfter(0), first: func() { panic("no disk") }},
		"in a model": {first: func() {}, model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			panic("no model")
		})},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			over := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
			p, told := pooled(t, loop.PoolConfig{Model: test.model, Options: []loop.Option{over.tracer()}})
			s, j := newSession(t), roughly(t, test.first)
			assert.Panics(t, func() {
				_, _ = p.Add(fixture.In(s, j), loop.Input{Prompt: "Hello."})
				p.Due(time.Now())
			})
			assert.Empty(t, told(), "it has not ended")
			assert.Len(t, over.of(observe.WorkRun), 1)
			assert.Zero(t, p.Len())
			require.NoError(t, session.DriverOf(s).Acquire(), "it is free")
			assert.Empty(t, p.Close())
		})
	}
}

func TestATracerThatExitsAsThePoolIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exits := tracerFunc(func(ctx context.Context, _ observe.Work) (context.Context, func(observe.WorkEnd)) {
			return ctx, func(end observe.WorkEnd) {
				if errors.Is(end.Err, loop.ErrSuspended) {
					runtime.Goexit()
				}
			}
		})
		p := poolOf(t, patientConfig(), overloaded(), loop.WithObserver(exits))
		one := awaits(t.Context(), p, newSessionNamed(t, "one"), "Hello.", nil)
		two := awaits(t.Context(), p, newSessionNamed(t, "two"), "Hello.", nil)
		synctest.Wait()
		require.Equal(t, 2, p.Due(time.Now()))
		left := make(chan []loop.Parked, 1)
		go func() { left <- p.Close() }()
		synctest.Wait()
		require.Len(t, left, 1, "it returns")
		assert.Len(t, <-left, 2)
		for _, end := range []<-chan runEnded{one, two} {
			got := <-end
			require.ErrorIs(t, got.err, loop.ErrSuspended)
			require.NoError(t, session.DriverOf(got.session).Acquire(), "it is free")
		}
	})
}

// TestAJournalThatPanicsAsARunIsResumed frees the session and does not change the run.
func TestAJournalThatPanicsAsARunIsResumed(t *testing.T) {
	var broken atomic.Bool
	j := roughly(t, func() {
		if broken.Load() {
			panic("no disk")
		}
	})
	ctx, leave := context.WithCancelCause(t.Context())
	_, err := fixture.Run(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		leave(loop.ErrSuspended)
		return message.Reply{}, ctx.Err()
	}), fixture.In(newSession(t), j), loop.Input{Prompt: "Hello."}, loop.Config{})
	require.ErrorIs(t, err, loop.ErrSuspended)
	broken.Store(true)
	s := newSession(t)
	assert.Panics(t, func() { _, _ = fixture.Resume(t.Context(), doneAfter(0), fixture.In(s, j), loop.Config{}) })
	require.NoError(t, session.DriverOf(s).Acquire(), "Resume lets it go")
	session.DriverOf(s).Release()

	p := poolOf(t, loop.Config{}, doneAfter(0))
	serves(t, p)
	_, err = p.Await(t.Context(), fixture.In(s, j), loop.Input{Prompt: ""})
	var panicked *fault.PanicError
	require.ErrorAs(t, err, &panicked)
	require.NoError(t, session.DriverOf(s).Acquire(), "Await lets it go")
}
