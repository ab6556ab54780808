package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

func TestResultsEnterInCallOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := func(_ context.Context, b booking) (receipt, error) {
			<-time.After(time.Duration(10-b.Nights) * time.Minute)
			return receipt{Number: fmt.Sprint("R-", b.Nights)}, nil
		}
		var calls []message.Call
		for n := range 3 {
			calls = append(calls, message.Call{ID: fmt.Sprint("c", n), Name: "book_room", Arguments: fmt.Sprintf(`{"city": "Lisbon", "nights": %d, "room": "double"}`, n+1)})
		}
		model := looptest.NewModel(looptest.Call(calls...), looptest.Say("done"))
		_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
		require.NoError(t, err)
		var results []string
		for _, m := range model.Requests()[1].Messages {
			if m.Role == message.Tool {
				results = append(results, m.CallID+m.Text)
			}
		}
		assert.Equal(t, []string{`c0{"number":"R-1"}`, `c1{"number":"R-2"}`, `c2{"number":"R-3"}`}, results)
	})
}

func TestNoMoreToolsRunAtOnceThanAllowed(t *testing.T) {
	var (
		mu           sync.Mutex
		running, top int
	)
	book := func(context.Context, booking) (receipt, error) {
		mu.Lock()
		running++
		top = max(top, running)
		mu.Unlock()
		defer func() { mu.Lock(); running--; mu.Unlock() }()
		return receipt{Number: "R"}, nil
	}
	calls := slices.Repeat([]message.Call{{Name: "book_room", Arguments: lisbon}}, 20)
	model := looptest.NewModel(looptest.Call(calls...), looptest.Say("done"))
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithParallel(2))
	require.NoError(t, err)
	assert.LessOrEqual(t, top, 2)
}

func TestCancellationAtEveryPointLeavesAConsistentSession(t *testing.T) {
	gone := errors.New("the caller left")
	for point := range 5 {
		t.Run(fmt.Sprint("point_", point), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			at := func(n int) {
				if n == point {
					cancel(gone)
				}
			}
			book := func(context.Context, booking) (receipt, error) { at(2); return receipt{Number: "R-1"}, nil }
			turn := 0
			model := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
				at([]int{0, 1, 3}[turn])
				turn++
				return []message.Reply{
					{Calls: []message.Call{call("book_room", `{}`)}}, {Calls: []message.Call{call("book_room", lisbon)}}, {Text: "done"},
				}[turn-1], nil
			})
			if point == 4 {
				cancel(gone)
			}
			s := newSession(t)
			_, err := fixture.Run(ctx, model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)})
			require.ErrorIs(t, err, gone)
			require.ErrorIs(t, err, policy.ReasonCancelled)
			snapshot, err := s.Snapshot()
			require.NoError(t, err)
			_, err = session.Restore(session.Config{ID: "order-42"}, snapshot)
			require.NoError(t, err)
			require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
		})
	}
}

func TestWaitsOfTheRealClockEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a := loop.ToolCall("book_room")
		a.Policy.Backoff = backoff.Constant(time.Hour)
		go func() { <-time.After(time.Minute); cancel() }()
		start := time.Now()
		_, err := loop.Do(ctx, newSession(t), a, script(nights("type")))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestASessionIsForOneRunAtATime(t *testing.T) {
	s := newSession(t)
	model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		_, err := fixture.Run(ctx, looptest.NewModel(), s, loop.Input{Prompt: "Again."}, loop.Config{})
		require.ErrorIs(t, err, session.ErrBusy)
		return message.Reply{Text: "done"}, nil
	})
	_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{})
	require.NoError(t, err)
}

func TestThePlannerFallsBackToAnotherModel(t *testing.T) {
	bad := looptest.Call(call("book_room", `{}`))
	big := looptest.NewModel(looptest.Say("booked by hand"))
	plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		assert.Equal(t, "book_room", q.Action)
		assert.Equal(t, policy.ReasonAttemptsExhausted, q.Reason)
		assert.Equal(t, 3, q.Session.AttemptCount())
		return machine.Plan{Do: machine.Fallback, Model: "big", Prompt: "Answer in words."}, nil
	})
	result, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithPlanner(plan), loop.WithModels(map[string]loop.Model{"big": big}))
	require.NoError(t, err)
	assert.Equal(t, "booked by hand", result.Text)
	assert.Equal(t, "big", big.Requests()[0].Model)
}

func TestAPlannersErrorIsReachable(t *testing.T) {
	broken := errors.New("planner out of order")
	plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
		return machine.Plan{}, broken
	})
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithPlanner(plan))
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
}

func TestThePolicyIsAdjustedFromWhatTheSessionHolds(t *testing.T) {
	one := 1
	adjust := func(view session.State) (policy.Layer, bool) {
		return policy.Layer{MaxAttempts: &one}, len(view.Feedback()) > 0
	}
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithAdjust(adjust))
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, 2, exhausted.Attempt)
	assert.Equal(t, "adjusted", exhausted.Explanation[0].Layer)
}

func TestPoliciesThatMakeNoSenseAreRefusedInMidRun(t *testing.T) {
	none := policy.Layer{MaxAttempts: new(0)}
	const why = `max_attempts: 0 is too few; write 1 or more, or the word unlimited`
	_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say("done")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithAdjust(func(session.State) (policy.Layer, bool) { return none, true }))
	require.EqualError(t, err, "adjusting the policy: "+why)
	plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
		return machine.Plan{Do: machine.Fallback, Policy: &none}, nil
	})
	s := newSession(t)
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(errors.New("out of order"))), s, loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithPlanner(plan))
	require.ErrorContains(t, err, ": planner: the plan's policy: "+why+"; it was asked about: out of order")
	require.NoError(t, session.DriverOf(s).Acquire(), "the session is let go")
}

// What is wrong with options, model and config is told at once, each fault with its field.
func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	set := policy.DefaultSet()
	set.MaxTurns, set.Global.MaxAttempts = 0, new(0)
	cfg := loop.Config{Policy: &set, MaxDepth: -1}
	const (
		option = "WithParallel: 0 tools at once: give 1 or more\n"
		policy = "policy: global.max_attempts: 0 is too few; write 1 or more, or the word unlimited\n" +
			"policy: max_turns: 0 is too few; write 1 or more, or the word unlimited\n"
		rest = policy + "max_depth: -1: give 1 or more, or 0 for 4"
	)
	_, err := loop.New(nil, cfg, loop.WithParallel(0))
	require.EqualError(t, err, option+"loop: the model is nil: set one\n"+rest)
	_, err = loop.NewPool(loop.PoolConfig{Config: cfg, Options: []loop.Option{loop.WithParallel(0)}})
	require.EqualError(t, err, "loop: the pool's config: "+option+"model: is nil: set a model\n"+rest)
	_, err = cfg.Machine(loop.WithParallel(0))
	require.EqualError(t, err, option+rest)
	a := loop.ToolCall("book_room")
	a.Policy.MaxAttempts, a.Transport.MaxTotalDelay = 0, -5
	_, err = a.Machine(loop.WithParallel(0))
	require.EqualError(t, err, option+"policy: global.max_attempts: 0 is too few; write 1 or more, or the word unlimited\n"+
		"policy: transport.max_total_delay: -5ns is negative; write 0s or more, or the word unlimited")
}

func TestUnknownModelsAreToldEach(t *testing.T) {
	set := policy.DefaultSet()
	set.Call.PerAttempt = []policy.Settings{{Model: "big"}, {Model: "small"}}
	_, err := loop.New(looptest.NewModel(), loop.Config{Policy: &set})
	const no, with = "; the run has no models by name", ": WithModels gives the models of a run"
	require.EqualError(t, err, `policy: call.attempts[0].model: there is no model "big"`+no+with+"\n"+
		`policy: call.attempts[1].model: there is no model "small"`+no+with)
}

func TestObserversSeeWhatIsRecordedAndCannotChangeIt(t *testing.T) {
	var log bytes.Buffer
	handler := slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
	metrics := &observe.Metrics{}
	bad := looptest.Call(call("book_room", `{}`))
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, looptest.Call(call("book_room", lisbon)), looptest.Say("done")), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(observe.ObserverFunc(func(context.Context, observe.Notice) { panic("an observer") })), loop.WithObserver(observe.LogTo(slog.New(handler))), loop.WithObserver(metrics))
	require.NoError(t, err)
	counts := metrics.Counts()
	assert.Equal(t, int64(1), counts.CorrectionRetries)
	assert.Equal(t, []int64{1, 1, 0, 0, 0, 0}, counts.Attempts.Counts)
	lines := json.NewDecoder(&log)
	var began, first map[string]any
	require.NoError(t, lines.Decode(&began))
	assert.Equal(t, "run began", began["msg"])
	assert.Equal(t, "order-42", began["correlation_id"])
	require.NoError(t, lines.Decode(&first))
	assert.Equal(t, "order-42", first["correlation_id"])
	assert.Equal(t, "tool_validation", first["error_type"])
	assert.InDelta(t, 1, first["attempt"], 0)
}

func TestAReducerErrorIsToldAtOnceAndShownToTheModel(t *testing.T) {
	full := errors.New("the hotel is full")
	bookings := session.StateSlice[string]("bookings")
	var told []fault.ReducerError
	s, err := session.New(session.Config{
		ID: "order-42", Slices: []session.Declared{bookings},
		Reducers: []session.Reducer{session.On(bookings, session.EventToolResult, "occupancy",
			func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
				return reducer.Change[string]{}, full
			})},
		OnReducerError: func(e fault.ReducerError) { told = append(told, e) },
	})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Say("Sorry."))
	result, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked)})
	require.NoError(t, err)
	require.Len(t, told, 1)
	assert.Equal(t, "occupancy", told[0].Reducer)
	assert.Equal(t, "Sorry.", result.Text)
	shown := model.Requests()[1].Last()
	assert.True(t, shown.IsError)
	assert.Contains(t, shown.Text, "the hotel is full")
	assert.Equal(t, 1, len(s.State().ReducerErrors()))
}

func TestIdempotencyKeysAndProgressReachATool(t *testing.T) {
	var keys []string
	book := func(ctx context.Context, _ booking) (receipt, error) {
		keys = append(keys, tool.IdempotencyKey(ctx))
		if len(keys) == 1 {
			return receipt{}, refused{Class: fault.Timeout}
		}
		return receipt{Number: "R-1"}, tool.Progress(ctx, map[string]int{"percent": 50})
	}
	var progress []string
	watch := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Progressed {
			progress = append(progress, string(n.Progress))
		}
	})
	model := looptest.NewModel(looptest.Call(call("book_room", lisbon)), looptest.Call(call("book_room", lisbon)), looptest.Say("done"))
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, book)}, loop.WithClock(looptest.NewClock()), loop.WithObserver(watch))
	require.NoError(t, err)
	require.Len(t, keys, 3)
	assert.NotEmpty(t, keys[0])
	assert.Equal(t, keys[0], keys[1], "a transport retry keeps the key")
	assert.NotEqual(t, keys[1], keys[2], "another action has another")
	assert.Equal(t, []string{`{"percent":50}`, `{"percent":50}`}, progress)
}
