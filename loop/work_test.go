package loop_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

type inside struct{}

// follower records its notices in order. The context has the name of the surrounding work.
type follower struct {
	mu    sync.Mutex
	lines []string
}

var errBroken = errors.New("broken")

func (f *follower) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *follower) Observe(ctx context.Context, n observe.Notice) {
	f.add("%s in %v", n.Kind, ctx.Value(inside{}))
}

func (f *follower) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	name := fmt.Sprint(w.Kind, w.Turn, w.Tool)
	f.add("begin %s in %v: %s, attempt %d of %d, transport %d",
		name, ctx.Value(inside{}), w.CorrelationID, w.Attempt, w.MaxAttempts, w.Transport)
	return context.WithValue(ctx, inside{}, name), func(e observe.WorkEnd) {
		f.add("end %s: %s%s, failed %t, %v", name, e.Class, e.Reason, e.Err != nil, e.At.Sub(w.At))
	}
}

func TestATracerFollowsEachPieceOfWork(t *testing.T) {
	f := &follower{}
	book := func(ctx context.Context, _ booking) (receipt, error) {
		f.add("the tool is in %v", ctx.Value(inside{}))
		return receipt{Number: "R-1"}, nil
	}
	model := looptest.NewModel(
		looptest.Call(call("book_room", `{}`)),
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, RetryAfter: 3 * time.Second}),
		looptest.Call(call("book_room", lisbon)),
		looptest.Say("done"))
	exact := policy.DefaultSet()
	exact.Transport = exactly()
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book), Policy: &exact}, loop.WithClock(looptest.NewClock()), loop.WithObserver(f))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"begin run0 in <nil>: order-42, attempt 0 of 0, transport 0",
		"begin model_call1 in run0: order-42, attempt 1 of 3, transport 1",
		"attempt in run0", "retry in run0",
		"end model_call1: tool_validation, failed false, 0s",
		"begin model_call2 in run0: order-42, attempt 2 of 3, transport 1",
		"attempt in run0", "retry in run0",
		"end model_call2: overloaded, failed true, 0s",
		"begin model_call2 in run0: order-42, attempt 2 of 3, transport 2",
		"end model_call2: , failed false, 0s",
		"begin tool_run0book_room in run0: order-42, attempt 0 of 0, transport 1",
		"the tool is in tool_run0book_room",
		"end tool_run0book_room: , failed false, 0s",
		"attempt in run0",
		"begin model_call3 in run0: order-42, attempt 1 of 3, transport 1",
		"attempt in run0", "ended in run0",
		"end model_call3: , failed false, 0s",
		"end run0: accepted, failed false, 3s",
	}, f.lines)
}

func TestTheEndsOfWork(t *testing.T) {
	good := looptest.Call(call("book_room", lisbon))
	broken := errors.New("the hotel burnt down")
	for _, c := range []struct {
		name string
		tool error
		turn looptest.Turn
		want map[observe.WorkKind]observe.WorkEnd
	}{
		{"a tool asks for other arguments", tool.AskAgain(fault.Issue{Rule: "refused", Expected: "a city"}), good, map[observe.WorkKind]observe.WorkEnd{
			observe.WorkTool: {Class: fault.ToolValidation},
		}},
		{"a tool fails for good", tool.Fail("closed"), good, map[observe.WorkKind]observe.WorkEnd{observe.WorkTool: {Class: fault.ToolExecution}}},
		{"a tool breaks", broken, good, map[observe.WorkKind]observe.WorkEnd{observe.WorkTool: {Class: fault.ToolExecution, Err: broken}}},
		{"a call breaks", nil, looptest.Fail(refused{Class: fault.Auth}), map[observe.WorkKind]observe.WorkEnd{
			observe.WorkModel: {Class: fault.Auth, Err: refused{Class: fault.Auth}}, observe.WorkRun: {Class: fault.Auth, Reason: policy.ReasonNotRetryable},
		}},
		{"a run is broken off", nil, looptest.Fail(errBreaks), map[observe.WorkKind]observe.WorkEnd{observe.WorkRun: {Class: fault.Unknown}}},
		{"a reply says all", nil, looptest.Turn{Reply: message.Reply{
			Text: "Hello.", Finish: message.Stop, Model: "small-1", Usage: message.Usage{InputTokens: 3, OutputTokens: 2},
		}}, map[observe.WorkKind]observe.WorkEnd{
			observe.WorkModel: {Model: "small-1", Finish: message.Stop, Usage: message.Usage{InputTokens: 3, OutputTokens: 2}},
			observe.WorkRun:   {Reason: policy.ReasonAccepted, Usage: message.Usage{InputTokens: 3, OutputTokens: 2}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := map[observe.WorkKind]observe.WorkEnd{}
			f := tracerFunc(func(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
				return ctx, func(e observe.WorkEnd) {
					if _, there := ends[w.Kind]; !there {
						e.At = time.Time{}
						ends[w.Kind] = e
					}
				}
			})
			book := func(context.Context, booking) (receipt, error) { return receipt{}, c.tool }
			_, err := fixture.Run(t.Context(), looptest.NewModel(c.turn, looptest.Say("done")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(f), loop.WithAdjust(func(session.State) (policy.Layer, bool) {
				return policy.Layer{MaxAttempts: new(-7)}, c.turn.Err == errBreaks
			}))
			if e := ends[observe.WorkRun]; assert.Equal(t, err, e.Err) {
				e.Err = nil
				ends[observe.WorkRun] = e
			}
			for kind, want := range c.want {
				assert.Equal(t, want, ends[kind], kind)
			}
		})
	}
}

// errBreaks is the error of a run that an invalid adjustment breaks off.
var errBreaks = errors.New("breaks")

// tracerFunc is a tracing observer made of a function.
type tracerFunc func(context.Context, observe.Work) (context.Context, func(observe.WorkEnd))

func (f tracerFunc) Observe(context.Context, observe.Notice) {}

func (f tracerFunc) Begin(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
	return f(ctx, w)
}

func TestATracerCannotChangeTheOutcome(t *testing.T) {
	for name, f := range map[string]tracerFunc{
		"panics at the beginning": func(context.Context, observe.Work) (context.Context, func(observe.WorkEnd)) { panic("a tracer") },
		"panics at the end": func(ctx context.Context, _ observe.Work) (context.Context, func(observe.WorkEnd)) {
			return ctx, func(observe.WorkEnd) { panic("a tracer") }
		},
		"returns nothing": func(context.Context, observe.Work) (context.Context, func(observe.WorkEnd)) { return nil, nil },
		"cancels": func(ctx context.Context, _ observe.Work) (context.Context, func(observe.WorkEnd)) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, nil
		},
		"loses the context": func(context.Context, observe.Work) (context.Context, func(observe.WorkEnd)) {
			return context.WithValue(context.Background(), inside{}, "nowhere"), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			book := func(ctx context.Context, _ booking) (receipt, error) {
				child, stop := context.WithCancel(ctx)
				defer stop()
				return receipt{Number: "R-1"}, child.Err()
			}
			stop := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				cancel(errBroken)
				<-ctx.Done()
				return message.Reply{}, ctx.Err()
			})
			turns := looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("done"))
			after := &follower{}
			options := []loop.Option{loop.WithClock(looptest.NewClock()), loop.WithObserver(f), loop.WithObserver(after)}
			r, err := fixture.Run(ctx, turns, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, options...)
			require.NoError(t, err)
			assert.Equal(t, "done", r.Text)
			assert.Contains(t, after.lines, "end run0: accepted, failed false, 0s", "the other tracer is told all")
			_, err = fixture.Run(ctx, stop, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, options...)
			require.ErrorIs(t, err, policy.ReasonCancelled, "the caller's own end of the context still counts")
			require.ErrorIs(t, err, errBroken)
		})
	}
}

func TestAGuardedTracerIsToldNoMoreOnceItFailed(t *testing.T) {
	for name, fail := range map[string]func(observe.Work) bool{
		"at the beginning": func(w observe.Work) bool { return w.Kind == observe.WorkModel },
		"at the end":       func(observe.Work) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			f, told := &degrade.Fallbacks{}, 0
			tracer := tracerFunc(func(ctx context.Context, w observe.Work) (context.Context, func(observe.WorkEnd)) {
				told++
				if fail(w) {
					panic(errBroken)
				}
				return context.WithValue(ctx, inside{}, w.Kind), func(observe.WorkEnd) { panic(errBroken) }
			})
			var in any
			model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
				in = ctx.Value(inside{})
				return message.Reply{Text: "{", Finish: message.Length}, nil
			})
			set := policy.DefaultSet()
			set.Global.RetryableErrors = []fault.Class{fault.Truncated}
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Policy: &set}, loop.WithClock(looptest.NewClock()), loop.WithObserver(degrade.Guard(f, tracer)))
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			assert.Equal(t, 2, told)
			assert.NotNil(t, in)
			assert.Equal(t, []string{string(degrade.TelemetryFailed)}, f.Warnings())
		})
	}
}

func TestResumeOfARunThatHasEndedBeginsNoWork(t *testing.T) {
	dir := journal.Dir(t.TempDir())
	open := func() *journal.Journal {
		j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{})
		require.NoError(t, err)
		return j
	}
	live, again := &follower{}, &follower{}
	j := open()
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), fixture.In(newSession(t), j), loop.Input{Prompt: "Hello."}, loop.Config{}, loop.WithClock(looptest.NewClock()), loop.WithObserver(live))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NotEmpty(t, live.lines)
	j = open()
	defer j.Close()
	r, err := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(newSession(t), j), loop.Config{}, loop.WithObserver(again))
	require.NoError(t, err)
	assert.Equal(t, "Hello.", r.Text)
	assert.Empty(t, again.lines)
}

func TestEveryReducerErrorIsTold(t *testing.T) {
	bookings := session.StateSlice[string]("bookings")
	s, err := session.New(session.Config{
		ID: "order-42", Slices: []session.Declared{bookings},
		Reducers: []session.Reducer{session.On(bookings, session.EventToolResult, "occupancy",
			func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
				return reducer.Change[string]{}, errBroken
			})},
	})
	require.NoError(t, err)
	metrics := &observe.Metrics{}
	var told []observe.Notice
	watch := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.ReducerFailed {
			told = append(told, n)
		}
	})
	twice := looptest.Call(call("book_room", lisbon), message.Call{ID: "c2", Name: "book_room", Arguments: lisbon})
	_, err = fixture.Run(t.Context(), looptest.NewModel(twice, looptest.Say("Sorry.")), s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(metrics), loop.WithObserver(watch))
	require.NoError(t, err)
	assert.Equal(t, len(s.State().ReducerErrors()), len(told))
	assert.Equal(t, int64(2), metrics.Counts().ReducerErrors)
	require.Len(t, told, 2)
	assert.Equal(t, []string{"book_room", "occupancy"}, []string{told[1].Action, told[1].Reducer})
	assert.Equal(t, []int{1, 0}, []int{told[0].Attempt, told[1].Attempt}, "the second call is charged no attempt")
}

// Tools of one reply may outlive their run and report what they do while tracers get its end. This is for
// the race detector.
func TestTracersAreToldOfTheEndWhileToolsGoOn(t *testing.T) {
	both := looptest.Call(
		call("book_room", `{"city": "Lisbon", "nights": 1, "room": "double"}`), call("book_room", `{"city": "Porto", "nights": 2, "room": "double"}`),
	)
	for range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		book := func(_ context.Context, b booking) (receipt, error) {
			if b.City == "Lisbon" {
				cancel()
			}
			return receipt{}, nil
		}
		f := &follower{}
		_, err := fixture.Run(ctx, looptest.NewModel(both), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithObserver(f))
		require.ErrorIs(t, err, context.Canceled)
	}
}
