package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/tool"
)

// windows is a rate limit as an adapter returns it.
func windows(headers map[string][]string) error {
	return fmt.Errorf("asking the model: %w", &ratelimit.LimitedError{
		Err:   fault.Typed(fault.ProviderError{Class: fault.RateLimit, Provider: "cerebras", StatusCode: 429}),
		State: ratelimit.Parse(headers, looptest.Epoch),
	})
}

func TestAPlannerSeesCodeWindowsAndHistory(t *testing.T) {
	var asked []planner.Question
	plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		asked = append(asked, q)
		return machine.Plan{Do: machine.Follow}, nil
	})
	bad := looptest.Call(call("book_room", `{}`))
	soon := windows(map[string][]string{"X-Ratelimit-Remaining-Tokens-Day": {"0"}, "X-Ratelimit-Reset-Tokens-Day": {"30"}})
	model := looptest.NewModel(bad, looptest.Fail(soon), looptest.Say("done"))
	cfg := loop.Config{Tools: bookRoom(t, booked), Consult: []fault.Class{fault.RateLimit}}
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Book.", Deadline: looptest.Epoch.Add(time.Hour)}, cfg, loop.WithPlanner(plan), loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	require.Len(t, asked, 1)
	q := asked[0]
	assert.Equal(t, fault.RateLimit, q.Failure.Class)
	assert.Equal(t, fault.Transport, q.Plane)
	assert.Equal(t, machine.Position{Attempt: 1, MaxAttempts: 4}, q.Position, "the model call failed, not the tool")
	assert.False(t, q.Exhausted)
	assert.Equal(t, policy.ReasonServerAsked, q.Reason)
	assert.GreaterOrEqual(t, q.Delay, 30*time.Second)
	require.Len(t, q.RateLimit.Windows, 1)
	assert.Equal(t, "tokens_per_day", q.RateLimit.Windows[0].Name)
	assert.Equal(t, fault.ToolValidation, q.Session.Attempts()[0].Class)
	assert.Equal(t, looptest.Epoch.Add(time.Hour), q.Deadline)
	var limited *fault.RateLimitError
	require.ErrorAs(t, q.Cause, &limited)
}

func TestAPlannersOwnErrorIsTold(t *testing.T) {
	lost := errors.New("no plan")
	broken := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { return machine.Plan{}, lost })
	for name, tt := range map[string]struct {
		turn looptest.Turn
		want string
	}{
		"of_words": {looptest.Call(call("book_room", `{}`)), "; planner: no plan"},
		"of_time":  {looptest.Fail(refused{Class: fault.Auth}), ": planner: no plan; it was asked about: auth"},
	} {
		t.Run(name, func(t *testing.T) {
			set := policy.DefaultSet()
			set.Global.OptOut = new(true)
			_, err := fixture.Run(t.Context(), looptest.NewModel(tt.turn), newSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: bookRoom(t, booked), Policy: &set}, loop.WithPlanner(broken))
			require.ErrorIs(t, err, lost)
			assert.True(t, strings.HasSuffix(err.Error(), tt.want), err.Error())
		})
	}
}

func TestConsultedClassesAreOfTheTransportPlane(t *testing.T) {
	err := loop.Config{Consult: []fault.Class{fault.RateLimit, fault.ToolValidation, "", "rate_limt", "llm-rate-limit", "of_my_own"}}.Validate()
	require.ErrorContains(t, err, `consult[1]: "tool_validation" is not a class of the transport plane`)
	require.ErrorContains(t, err, `consult[2]: ""`)
	require.ErrorContains(t, err, `consult[3]: "rate_limt" looks like a misspelled class; write rate_limit`)
	require.ErrorContains(t, err, `consult[4]: "llm-rate-limit" is another vocabulary's name for a class; write rate_limit`)
	assert.NotContains(t, err.Error(), "of_my_own")
	_, err = fixture.Run(t.Context(), looptest.NewModel(), newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{Consult: []fault.Class{fault.RateLimit}})
	require.ErrorContains(t, err, "consult: there is no planner")
}

// A fallback that is not there is told when the loop is made, and not when the first model is down.
func TestALadderIsCheckedBeforeItsModelsAreNeeded(t *testing.T) {
	small := loop.WithModels(map[string]loop.Model{"small": looptest.NewModel()})
	_, err := loop.New(looptest.NewModel(), loop.Config{}, small, loop.WithPlanner(planner.Ladder{Models: []string{"small", "big", ""}}))
	require.EqualError(t, err, `planner: models[2]: a model needs a name; use its name in WithModels
models[1]: "big" is not one of the run's models ["small"]: WithModels gives them`)
	_, err = loop.NewPool(loop.PoolConfig{Model: looptest.NewModel(), Options: []loop.Option{loop.WithPlanner(planner.Ladder{Models: []string{"big"}})}})
	require.ErrorContains(t, err, `planner: models[0]: "big" is not one of the run's models []`)
	_, err = loop.New(looptest.NewModel(), loop.Config{}, small, loop.WithPlanner(planner.Ladder{Models: []string{"small"}}))
	require.NoError(t, err)
}

func TestWhatIsWrongWithAConfigIsToldAtOnce(t *testing.T) {
	cfg := loop.Config{Feedback: "{{", Limits: &feedback.Limits{}, Consult: []fault.Class{fault.RateLimit}}
	_, asRun := fixture.Run(t.Context(), looptest.NewModel(), newSession(t), loop.Input{Prompt: "Hello."}, cfg)
	_, asRunner := fixture.Runner(newSession(t), cfg, nil)
	_, asMachine := cfg.Machine()
	_, asPool := loop.NewPool(loop.PoolConfig{Config: cfg})
	require.ErrorContains(t, asPool, "model: is nil")
	for _, err := range []error{asRun, asRunner, asMachine, asPool} {
		for _, field := range []string{"feedback: ", "limits: ", "consult: "} {
			require.ErrorContains(t, err, field)
		}
	}
}

// Consult is about model calls. What becomes of a tool's call is its transport policy's to say.
func TestThePlannerIsNotAskedOfTools(t *testing.T) {
	set, err := tool.NewSet(tool.New("search", "A tool.", func(context.Context, struct{}) (string, error) {
		return "", refused{Class: fault.RateLimit}
	}))
	require.NoError(t, err)
	plan := planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
		return machine.Plan{}, fmt.Errorf("asked about %s", q.String())
	})
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "search", Arguments: `{}`}), looptest.Say("It cannot be searched."))
	result, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Go."}, loop.Config{Tools: set, Consult: []fault.Class{fault.RateLimit}}, loop.WithPlanner(plan))
	require.NoError(t, err)
	assert.Equal(t, "It cannot be searched.", result.Text)
}

func TestLimitedErrorsSayWhatTheServerAskedFor(t *testing.T) {
	asked := &ratelimit.LimitedError{Err: refused{Class: fault.RateLimit}, State: ratelimit.Parse(map[string][]string{"Retry-After": {"7"}}, looptest.Epoch)}
	assert.Equal(t, 7*time.Second, asked.Failure().RetryAfter)
	own := &ratelimit.LimitedError{Err: refused{Class: fault.RateLimit, After: time.Second}, State: asked.State}
	assert.Equal(t, time.Second, own.Failure().RetryAfter, "what the error says itself comes first")
	waiting := &ratelimit.LimitedError{Err: refused{Class: fault.RateLimit}, State: ratelimit.Parse(map[string][]string{"x-ratelimit-remaining-requests-hour": {"0"}, "x-ratelimit-reset-requests-hour": {"45m"}}, looptest.Epoch)}
	assert.Equal(t, 45*time.Minute, waiting.Failure().RetryAfter, "a used-up window with a reset asks for a wait as well")
	assert.Equal(t, "rate_limit", waiting.Error())
}

// A planner that always goes on is not asked for ever: each request that the policy made no more counts. So
// does that of a function that answers for people.
func TestAPlannerThatAlwaysGoesOnComesToAnEnd(t *testing.T) {
	unavailable := fault.Typed(fault.ProviderError{Class: fault.Unavailable, StatusCode: 503})
	down := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { return message.Reply{}, unavailable })
	models := loop.WithModels(map[string]loop.Model{"second": down, "third": down})
	asked := 0
	always := func(model string) loop.Option {
		return loop.WithPlanner(planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
			if asked++; asked > 1000 {
				return machine.Plan{Do: machine.Abort}, nil
			}
			if model != "" && q.Model == model {
				return machine.Plan{Do: machine.Fallback, Model: "third"}, nil
			}
			return machine.Plan{Do: machine.Fallback, Model: model}, nil
		}))
	}
	answers := loop.WithApprover(func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		if asked++; asked > 1000 {
			return machine.Response{Verdict: machine.EndRun}, nil
		}
		return machine.Response{Verdict: machine.GoOn}, nil
	})
	run := func(cfg loop.Config) func(opts ...loop.Option) error {
		return func(opts ...loop.Option) error {
			_, err := fixture.Run(t.Context(), down, newSession(t), loop.Input{Prompt: "Go."}, cfg, opts...)
			return err
		}
	}
	do := func(err error) func(opts ...loop.Option) error {
		return func(opts ...loop.Option) error {
			_, err := loop.Do(t.Context(), newSession(t), loop.ToolCall("pay"), func(context.Context, loop.Attempt) (int, error) { return 0, err }, opts...)
			return err
		}
	}
	asks, one, many := policy.DefaultSet(), policy.DefaultSet(), policy.DefaultSet()
	asks.Global.Approval = &policy.Approval{Exhausted: policy.ExhaustedAsk}
	one.MaxTurns, many.MaxTurns = 1, 200
	before := loop.Config{Consult: []fault.Class{fault.Unavailable}}
	bad := &fault.ToolValidationError{Tool: "pay", Issues: []fault.Issue{{Pointer: "/a", Rule: "required"}}}
	for name, c := range map[string]struct {
		run   func(...loop.Option) error
		by    loop.Option
		asked int
	}{
		"exhausted":                 {run(loop.Config{}), always(""), 101},
		"another model":             {run(loop.Config{}), always("second"), 101},
		"more turns":                {run(loop.Config{Policy: &many}), always(""), 201},
		"a single turn":             {run(loop.Config{Policy: &one}), always("second"), 101},
		"before the policy":         {run(before), always(""), 104},
		"models, before the policy": {run(before), always("second"), 101},
		"an action, of time":        {do(unavailable), always(""), 101},
		"an action, of words":       {do(bad), always(""), 101},
		"for people":                {run(loop.Config{Policy: &asks}), answers, 101},
	} {
		t.Run(name, func(t *testing.T) {
			asked = 0
			err := c.run(c.by, models, loop.WithClock(looptest.NewClock()))
			require.ErrorIs(t, err, policy.ReasonTurnLimit)
			assert.Equal(t, c.asked, asked)
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.NotEmpty(t, exhausted.Failure.Class, "the last failure is told")
		})
	}
}
