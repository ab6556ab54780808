package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// failing is a run that ends with an error. Its parts are made again for each execution.
type failing struct {
	script  []looptest.Turn
	model   func() loop.Model
	tool    func(ctx context.Context, text string) (string, error)
	session session.Config
	planner func(context.Context, planner.Question) (machine.Plan, error)
	models  map[string]loop.Model
	prompt  loop.PromptFunc
	adjust  func(session.State) (policy.Layer, bool)
	output  string
	consult []fault.Class
	set     func(*policy.Set)
	// differs is set if the text names the remedy, which differs there.
	differs bool
	// contained is set if a panic reaches the user in process, but is an error there.
	contained bool
}

func (c failing) config(t *testing.T) loop.Config {
	cfg := loop.Config{Seed: "s", Consult: c.consult}
	if c.set != nil {
		set := policy.DefaultSet()
		c.set(&set)
		cfg.Policy = &set
	}
	if c.output == "type" {
		cfg.Output = schemaOf[booking](t)
	}
	return cfg
}

func (c failing) worker(t *testing.T) Worker {
	w := Worker{Models: c.models, Prompt: c.prompt, Adjust: c.adjust, Session: c.session}
	if w.Model = looptest.NewModel(c.script...); c.model != nil {
		w.Model = c.model()
	}
	if c.planner != nil {
		w.Planner = planner.PlannerFunc(c.planner)
	}
	if c.output == "type" {
		w.Outputs = append(w.Outputs, schemaOf[booking](t))
	}
	do := c.tool
	if do == nil {
		do = say
	}
	w.Tools = echo(t, do)
	return w
}

// inProcess executes loop.Run.
func (c failing) inProcess(t *testing.T) (err error) {
	w, cfg := c.worker(t), c.config(t)
	cfg.Tools = w.Tools
	own := w.Session
	own.ID = "order-42"
	s, err := session.New(own)
	require.NoError(t, err)
	opts := []loop.Option{
		loop.WithClock(looptest.NewClock()), loop.WithPlanner(w.Planner), loop.WithPrompt(w.Prompt), loop.WithAdjust(w.Adjust),
		loop.WithModels(w.Models),
	}
	defer func() {
		if p := recover(); p != nil {
			err = &fault.PanicError{Value: p}
			of, _ := p.(error)
			if own, ok := errors.AsType[*fault.PanicError](of); ok { // that of a model
				err = own
			}
		}
	}()
	_, err = loopRun(t.Context(), w.Model, s, "Hello.", cfg, opts...)
	return err
}

func fails(errs ...error) (all []looptest.Turn) {
	for _, err := range errs {
		all = append(all, looptest.Fail(err))
	}
	return all
}

// refusing is a session whose reducer refuses the results with those numbers, counted from 1.
func refusesSome(which ...int) session.Config {
	n := 0
	return settling(func() (reducer.Change[string], error) {
		n++
		for _, w := range which {
			if n == w {
				return reducer.Change[string]{}, fmt.Errorf("over budget at %d", n)
			}
		}
		return reducer.Replace("x"), nil
	})
}

func refusesAnswers() session.Config {
	cart := session.StateSlice[string]("cart")
	return session.Config{Slices: []session.Declared{cart}, Reducers: []session.Reducer{
		session.On(cart, session.EventStructuredOutput, "check", func(reducer.View[string], json.RawMessage) (reducer.Change[string], error) {
			return reducer.Change[string]{}, errors.New("no such hotel")
		}),
	}}
}

func abort(context.Context, planner.Question) (machine.Plan, error) {
	return machine.Plan{Do: machine.Abort}, nil
}

func noPlan(context.Context, planner.Question) (machine.Plan, error) {
	return machine.Plan{}, errors.New("no plan")
}

func good(n int) (all []looptest.Turn) {
	for i := range n {
		all = append(all, call(fmt.Sprint("c", i), fmt.Sprintf(`{"text":"%d"}`, i)))
	}
	return all
}

func bad(n int) (all []looptest.Turn) {
	for i := range n {
		all = append(all, call(fmt.Sprint("c", i), fmt.Sprintf(`{"text":%d}`, i)))
	}
	return all
}

var (
	errAuth       = &fault.ProviderError{Class: fault.Auth, Provider: "example", StatusCode: 401, Message: "bad key"}
	errOverloaded = &fault.ProviderError{Class: fault.Overloaded, Provider: "example", StatusCode: 529, Message: "busy"}
)

func stopOnReducerError(s *policy.Set) { s.Global.OnReducerError = policy.ReducerStopsRun }

func askOnReducerError(s *policy.Set) { s.Global.OnReducerError = policy.ReducerEndsAction }

func turns(n int) func(*policy.Set) {
	return func(s *policy.Set) { s.MaxTurns = n }
}

func failingRuns() map[string]failing {
	unknown := looptest.Call(message.Call{ID: "u", Name: "fly", Arguments: "{}"})
	return map[string]failing{
		"provider":           {script: fails(errAuth)},
		"provider_wrapped":   {script: fails(fmt.Errorf("asking: %w", errAuth))},
		"provider_empty":     {script: fails(&fault.ProviderError{Class: fault.Auth})},
		"plain":              {script: fails(errors.New("boom"), errors.New("boom"), errors.New("boom"), errors.New("boom"))},
		"joined":             {script: fails(errors.Join(errors.New("first"), errAuth))},
		"nothing_said":       {script: fails(errors.New(""), errors.New(""), errors.New(""), errors.New(""))},
		"overloaded":         {script: fails(errOverloaded, errOverloaded, errOverloaded, errOverloaded, errOverloaded)},
		"deadline_of_call":   {script: fails(context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded)},
		"cancelled_by_model": {script: fails(fmt.Errorf("asking: %w", context.Canceled))},
		"typed_of_ours": {script: fails(
			&fault.StructuredOutputError{Issues: []fault.Issue{{Pointer: "/a", Rule: "required", Expected: "a text"}}},
			&fault.StructuredOutputError{Issues: []fault.Issue{{Pointer: "/a", Rule: "required", Expected: "a text"}}},
			&fault.StructuredOutputError{Issues: []fault.Issue{{Pointer: "/a", Rule: "required", Expected: "a text"}}},
		)},
		"reducer_error_of_model": {script: fails(&fault.ReducerError{Reducer: "r", Message: "m"}, &fault.ReducerError{Reducer: "r", Message: "m"}, &fault.ReducerError{Reducer: "r", Message: "m"})},
		"retry_after_too_long":   {script: fails(&fault.ProviderError{Class: fault.RateLimit, RetryAfter: 100 * time.Hour})},
		"bad_arguments":          {script: bad(4)},
		"unknown_tool":           {script: []looptest.Turn{unknown, unknown, unknown, unknown, unknown, unknown}},
		"cut_off":                {script: []looptest.Turn{{Reply: message.Reply{Text: "x", Finish: message.Length}}, {Reply: message.Reply{Text: "x", Finish: message.Length}}, {Reply: message.Reply{Text: "x", Finish: message.Length}}}},
		"refused":                {script: []looptest.Turn{{Reply: message.Reply{Text: "x", Finish: message.ContentFilter}}, {Reply: message.Reply{Text: "x", Finish: message.ContentFilter}}, {Reply: message.Reply{Text: "x", Finish: message.ContentFilter}}}},
		"no_output":              {script: []looptest.Turn{looptest.Say(""), looptest.Say(""), looptest.Say(""), looptest.Say("")}},
		"answer":                 {script: []looptest.Turn{looptest.Say("{}"), looptest.Say("{}"), looptest.Say("{}"), looptest.Say("{}")}, output: "type"},
		"turn_limit":             {script: good(5), set: turns(3)},
		"context_full":           {script: fails(&fault.ProviderError{Class: fault.ContextLength, Provider: "example"})},
		"token_budget": {script: good(5), set: func(s *policy.Set) {
			s.Spending.Run.TotalTokens = new(int64(1))
		}},
		"turn_limit_after_fault": {script: append(fails(errOverloaded), good(5)...), set: turns(3)},
		"turn_limit_after_old_reducer_error": {
			script: good(6), set: func(s *policy.Set) { turns(4)(s); askOnReducerError(s) }, session: refusesSome(1),
		},
		"turn_limit_at_reducer_error": {
			script: good(6), set: func(s *policy.Set) { turns(2)(s); askOnReducerError(s) }, session: refusesSome(2),
		},
		"turn_limit_after_tool_error": {
			script: good(6), set: turns(3), tool: func(_ context.Context, text string) (string, error) {
				if text == "0" {
					return "", errors.New("broken")
				}
				return text, nil
			},
		},
		"turn_limit_after_bad_arguments": {script: append(bad(1), good(5)...), set: turns(3)},
		"reducer_stops":                  {script: good(2), set: stopOnReducerError, session: refusesSome(1)},
		"reducer_asks":                   {script: good(6), set: askOnReducerError, session: refusesSome(1, 2, 3, 4, 5, 6)},
		"reducer_then_provider":          {script: append(good(2), fails(errAuth)...), set: askOnReducerError, session: refusesSome(1)},
		"reducer_then_arguments":         {script: append(good(1), bad(4)...), set: askOnReducerError, session: refusesSome(1)},
		"reducer_of_answer": {
			script: []looptest.Turn{looptest.Say(`{"email":"a@b.example","from":1,"to":2,"price":1,"nights":1}`)},
			set:    stopOnReducerError, session: refusesAnswers(), output: "type",
		},
		"reducer_of_the_end": {script: good(2), set: stopOnReducerError, session: refusesTheEnd()},
		"reducer_panics":     {script: good(2), set: stopOnReducerError, session: settling(func() (reducer.Change[string], error) { panic("oh") })},
		"tool":               {script: good(6), set: turns(6), tool: func(context.Context, string) (string, error) { return "", errors.New("broken") }},
		"tool_provider":      {script: good(6), set: turns(6), tool: func(context.Context, string) (string, error) { return "", errAuth }},
		"tool_transport":     {script: good(2), tool: func(context.Context, string) (string, error) { return "", errOverloaded }},
		"tool_panics":        {script: good(6), set: turns(6), tool: func(context.Context, string) (string, error) { panic("oh") }},
		"tool_fails":         {script: good(6), set: turns(3), tool: func(context.Context, string) (string, error) { return "", tool.Fail("no money") }},
		"tool_asks_again": {script: good(6), tool: func(context.Context, string) (string, error) {
			return "", tool.AskAgain(fault.Issue{Pointer: "/text", Rule: "length", Expected: "a longer text"})
		}},
		"model_panics": {contained: true, model: func() loop.Model {
			return loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("oh") })
		}},
		"planner":                 {script: fails(errAuth), planner: noPlan},
		"planner_after_arguments": {script: bad(4), planner: noPlan},
		"planner_after_answer":    {script: []looptest.Turn{looptest.Say("{}"), looptest.Say("{}"), looptest.Say("{}"), looptest.Say("{}")}, output: "type", planner: noPlan},
		"planner_at_turn_limit":   {script: good(5), set: turns(3), planner: noPlan},
		"planner_after_reducer":   {script: good(2), set: stopOnReducerError, session: refusesSome(1), planner: noPlan},
		"planner_consulted":       {script: fails(errOverloaded), planner: noPlan, consult: []fault.Class{fault.Overloaded}},
		"planner_typed": {script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{}, errOverloaded
		}},
		"planner_wraps": {script: fails(errAuth), planner: func(_ context.Context, q planner.Question) (machine.Plan, error) {
			return machine.Plan{}, fmt.Errorf("no plan for %w", q.Cause)
		}},
		"planner_panics":         {contained: true, script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) { panic("oh") }},
		"planner_aborts":         {script: fails(errAuth), planner: abort},
		"planner_aborts_answer":  {script: bad(4), planner: abort},
		"planner_aborts_reducer": {script: good(2), set: stopOnReducerError, session: refusesSome(1), planner: abort},
		"fallback_then_error": {script: fails(errAuth), models: map[string]loop.Model{"big": loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
			return message.Reply{}, errors.Join(errors.New("big"), errAuth)
		})}, planner: func(_ context.Context, q planner.Question) (machine.Plan, error) {
			if q.Model == "big" {
				return machine.Plan{Do: machine.Abort}, nil
			}
			return machine.Plan{Do: machine.Fallback, Model: "big"}, nil
		}},
		"fallback_then_turn_limit": {script: append(fails(errAuth), good(5)...), set: turns(3), planner: func(_ context.Context, q planner.Question) (machine.Plan, error) {
			if q.Failure.Class != fault.Auth {
				return machine.Plan{Do: machine.Abort}, nil
			}
			return machine.Plan{Do: machine.Fallback, Prompt: "Try."}, nil
		}},
		"fallback_model_missing": {script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Model: "big"}, nil
		}},
		"senseless_plan": {script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{MaxAttempts: new(0)}}, nil
		}},
		"no_such_plan": {script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: "dance"}, nil
		}},
		"early_plan": {script: fails(errOverloaded), consult: []fault.Class{fault.Overloaded}, planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Delay: -1}, nil
		}},
		"plan_of_no_model": {script: fails(errAuth), planner: func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{PerAttempt: []policy.Settings{{Model: "big"}}}}, nil
		}},
		"prompt": {prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return "", nil, errors.New("no words")
		}},
		"prompt_panics": {contained: true, prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			panic("oh")
		}},
		"adjust": {script: good(2), adjust: func(session.State) (policy.Layer, bool) {
			return policy.Layer{MaxAttempts: new(0)}, true
		}},
		"adjust_panics": {contained: true, script: good(2), adjust: func(session.State) (policy.Layer, bool) { panic("oh") }},
		"run_budget":    {script: bad(6), set: func(s *policy.Set) { s.Budgets.Run = 1 }},
		"tool_budget":   {script: bad(6), set: func(s *policy.Set) { s.Budgets.Tool = 1 }},
		"opt_out":       {script: bad(2), set: func(s *policy.Set) { s.Global.OptOut = new(true) }},
		"no_progress":   {script: append(bad(1), bad(1)...), set: func(s *policy.Set) { s.Global.NoProgress = new(1) }},
		"a_loop":        {script: slices.Repeat(good(1), 10)},
		"delay_budget":  {script: fails(errOverloaded), set: func(s *policy.Set) { s.Transport.MaxTotalDelay = new(time.Duration(0)) }},
		"unknown_tools": {script: []looptest.Turn{unknown, unknown}, set: func(s *policy.Set) { s.Budgets.UnknownTools = 0 }},
	}
}

// A failed run has the same error text on Temporal as in process, and the same reason.
func TestErrorsReadAsInProcess(t *testing.T) {
	seen := map[policy.Reason]bool{}
	for name, c := range failingRuns() {
		t.Run(name, func(t *testing.T) {
			want := c.inProcess(t)
			require.Error(t, want)
			c = failingRuns()[name]
			_, got := newBench(t, c.worker(t), c.config(t)).run()
			require.Error(t, got)
			if c.contained {
				assert.ErrorContains(t, got, want.Error())
				return
			}
			if !c.differs {
				assert.Equal(t, want.Error(), got.Error())
			}
			var w, g *loop.RetryExhaustedError
			require.Equal(t, errors.As(want, &w), errors.As(got, &g))
			if w != nil {
				seen[w.Reason] = true
				assert.Equal(t, w.Reason, g.Reason)
				assert.Equal(t, w.Failure, g.Failure)
				assert.Equal(t, w.Explanation, g.Explanation)
				assert.Equal(t, w.InDoubt, g.InDoubt)
				assert.Equal(t, w.Cause == nil, g.Cause == nil)
				if w.Cause != nil && g.Cause != nil && !c.differs {
					assert.Equal(t, w.Cause.Error(), g.Cause.Error())
				}
				assert.Len(t, g.Attempts, len(w.Attempts))
			}
		})
	}
	// Calls end with the first four, not runs, and nothing ends with nudged and polling. Three have tests or
	// stories of their own, a run that broke has another error, and no workflow has a limiter.
	others := []policy.Reason{policy.ReasonAccepted, policy.ReasonFailedForGood, policy.ReasonNotRepeatable, policy.ReasonOutcomeUnknown, policy.ReasonCancelled, policy.ReasonDeadline, policy.ReasonBroken,
		policy.ReasonCostBudget, policy.ReasonNudged, policy.ReasonPolling, policy.ReasonLimited}
	for _, r := range policy.Reasons() {
		assert.True(t, r.Retries() || seen[r] || slices.Contains(others, r), "no run here ends with %s", r)
	}
}

// A run says the same of itself as in process: where the values of its policy were written, its warnings, and
// what failed and what is in doubt.
func TestARunTellsOfItselfAsInProcess(t *testing.T) {
	set, err := file.Read("policy.yaml", []byte("tools: {echo: {max_attempts: 2}, send_mail: {max_attempts: 2}}\ntransport: {max_attempts: 2}\n"))
	require.NoError(t, err)
	raised, err := file.Read("raised.yaml", []byte("global:\n  bases: {rate_limit: 7s}\n"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		script []looptest.Turn
		plane  fault.Plane
		source string
	}{
		"of a tool":         {bad(3), fault.Correction, "policy.yaml:1:16"},
		"of models":         {append(good(1), fails(errOverloaded, errOverloaded)...), fault.Transport, "policy.yaml:2:13"},
		"of calls that end": {append(good(1), looptest.Say("Done.")), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := Worker{
				Tools:  echo(t, func(context.Context, string) (string, error) { return "", errors.New("broken") }),
				Adjust: func(session.State) (policy.Layer, bool) { return raised.Global, true },
			}
			cfg := loop.Config{Seed: "s", Policy: &set}
			w.Model = looptest.NewModel(c.script...)
			got, gotErr := newBench(t, w, cfg).run()
			cfg.Tools = w.Tools
			s, err := session.New(session.Config{ID: "order-42"})
			require.NoError(t, err)
			want, wantErr := loopRun(t.Context(), looptest.NewModel(c.script...), s, "Hello.", cfg, loop.WithClock(looptest.NewClock()), loop.WithAdjust(w.Adjust))
			assert.NotEmpty(t, want.Warnings)
			assert.Equal(t, want.Warnings, got.Warnings)
			assert.Equal(t, want.InDoubt, got.InDoubt)
			require.Len(t, got.ToolFailures, len(want.ToolFailures))
			for n, f := range want.ToolFailures {
				assert.Equal(t, f.ToolFailure, got.ToolFailures[n].ToolFailure)
				assert.EqualError(t, got.ToolFailures[n].Err, f.Err.Error())
			}
			var e, g *loop.RetryExhaustedError
			require.Equal(t, c.plane != "", errors.As(wantErr, &e), wantErr)
			require.Equal(t, c.plane != "", errors.As(gotErr, &g), gotErr)
			if c.plane != "" {
				assert.Equal(t, c.plane, g.Plane)
				assert.Equal(t, c.source, g.Explanation[0].Source)
				assert.Equal(t, e.Explanation, g.Explanation)
			}
		})
	}
}

// The same holds for a single action.
func TestErrorsOfActionsReadAsInProcess(t *testing.T) {
	for name, err := range map[string]error{
		"plain": errors.New("boom"), "words": errors.New("connection reset by peer"), "net": &net.OpError{Op: "read", Err: errors.New("reset")}, "provider": errAuth, "overloaded": errOverloaded, "wrapped": fmt.Errorf("paying: %w", errAuth),
		"arguments": &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/a", Rule: "required", Expected: "a text"}}},
		"cancelled": context.Canceled, "reducer": &fault.ReducerError{Reducer: "r", Message: "m"}, "empty": errors.New(""),
	} {
		t.Run(name, func(t *testing.T) {
			s, e := session.New(session.Config{})
			require.NoError(t, e)
			_, want := loop.Do(t.Context(), s, loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) {
				return 0, err
			}, loop.WithClock(looptest.NewClock()))
			require.Error(t, want)
			b := newBench(t, Worker{Try: func(context.Context, Try) (message.Usage, error) { return message.Usage{}, err }}, loop.Config{})
			m, e := loop.ToolCall("pay").Machine()
			require.NoError(t, e)
			b.order = order{Session: "order-42", Config: m}
			_, got := b.run()
			require.EqualError(t, got, want.Error())
		})
	}
}

// A cancelled run has the same error on Temporal as in process.
func TestACancelledRunReadsAsInProcess(t *testing.T) {
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, want := loopRun(ctx, loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		cancel()
		return message.Reply{}, ctx.Err()
	}), s, "Hello.", loop.Config{Seed: "s"})
	b := newBench(t, Worker{Model: looptest.NewModel(fails(errOverloaded)...)}, loop.Config{Seed: "s"})
	b.RegisterDelayedCallback(b.CancelWorkflow, time.Millisecond)
	_, got := b.run()
	require.Error(t, want)
	require.Error(t, got)
	assert.Equal(t, want.Error(), got.Error())
	assert.ErrorIs(t, got, context.Canceled)
	assert.ErrorIs(t, got, policy.ReasonCancelled)
}
