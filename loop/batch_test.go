package loop_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
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

// begun are the ids of calls in the order of their start.
type begun struct {
	mu  sync.Mutex
	ids []string
}

func (b *begun) call(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids = append(b.ids, tool.CallID(ctx))
}

func (b *begun) all() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.ids, " ")
}

func TestCallsBeginInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told begun
		book := func(ctx context.Context, _ booking) (receipt, error) {
			told.call(ctx)
			<-time.After(time.Second)
			return receipt{Number: "r"}, nil
		}
		start := time.Now()
		_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(roomCalls(6)...), looptest.Say("ok")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithParallel(1))
		require.NoError(t, err)
		assert.Equal(t, "call-1 call-2 call-3 call-4 call-5 call-6", told.all())
		assert.Equal(t, 6*time.Second, time.Since(start))
	})
}

func TestNoCallBeginsOnceTheRunHasEnded(t *testing.T) {
	for range 20 { // what is tried is left to chance
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var told begun
			book := func(ctx context.Context, _ booking) (receipt, error) {
				told.call(ctx)
				cancel()
				return receipt{Number: "r"}, nil
			}
			_, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(roomCalls(6)...)), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithParallel(1))
			require.ErrorIs(t, err, policy.ReasonCancelled)
			synctest.Wait()
			assert.Equal(t, "call-1", told.all())
		})
	}
}

func TestWhatAToolReturnsToARunThatIsLeftIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := journal.Dir(t.TempDir())
		ctx, suspend := context.WithCancelCause(t.Context())
		var told begun
		book := func(ctx context.Context, _ booking) (receipt, error) {
			told.call(ctx)
			suspend(loop.ErrSuspended)
			return receipt{Number: "r-1"}, nil
		}
		j := recorded(t, dir)
		_, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(call("book_room", lisbon))), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
		require.ErrorIs(t, err, loop.ErrSuspended)
		synctest.Wait() // until the tool has returned
		require.NoError(t, j.Close())
		j = recorded(t, dir)
		defer j.Close()
		model := looptest.NewModel(looptest.Say("Booked."))
		_, err = fixture.Resume(t.Context(), model, fixture.In(newSession(t), j), loop.Config{Tools: bookRoom(t, book)})
		require.NoError(t, err)
		assert.Len(t, told.ids, 1, "it is not run again")
		shown := model.Requests()[0].Last()
		assert.Contains(t, shown.Text, "r-1")
	})
}

func TestACallThatTheEndOfItsContextBrokeHasNoOutcome(t *testing.T) {
	for name, calls := range manners {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := journal.Dir(t.TempDir())
				ctx, suspend := context.WithCancelCause(t.Context())
				book := func(ctx context.Context, _ booking) (receipt, error) {
					<-ctx.Done()
					return receipt{}, ctx.Err()
				}
				go func() { synctest.Wait(); suspend(loop.ErrSuspended) }()
				j := recorded(t, dir)
				_, err := fixture.Run(ctx, looptest.NewModel(looptest.Call(roomCalls(calls)...)), fixture.In(newSession(t), j), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
				require.ErrorIs(t, err, loop.ErrSuspended)
				synctest.Wait() // until the tools have returned
				require.NoError(t, j.Close())
				assert.NotContains(t, lines(t, dir), `"landed"`)
			})
		})
	}
}

func TestAPoolOutlivesWhatEndsItsWorkers(t *testing.T) {
	exits := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		runtime.Goexit()
		return message.Reply{}, nil
	})
	p, ended := pooled(t, loop.PoolConfig{Model: exits})
	s := newSession(t)
	_, err := p.Add(s, loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	require.Len(t, ended(), 1)
	require.ErrorIs(t, ended()[0].err, policy.ReasonCancelled)
	var stopped *loop.RetryExhaustedError
	require.ErrorAs(t, ended()[0].err, &stopped)
	require.ErrorContains(t, stopped.Cause, "Goexit")
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")

	p, err = loop.NewPool(loop.PoolConfig{Model: looptest.NewModel(looptest.Say("a"), looptest.Say("b")), Done: func(*session.Session, loop.Result, error) { runtime.Goexit() }})
	require.NoError(t, err)
	for range 2 {
		_, err = p.Add(newSession(t), loop.Input{Prompt: "Hello."})
		require.NoError(t, err)
	}
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Empty(t, p.Close())
}

func TestARunInWhichAModelPanicsInAPoolIsNoCancelledOne(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	j := recorded(t, dir)
	defer j.Close()
	p, ended := pooled(t, loop.PoolConfig{Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("no model") })})
	_, err := p.Add(fixture.In(newSession(t), j), loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	panicsOfModel(t, func() { p.Due(time.Now()) })
	assert.Empty(t, ended())
	assert.True(t, j.Unfinished())
}

func TestTracersAreToldOfAPoolThatIsClosed(t *testing.T) {
	over := &ends{all: map[observe.WorkKind][]observe.WorkEnd{}}
	cfg := loop.PoolConfig{Model: looptest.NewModel(looptest.Say("done")), Options: []loop.Option{over.tracer()}}
	p, _ := pooled(t, cfg)
	s := newSession(t)
	_, err := p.Add(s, loop.Input{Prompt: "Hello."})
	require.NoError(t, err)
	left := p.Close()
	require.Len(t, over.of(observe.WorkRun), 1)
	require.ErrorIs(t, over.of(observe.WorkRun)[0].Err, loop.ErrSuspended)
	_, err = p.AddParked(left[0])
	require.ErrorIs(t, err, loop.ErrPoolClosed)
	require.ErrorIs(t, over.of(observe.WorkRun)[1].Err, loop.ErrPoolClosed)

	p, ended := pooled(t, cfg)
	_, err = p.AddParked(left[0])
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	require.Len(t, ended(), 1)
	require.NoError(t, ended()[0].err)
	require.Len(t, over.of(observe.WorkRun), 3)
	require.NoError(t, over.of(observe.WorkRun)[2].Err)
}

// sly is an error whose methods panic.
type sly struct{ error }

func (sly) Failure() fault.Failure { panic("a nil pointer within") }

func TestAnErrorThatPanicsIsItsToolsPanic(t *testing.T) {
	book := func(context.Context, booking) (receipt, error) { return receipt{}, sly{errors.New("odd")} }
	var mu sync.Mutex
	var ends []error
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Call(roomCalls(2)...), looptest.Say("ok")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithObserver(tracerFunc(func(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
		return ctx, func(e observe.WorkEnd) {
			mu.Lock()
			defer mu.Unlock()
			if w.Kind == observe.WorkTool {
				ends = append(ends, e.Err)
			}
		}
	})))
	require.NoError(t, err)
	require.Len(t, ends, 2)
	for _, e := range ends {
		_, panicked := errors.AsType[*fault.PanicError](e)
		assert.True(t, panicked, "%v", e)
	}
}

// A provider refuses a conversation in which two calls have one id, or one has none: also where the reply as
// a whole could not be used.
func TestCallsOfARefusedReplyHaveIDsOfTheirOwn(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.RetryableErrors, set.MaxCalls = []fault.Class{fault.Truncated, fault.ToolValidation}, 4
	calls := []message.Call{{ID: "c1", Name: "book_room"}, {Name: "book_room"}, {ID: "c1", Name: "book_room"}, {ID: "call-2", Name: "book_room"}}
	for name, refused := range map[string]message.Reply{
		"cut off": {Calls: calls, Finish: message.Length}, "too many": {Calls: append(slices.Clone(calls), calls...)},
	} {
		script := looptest.NewModel(looptest.Turn{Reply: refused}, looptest.Say("Done."))
		r, err := fixture.Run(t.Context(), script, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set})
		looptest.AssertAnswer(t, r, err, "Done.")
		var asked, answered []string
		for _, m := range script.Requests()[1].Messages {
			for _, c := range m.Calls {
				asked = append(asked, c.ID)
			}
			if m.Role == message.Tool {
				answered = append(answered, m.CallID)
			}
		}
		assert.Len(t, asked, 4, name)
		assert.Equal(t, asked, answered, name)
		assert.Equal(t, "c1", asked[0], name)
		slices.Sort(asked)
		assert.Len(t, slices.Compact(asked), 4, name)
		assert.NotContains(t, asked, "", name)
	}
}
