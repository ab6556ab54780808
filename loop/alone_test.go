package loop_test

import (
	"context"
	"runtime"
	"sync"
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
	"github.com/retake-go/retake/tool"
)

// manners are the ways to run the calls of a reply, by their number.
var manners = map[string]int{"alone": 1, "beside_another": 2}

// ends are the ends of work that a tracer gets.
type ends struct {
	mu  sync.Mutex
	all map[observe.WorkKind][]observe.WorkEnd
}

func (e *ends) tracer() loop.Option {
	return loop.WithObserver(tracerFunc(func(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
		return ctx, func(end observe.WorkEnd) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.all[w.Kind] = append(e.all[w.Kind], end)
		}
	}))
}

func (e *ends) of(k observe.WorkKind) []observe.WorkEnd {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.all[k]
}

func roomCalls(n int) (calls []message.Call) {
	for range n {
		calls = append(calls, message.Call{Name: "book_room", Arguments: lisbon})
	}
	return calls
}

func TestAToolThatIgnoresItsContextDoesNotHoldTheRun(t *testing.T) {
	for name, calls := range manners {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				book := func(context.Context, booking) (receipt, error) {
					<-time.After(time.Hour)
					return receipt{Number: "too late"}, nil
				}
				s := newSession(t)
				start := time.Now()
				result, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(roomCalls(calls)...)), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, policy.ReasonDeadline)
				assert.Equal(t, time.Minute, time.Since(start))
				for _, said := range result.Transcript {
					assert.NotContains(t, said.Text, "too late", "what it returned is dropped")
				}
				require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
				<-time.After(time.Hour) // until the tools have returned
			})
		})
	}
}

func TestALoneToolThatHeedsItsContextEndsTheRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		book := func(ctx context.Context, _ booking) (receipt, error) {
			<-ctx.Done()
			return receipt{}, ctx.Err()
		}
		start := time.Now()
		result, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(call("book_room", lisbon))), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
		require.ErrorIs(t, err, policy.ReasonDeadline)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		last := result.Transcript[len(result.Transcript)-1]
		assert.Equal(t, "No result: the run was stopped. The effect of this call may or may not have happened.", last.Text)
	})
}

// onItsOwn runs f on its own goroutine and reports whether it returned.
func onItsOwn(f func()) (returned bool) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		f()
		returned = true
	}()
	<-over
	return returned
}

func TestAToolThatEndsItsGoroutine(t *testing.T) {
	for name, calls := range manners {
		t.Run(name, func(t *testing.T) {
			told := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
			book := func(context.Context, booking) (receipt, error) { runtime.Goexit(); return receipt{}, nil }
			model := looptest.NewModel(looptest.Call(roomCalls(calls)...), looptest.Say("Sorry."))
			s := newSession(t)
			j := recorded(t, journal.Dir(t.TempDir()))
			defer j.Close()
			var err error
			returned := onItsOwn(func() {
				_, err = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, told.tracer())
			})
			assert.True(t, returned)
			require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
			assert.False(t, j.Unfinished())
			require.NoError(t, err)
			require.Len(t, told.of(observe.WorkRun), 1)
			require.Len(t, told.of(observe.WorkTool), calls)
			for _, end := range told.of(observe.WorkTool) {
				assert.ErrorIs(t, end.Err, tool.ErrExited)
			}
			require.NoError(t, told.of(observe.WorkRun)[0].Err)
			shown := model.Requests()[1].Last()
			assert.Equal(t, "The call failed, and its effect may or may not have happened.", shown.Text)
		})
	}
}

func TestAModelThatEndsItsGoroutine(t *testing.T) {
	told := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		runtime.Goexit()
		return message.Reply{}, nil
	})
	s := newSession(t)
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	assert.False(t, onItsOwn(func() {
		_, _ = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Hello."}, loop.Config{}, told.tracer())
	}))
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
	assert.False(t, j.Unfinished())
	require.Len(t, told.of(observe.WorkRun), 1)
	require.ErrorIs(t, told.of(observe.WorkRun)[0].Err, policy.ReasonCancelled)
	require.Len(t, told.of(observe.WorkModel), 1)
	require.Error(t, told.of(observe.WorkModel)[0].Err)
}

func TestARunInWhichAModelPanicsIsNoCancelledOne(t *testing.T) {
	model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("no model") })
	s := newSession(t)
	j := recorded(t, journal.Dir(t.TempDir()))
	defer j.Close()
	panicsOfModel(t, func() {
		_, _ = fixture.Run(t.Context(), model, fixture.In(s, j), loop.Input{Prompt: "Hello."}, loop.Config{})
	})
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
	assert.True(t, j.Unfinished())
}

func TestAToolThatPanicsAloneHasFailed(t *testing.T) {
	book := func(context.Context, booking) (receipt, error) { panic("no room") }
	told := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
	result, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("Sorry.")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, told.tracer())
	require.NoError(t, err)
	assert.Equal(t, "Sorry.", result.Text)
	var panicked *fault.PanicError
	require.ErrorAs(t, told.of(observe.WorkTool)[0].Err, &panicked)
}

func TestAToolThatEndsItsGoroutineEndsNoWorker(t *testing.T) {
	book := func(context.Context, booking) (receipt, error) { runtime.Goexit(); return receipt{}, nil }
	model := loop.ModelFunc(func(_ context.Context, req loop.Request) (message.Reply, error) {
		if last := req.Last(); last.Text == "Hello." || last.Role == message.Tool {
			return message.Reply{Text: "done"}, nil
		}
		return message.Reply{Calls: roomCalls(1)}, nil
	})
	p, ended := pooled(t, loop.PoolConfig{Model: model, Config: loop.Config{Tools: bookRoom(t, book)}})
	for _, prompt := range []string{"Book.", "Book.", "Hello."} {
		_, err := p.Add(newSession(t), loop.Input{Prompt: prompt})
		require.NoError(t, err)
	}
	require.NoError(t, p.Run(t.Context(), 1))
	all := ended()
	require.Len(t, all, 3)
	for _, one := range all {
		require.NoError(t, one.err)
		require.NoError(t, session.DriverOf(one.session).Acquire(), "the session is free again")
	}
	assert.Empty(t, p.Close())
}
