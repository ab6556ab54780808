package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// failingStory is a run that ends without success.
type failingStory struct {
	turns []looptest.Turn
	// set changes the policy, tool runs the calls, refuses are the results that the reducer refuses,
	// counted from 1.
	set     func(*policy.Set)
	tool    func(context.Context) (string, error)
	refuses []int
	answer  bool
	consult []fault.Class
	planner func(context.Context, planner.Question) (machine.Plan, error)
	// cancel ends the context in the first model call, with that cause.
	cancel error
}

var (
	errReset    = errors.New("connection reset by peer")
	errBusy     = &fault.ProviderError{Class: fault.Overloaded, Provider: "example", StatusCode: 529, Message: "busy"}
	errNoKey    = &fault.ProviderError{Class: fault.Auth, Provider: "example", StatusCode: 401, Message: "bad key"}
	errNoBudget = errors.New("over budget")
)

// repeated repeats a turn.
func repeated(n int, t looptest.Turn) (all []looptest.Turn) {
	for range n {
		all = append(all, t)
	}
	return all
}

func withoutPlan(context.Context, planner.Question) (machine.Plan, error) {
	return machine.Plan{}, errors.New("no plan")
}

func aborting(context.Context, planner.Question) (machine.Plan, error) {
	return machine.Plan{Do: machine.Abort}, nil
}

func failingStories() map[string]failingStory {
	good := looptest.Call(message.Call{ID: "c", Name: "echo", Arguments: `{"text":"a"}`})
	bad := looptest.Call(message.Call{ID: "c", Name: "echo", Arguments: `{"text":1}`})
	unknown := looptest.Call(message.Call{ID: "u", Name: "fly", Arguments: `{}`})
	broken := func(context.Context) (string, error) { return "", errors.New("broken") }
	stops := func(p *policy.Set) { p.Global.OnReducerError = policy.ReducerStopsRun }
	asks := func(p *policy.Set) { p.Global.OnReducerError = policy.ReducerEndsAction }
	turns := func(n int) func(*policy.Set) { return func(p *policy.Set) { p.MaxTurns = n } }
	return map[string]failingStory{
		"answer":           {turns: repeated(4, looptest.Say("{}")), answer: true},
		"no_output":        {turns: repeated(4, looptest.Say(""))},
		"cut_off":          {turns: repeated(3, looptest.Turn{Reply: message.Reply{Text: "x", Finish: message.Length}})},
		"plain":            {turns: repeated(4, looptest.Fail(errReset))},
		"empty":            {turns: repeated(4, looptest.Fail(errors.New("")))},
		"provider":         {turns: repeated(1, looptest.Fail(errNoKey))},
		"provider_wrapped": {turns: repeated(1, looptest.Fail(fmt.Errorf("asking: %w", errNoKey)))},
		"several_lines":    {turns: repeated(4, looptest.Fail(errors.Join(errReset, errReset)))},
		"class":            {turns: repeated(1, looptest.Fail(&fault.ClassError{Class: "mine", Cause: errReset}))},
		"model_cancelled":  {turns: repeated(1, looptest.Fail(fmt.Errorf("asking: %w", context.Canceled)))},
		"bad_arguments":    {turns: repeated(4, bad)},
		"unknown_tool":     {turns: repeated(6, unknown)},
		"run_budget":       {turns: repeated(6, bad), set: func(p *policy.Set) { p.Budgets.Run = 1 }},
		"tool_budget":      {turns: repeated(6, bad), set: func(p *policy.Set) { p.Budgets.Tool = 1 }},
		"unknown_budget":   {turns: repeated(6, unknown), set: func(p *policy.Set) { p.Budgets.UnknownTools = 1 }},
		"tool_used_up":     {turns: repeated(9, good), tool: broken, set: func(p *policy.Set) { p.Budgets.Tool = 1 }},
		"tool_asks_again": {turns: repeated(6, good), tool: func(context.Context) (string, error) {
			return "", tool.AskAgain(fault.Issue{Pointer: "/text", Expected: "a longer text"})
		}},
		"deadline":            {turns: repeated(4, looptest.Fail(errBusy)), set: func(p *policy.Set) { p.Transport.Backoff = new(backoff.Constant(2 * time.Hour)) }},
		"turn_limit":          {turns: repeated(5, good), set: turns(3)},
		"turns_after_fault":   {turns: append(repeated(1, looptest.Fail(errBusy)), repeated(5, good)...), set: turns(3)},
		"turns_after_tool":    {turns: repeated(6, good), tool: broken, set: turns(3)},
		"turns_after_reducer": {turns: repeated(6, good), refuses: []int{1}, set: func(p *policy.Set) { turns(4)(p); asks(p) }},
		"turns_at_reducer":    {turns: repeated(6, good), refuses: []int{2}, set: func(p *policy.Set) { turns(2)(p); asks(p) }},
		"reducer_stops":       {turns: repeated(2, good), refuses: []int{1}, set: stops},
		"reducer_asks":        {turns: repeated(6, good), refuses: []int{1, 2, 3, 4, 5, 6}, set: asks},
		"reducer_then_model":  {turns: append(repeated(1, good), looptest.Fail(errNoKey)), refuses: []int{1}, set: asks},
		"planner_aborts":      {turns: repeated(1, looptest.Fail(errNoKey)), planner: aborting},
		"planner_arguments":   {turns: repeated(4, bad), planner: aborting},
		"planner_reducer":     {turns: repeated(2, good), refuses: []int{1}, set: stops, planner: aborting},
		"planner_fails":       {turns: repeated(1, looptest.Fail(errNoKey)), planner: withoutPlan},
		"planner_fails_calls": {turns: repeated(4, bad), planner: withoutPlan},
		"planner_fails_answer": {
			turns: repeated(4, looptest.Say("{}")), answer: true, planner: withoutPlan,
		},
		"planner_fails_reducer": {turns: repeated(2, good), refuses: []int{1}, set: stops, planner: withoutPlan},
		"planner_consulted":     {turns: repeated(1, looptest.Fail(errBusy)), consult: []fault.Class{fault.Overloaded}, planner: withoutPlan},
		"planner_fails_typed": {turns: repeated(1, looptest.Fail(errNoKey)), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{}, errBusy
		}},
		"cancelled":          {cancel: context.Canceled},
		"cancelled_by_cause": {cancel: errNoBudget},
		"deadline_exceeded":  {cancel: context.DeadlineExceeded},
	}
}

// config is the config of the run, with its options but the journal.
func (c failingStory) config(t *testing.T) (cfg loop.Config, opts []loop.Option) {
	cfg = loop.Config{Seed: "s", Consult: c.consult, Policy: new(policy.DefaultSet())}
	if c.set != nil {
		c.set(cfg.Policy)
	}
	if c.answer {
		typed, err := schema.For[receipt]()
		require.NoError(t, err)
		cfg.Output = typed.Schema()
	}
	var err error
	cfg.Tools, err = tool.NewSet(tool.New("echo", "Says it again.", func(ctx context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		if c.tool != nil {
			return c.tool(ctx)
		}
		return in.Text, nil
	}))
	require.NoError(t, err)
	if c.planner != nil {
		opts = append(opts, loop.WithPlanner(planner.PlannerFunc(c.planner)))
	}
	return cfg, opts
}

func (c failingStory) session(t *testing.T) *session.Session {
	said, heard := session.StateSlice[string]("said"), 0
	s, err := session.New(session.Config{ID: "order-42", Slices: []session.Declared{said}, Reducers: []session.Reducer{
		session.On(said, session.EventToolResult, "keep", func(reducer.View[string], json.RawMessage) (reducer.Change[string], error) {
			if heard++; slices.Contains(c.refuses, heard) {
				return reducer.Change[string]{}, fmt.Errorf("%w at %d", errNoBudget, heard)
			}
			return reducer.Replace("a"), nil
		}),
	}})
	require.NoError(t, err)
	return s
}

// run makes the run and records it in j.
func (c failingStory) run(t *testing.T, j *journal.Journal) (err error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var model loop.Model = looptest.NewModel(c.turns...)
	if c.cancel != nil {
		model = loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			cancel(c.cancel)
			return message.Reply{}, c.cancel
		})
	}
	cfg, opts := c.config(t)
	_, err = fixture.Run(ctx, model, fixture.In(c.session(t), j), loop.Input{Prompt: "Hello.", Deadline: time.Now().Add(time.Hour)}, cfg, opts...)
	return err
}

// A resumed run ends with the same words as the recorded one, whoever opens the journal.
func TestTheErrorOfAnEndedRunIsGivenAgainWithItsCause(t *testing.T) {
	for name, c := range failingStories() {
		t.Run(name, func(t *testing.T) {
			dir := journal.Dir(t.TempDir())
			opened := func() *journal.Journal {
				j, err := journal.Open(t.Context(), dir, "order-42", journal.Settings{Sync: journal.SyncNever})
				require.NoError(t, err)
				return j
			}
			var then error
			synctest.Test(t, func(t *testing.T) {
				j := opened()
				then = c.run(t, j)
				require.NoError(t, j.Close())
			})
			require.Error(t, then)
			cfg, opts := c.config(t)
			j := opened()
			defer j.Close()

			_, resumed := fixture.Resume(t.Context(), looptest.NewModel(), fixture.In(c.session(t), j), cfg, opts...)
			c.requireSameCause(t, then, resumed)

			r, _, err := fixture.ResumeRunner(fixture.In(c.session(t), j), cfg)
			require.NoError(t, err)
			_, stepped := loop.ResultOf(r.End(), nil)
			r.Close()
			c.requireSameCause(t, then, stepped)

			var pooled error
			p, err := loop.NewPool(loop.PoolConfig{Model: looptest.NewModel(), Config: cfg, Options: opts, Done: func(_ *session.Session, _ loop.Result, err error) {
				pooled = err
			}})
			require.NoError(t, err)
			_, err = p.Add(fixture.In(c.session(t), j), loop.Input{Prompt: "Hello."})
			require.NoError(t, err)
			require.NoError(t, p.Run(t.Context(), 1))
			c.requireSameCause(t, then, pooled)
		})
	}
}

// requireSameCause compares the error of a run with that from its journal.
func (c failingStory) requireSameCause(t *testing.T, then, now error) {
	t.Helper()
	requireSameEnd(t, then, now)
	for _, target := range []error{context.Canceled, context.DeadlineExceeded} {
		assert.Equal(t, errors.Is(then, target), errors.Is(now, target), "%v", target)
	}
	var answer, answerNow *fault.StructuredOutputError
	assert.Equal(t, errors.As(then, &answer), errors.As(now, &answerNow))
	assert.Equal(t, answer, answerNow)
	var arguments, argumentsNow *fault.ToolValidationError
	assert.Equal(t, errors.As(then, &arguments), errors.As(now, &argumentsNow))
	assert.Equal(t, arguments, argumentsNow)
	var reducer, reducerNow *fault.ReducerError
	if assert.Equal(t, errors.As(then, &reducer), errors.As(now, &reducerNow)) && reducer != nil {
		assert.Equal(t, reducer.Error(), reducerNow.Error())
	}
	var provider, providerNow *fault.ProviderError
	if errors.As(then, &provider) && assert.ErrorAs(t, now, &providerNow) {
		assert.Equal(t, provider.Class, providerNow.Class)
		assert.Equal(t, provider.Message, providerNow.Message)
	}
	var ended, again *loop.RetryExhaustedError
	require.ErrorAs(t, then, &ended)
	require.ErrorAs(t, now, &again)
	if assert.Equal(t, ended.Cause == nil, again.Cause == nil) && ended.Cause != nil && ended.Failure.Tool == "" { // a tool's is its call's
		assert.Equal(t, fault.FailureOf(ended.Cause), fault.FailureOf(again.Cause))
	}
}
