package dbos

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// atOnce makes attempts of the transport plane without a wait.
func atOnce() *policy.Set {
	set := policy.DefaultSet()
	b := backoff.Constant(0)
	set.Transport.Backoff = &b
	return &set
}

// A choice is held against the tools, and asked of the model as in process.
func TestACallIsForcedAsInProcess(t *testing.T) {
	var ran atomic.Int32
	tools, err := tool.NewSet(tool.New("echo", "Says it again.", func(context.Context, struct{}) (string, error) {
		ran.Add(1)
		return "said", nil
	}))
	require.NoError(t, err)
	call := looptest.Call(message.Call{ID: "c1", Name: "echo", Arguments: "{}"})
	n := 0
	for choice, want := range map[message.ToolChoice][]message.ToolChoice{
		"echo":          {"echo", ""},
		message.AnyTool: {message.AnyTool, ""},
		message.NoTool:  {message.NoTool, message.NoTool},
	} {
		model := looptest.NewModel(call, looptest.Say("Done."))
		c, r := launched(t, fmt.Sprint("choice", n), Agent{Model: model, Config: loop.Config{Tools: tools, ToolChoice: choice}})
		run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
		require.NoError(t, err)
		_, err = run.Result()
		require.NoError(t, err)
		var got []message.ToolChoice
		for _, r := range model.Requests() {
			got = append(got, r.ToolChoice)
		}
		assert.Equal(t, want, got, choice)
		assert.Equal(t, choice != message.NoTool, ran.Swap(0) == 1, choice)
		n++
	}
	_, err = Register(contextOf(t, "choiceless"), Agent{Model: looptest.NewModel(), Config: loop.Config{Tools: tools, ToolChoice: "book"}})
	assert.ErrorContains(t, err, `there is no tool "book"`)
}

// A deadline that a model or a tool gives a context of its own is a timeout of the call, and not the end of
// the run.
func TestADeadlineOfAModelsOwnIsATimeout(t *testing.T) {
	late := fmt.Errorf("post: %w", context.DeadlineExceeded)
	var searched atomic.Int32
	tools, err := tool.NewSet(tool.New("search", "Searches.", func(context.Context, struct{}) (string, error) {
		searched.Add(1)
		return "", late
	}, tool.ReadOnly()))
	require.NoError(t, err)
	call := looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: "{}"})
	model := looptest.NewModel(looptest.Fail(late), call, looptest.Say("Nothing."))
	c, r := launched(t, "late", Agent{Model: model, Config: loop.Config{Tools: tools, Policy: atOnce()}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Search."})
	require.NoError(t, err)
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Nothing.", result.Text)
	assert.Equal(t, fault.Timeout, result.Attempts[0].Class)
	assert.EqualValues(t, 4, searched.Load())
	require.Len(t, result.ToolFailures, 1)
	assert.Equal(t, fault.Timeout, result.ToolFailures[0].Class)
}

// What decides is in the record: errors, warnings, waits and what a planner is asked are those of a run in
// process.
func TestErrorsReadAsInProcess(t *testing.T) {
	type in struct {
		Day int `json:"day,omitempty"`
	}
	tools, err := tool.NewSet(
		tool.New("book", "Books.", func(_ context.Context, v in) (string, error) {
			if v.Day != 0 {
				return "", tool.AskAgain(fault.Issue{Pointer: "/day", Expected: "no day"})
			}
			return "Booked.", nil
		}),
		tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "", errors.New("boom") }),
	)
	require.NoError(t, err)
	noKey := &fault.ProviderError{Class: fault.Auth, Message: "no key"}
	limited := &ratelimit.LimitedError{Err: &fault.ProviderError{Class: fault.RateLimit, Provider: "example", RetryAfter: time.Millisecond},
		State: ratelimit.Parse(map[string][]string{"X-Ratelimit-Remaining-Requests-Hour": {"5"}, "X-Ratelimit-Reset-Requests-Hour": {"1800"}}, looptest.Epoch)}
	both := looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{"day":7}`}, message.Call{ID: "c2", Name: "pay", Arguments: "{}"})
	once, stops := policy.DefaultSet(), policy.DefaultSet()
	once.Global.OptOut = new(true)
	stops.Global.OnReducerError = policy.ReducerStopsRun
	said := session.StateSlice[string]("said")
	refuses := []session.Reducer{session.On(said, session.EventToolResult, "limit", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
		return reducer.Change[string]{}, errors.New("over budget")
	})}
	plans := func(p machine.Plan, err error) func(*[]string) planner.Planner {
		return func(asked *[]string) planner.Planner {
			return planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
				*asked = append(*asked, fmt.Sprint(q.Action, " ", q.Failure.Class, ": ", q.Cause))
				return p, err
			})
		}
	}
	n := 0
	for name, c := range map[string]struct {
		script   []looptest.Turn
		policy   *policy.Set
		planner  func(*[]string) planner.Planner
		reducers []session.Reducer
	}{
		"a model's error":        {script: []looptest.Turn{looptest.Fail(noKey)}},
		"a planner that aborts":  {script: []looptest.Turn{looptest.Fail(noKey)}, planner: plans(machine.Plan{Do: machine.Abort}, nil)},
		"a planner's error":      {script: []looptest.Turn{looptest.Fail(noKey)}, planner: plans(machine.Plan{}, errors.New("no idea"))},
		"an invalid plan":        {script: []looptest.Turn{looptest.Fail(noKey)}, planner: plans(machine.Plan{Do: machine.Fallback, Model: "nobody"}, nil)},
		"of two calls":           {script: []looptest.Turn{both}, policy: &once},
		"of two calls, asked":    {script: []looptest.Turn{both}, policy: &once, planner: plans(machine.Plan{Do: machine.Abort}, nil)},
		"a reducer":              {script: []looptest.Turn{looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{}`})}, policy: &stops, reducers: refuses},
		"a rate limit":           {script: []looptest.Turn{looptest.Fail(limited), looptest.Say("Done.")}, policy: atOnce()},
		"a reducer, asked":       {script: []looptest.Turn{looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{}`})}, policy: &stops, reducers: refuses, planner: plans(machine.Plan{Do: machine.Abort}, nil)},
		"wrong arguments, asked": {script: []looptest.Turn{looptest.Call(message.Call{ID: "c1", Name: "book", Arguments: `{"day":"x"}`})}, policy: &once, planner: plans(machine.Plan{}, errors.New("no idea"))},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := loop.Config{Tools: tools, Policy: c.policy, Seed: "s"}
			sc := session.Config{Slices: []session.Declared{said}, Reducers: c.reducers}
			var wantAsked, gotAsked []string
			opts := []loop.Option{loop.WithClock(looptest.NewClock())}
			a := Agent{Model: looptest.NewModel(c.script...), Config: cfg, Session: sc}
			if c.planner != nil {
				opts = append(opts, loop.WithPlanner(c.planner(&wantAsked)))
				a.Planner = c.planner(&gotAsked)
			}
			l, err := loop.New(looptest.NewModel(c.script...), cfg, opts...)
			require.NoError(t, err)
			sc.ID = "order-42"
			s, err := session.New(sc)
			require.NoError(t, err)
			want, wantErr := l.Run(t.Context(), s, loop.Input{Prompt: "Go."})

			n++
			ctx, r := launched(t, fmt.Sprint("alike", n), a)
			run, err := r.Start(ctx, "order-42", loop.Input{Prompt: "Go."})
			require.NoError(t, err)
			got, gotErr := run.Result()
			assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr))
			assert.Equal(t, wantAsked, gotAsked)
			assert.Equal(t, want.Warnings, got.Warnings)
			assert.Equal(t, want.Waited, got.Waited)
			require.Len(t, got.Attempts, len(want.Attempts))
			for n, attempt := range want.Attempts {
				assert.Equal(t, attempt.Reason, got.Attempts[n].Reason)
				assert.Equal(t, attempt.Class, got.Attempts[n].Class)
			}
		})
	}
}

// A sleep may end a little before its time, or the clock may be set back in it. The wait is over all the
// same.
func TestASleepThatEndsEarlyIsOver(t *testing.T) {
	limited := &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Second}
	a := Agent{
		Model: looptest.NewModel(looptest.Fail(limited), looptest.Say("Done.")),
		hooks: hooks{
			now: func() time.Time { return looptest.Epoch },
			recv: func(ctx sdk.Context, topic string, _ time.Duration) (string, error) {
				return sdk.Recv[string](ctx, topic, 0)
			},
		},
	}
	ctx, r := launched(t, "early", a)
	run, err := r.Start(ctx, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	got, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, "Done.", got.Text)
	assert.GreaterOrEqual(t, got.Waited, time.Second)
}
