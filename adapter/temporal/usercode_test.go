package temporal

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A planner of the worker gets the error behind the failure, with its rate limits.
func TestAPlannerIsAskedInTheWorker(t *testing.T) {
	for _, slow := range []bool{false, true} {
		var asked planner.Question
		w := Worker{
			Slow:  slow,
			Model: looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Auth, Provider: "example", Message: "bad key"})),
			Models: map[string]loop.Model{"backup": loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
				return looptest.Say("From " + r.Model + ", " + r.System).Reply, nil
			})},
			Planner: planner.PlannerFunc(func(_ context.Context, q planner.Question) (machine.Plan, error) {
				asked = q
				return machine.Plan{Do: machine.Fallback, Model: "backup"}, nil
			}),
			Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
				return "made by code", nil, nil
			},
			Adjust: func(s session.State) (policy.Layer, bool) {
				return policy.Layer{MaxAttempts: new(7)}, s.AttemptCount() > 0
			},
		}
		b := newBench(t, w, loop.Config{})
		r, err := b.run()
		require.NoError(t, err)
		assert.Equal(t, "From backup, made by code", r.Text)
		assert.True(t, asked.Exhausted)
		var auth *fault.AuthError
		require.ErrorAs(t, asked.Cause, &auth)
		assert.Equal(t, fault.Auth, asked.Failure.Class)
		attempts := query[[]session.Attempt](b, QueryAttempts)
		assert.Equal(t, 7, attempts[len(attempts)-1].MaxAttempts)
	}
}

func TestWhatUserCodeDoesWrongEndsTheRunWithItsError(t *testing.T) {
	fails := looptest.Fail(&fault.ProviderError{Class: fault.Auth})
	for name, tt := range map[string]struct {
		worker Worker
		want   string
	}{
		"prompt": {Worker{Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return "", nil, errors.New("no words")
		}}, "making the prompt: no words"},
		"prompt_panics": {Worker{Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			panic("oh")
		}}, "making the prompt: panic: oh"},
		"planner": {Worker{Planner: planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{}, errors.New("no plan")
		})}, "planner: no plan"},
		"planner_panics": {Worker{Planner: planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) { panic("oh") })}, "planner: panic: oh"},
		"no_such_model": {Worker{Planner: planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Model: "big"}, nil
		})}, `planner: the plan's model: "big" is not one of the run's models []`},
		"senseless_plan": {Worker{Planner: planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{MaxAttempts: new(0)}}, nil
		})}, "the plan's policy: max_attempts: 0 is too few"},
		"adjust":        {Worker{Adjust: func(session.State) (policy.Layer, bool) { return policy.Layer{MaxAttempts: new(0)}, true }}, "adjusting the policy: "},
		"adjust_panics": {Worker{Adjust: func(session.State) (policy.Layer, bool) { panic("oh") }}, "adjusting the policy: panic: oh"},
		"model_panics":  {Worker{Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) { panic("oh") })}, "panic: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.worker.Model == nil {
				tt.worker.Model = looptest.NewModel(fails)
			}
			_, err := newBench(t, tt.worker, loop.Config{}).run()
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

// A second run of a session begins with the session of the first one.
func TestASessionGoesOnInAnotherRun(t *testing.T) {
	cfg := loop.Config{}
	b := newBench(t, Worker{Model: looptest.NewModel(looptest.Say("One."))}, cfg)
	r, err := b.run()
	require.NoError(t, err)
	var out wire[report]
	require.NoError(t, b.GetWorkflowResult(&out))
	st, err := machine.Restore(out.v.State)
	require.NoError(t, err)
	held, err := st.Session.Snapshot()
	require.NoError(t, err)

	b = newBenchOf(t, Worker{Model: looptest.NewModel(looptest.Say("Two."))}, loop.Input{Prompt: "Hello.", History: r.Transcript}, cfg)
	b.order.After = held
	r, err = b.run()
	require.NoError(t, err)
	assert.Equal(t, 4, len(r.Transcript))
	assert.Len(t, r.Attempts, 1)
}

func TestSearchAttributesAreSet(t *testing.T) {
	model := looptest.NewModel(
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded}), looptest.Fail(&fault.ProviderError{Class: fault.Auth}),
	)
	b := newBench(t, Worker{Model: model}, loop.Config{})
	b.order.Attributes = true
	var set []string
	b.OnUpsertTypedSearchAttributes(anything).Run(func(args mock.Arguments) {
		a := args.Get(0).(sdk.SearchAttributes)
		status, _ := a.GetKeyword(statusKey)
		attempts, _ := a.GetInt64(attemptsKey)
		exhausted, _ := a.GetKeyword(exhaustedKey)
		set = append(set, fmt.Sprintf("%s %d %s", status, attempts, exhausted))
	}).Return(nil)
	_, err := b.run()
	require.Error(t, err)
	assert.Equal(t, []string{"running 0 no", "waiting 1 no", "running 1 no", "stopped 2 not_retryable"}, set)
}

// starter is a client that refuses to start workflows.
type starter struct {
	client.Client
	how client.StartWorkflowOptions
}

func (s *starter) ExecuteWorkflow(
	_ context.Context, how client.StartWorkflowOptions, _ any, _ ...any,
) (client.WorkflowRun, error) {
	s.how = how
	return nil, errors.New("no mapping defined for search attribute")
}

// A start has the search attributes, so that the server refuses it if they are not registered. A workflow
// that sets them would fail without end.
func TestAStartHasTheSearchAttributes(t *testing.T) {
	var c starter
	mine := sdk.NewSearchAttributeKeyKeyword("Tenant")
	o := Options{ID: "a", TaskQueue: "q", SearchAttributes: true}
	o.Workflow.TypedSearchAttributes = sdk.NewSearchAttributes(mine.ValueSet("t-1"))
	_, err := Start(t.Context(), &c, o, loop.Input{Prompt: "Hi."}, loop.Config{})
	require.ErrorContains(t, err, "temporal: no mapping defined")
	want := sdk.NewSearchAttributes(mine.ValueSet("t-1"), statusKey.ValueSet("running"), attemptsKey.ValueSet(0), exhaustedKey.ValueSet("no"))
	assert.Equal(t, want, c.how.TypedSearchAttributes)
	o.SearchAttributes = false
	_, err = Start(t.Context(), &c, o, loop.Input{Prompt: "Hi."}, loop.Config{})
	require.Error(t, err)
	assert.Equal(t, 1, c.how.TypedSearchAttributes.Size())
}

func TestFaultsOfAWorkerAreNamed(t *testing.T) {
	err := Worker{
		Agent: "a b", Parallel: -1, ModelTimeout: -1, ToolTimeout: -1, ThinkTimeout: -1, Heartbeat: 10, Deaths: -1, MaxPayload: -2, MaxEvents: 3,
		Models: map[string]loop.Model{"x": nil}, Observers: []observe.Observer{nil}, Session: session.Config{Slices: []session.Declared{nil}, Journal: new(journal.Journal)},
	}.Validate()
	for _, want := range []string{
		"model: ", "agent: ", "parallel: ", "model_timeout: ", "tool_timeout: ", "think_timeout: ", "heartbeat: ", "deaths: ", "max_payload: ",
		"max_events: ", "models: ", "observers: ", "slices[0]: ", "session: journal: ",
	} {
		assert.ErrorContains(t, err, want)
	}
	require.NoError(t, Worker{Model: looptest.NewModel()}.Validate())
	err = Options{Session: []byte("x"), MaxPayload: -2}.Validate()
	for _, want := range []string{"id: ", "task_queue: ", "session: ", "max_payload: "} {
		assert.ErrorContains(t, err, want)
	}
	_, err = Run(t.Context(), nil, Options{ID: "a", TaskQueue: "q"}, loop.Input{Prompt: "Hi."}, loop.Config{})
	require.ErrorContains(t, err, "the client is nil")
	_, err = ClaimCheck(nil, nil, 0).ToPayload("small")
	require.ErrorContains(t, err, "the store of ClaimCheck is nil")
	_, err = orderOf(loop.Input{Prompt: "Hi."}, loop.Config{Tools: echo(t, say)})
	require.ErrorContains(t, err, "tools: must be nil")
	_, err = orderOf(loop.Input{Prompt: "Hi."}, loop.Config{Estimate: func(string, []message.Message) int64 { return 1 }})
	require.ErrorContains(t, err, "estimate: must be nil")
	_, err = orderOf(loop.Input{Prompt: "Hi."}, loop.Config{System: "{{"})
	require.ErrorContains(t, err, "system: ")
}

// A run continues the conversation of the session that it is given, as in process.
func TestARunContinuesTheConversationOfItsSession(t *testing.T) {
	first := newBench(t, Worker{Model: looptest.NewModel(looptest.Say("Hello to you."))}, loop.Config{})
	_, err := first.run()
	require.NoError(t, err)
	var out wire[report]
	require.NoError(t, first.GetWorkflowResult(&out))
	st, err := machine.Restore(out.v.State)
	require.NoError(t, err)
	o := Options{ID: "order-42", TaskQueue: "q"}
	o.Session, err = st.Contents().Snapshot()
	require.NoError(t, err)
	texts := func(in loop.Input) (all []string) {
		run, err := o.order(order{}, &in)
		require.NoError(t, err)
		for _, m := range run.Messages {
			all = append(all, m.Text)
		}
		return all
	}
	assert.Equal(t, []string{"Hello.", "Hello to you.", "And?"}, texts(loop.Input{Prompt: "And?"}))
	assert.Equal(t, []string{"And?"}, texts(loop.Input{Prompt: "And?", NewConversation: true}))
	_, err = o.order(order{}, &loop.Input{Prompt: "And?", History: st.Transcript()})
	require.EqualError(t, err, "temporal: input: history: the session holds a conversation of 2 messages: leave History out to continue it, or set NewConversation to begin another")
}

func TestWhatAWorkerLacksEndsTheRunAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*order)
		want   string
	}{
		"tool": {func(o *order) { o.Tools = []string{"fly"} }, `the agent retake has no tool "fly"`},
		"try":  {func(o *order) { o.Config.Single = true }, "the agent makes no single actions"},
		"model": {func(o *order) {
			o.Config.Policy.Global.PerAttempt = []policy.Settings{{}, {Model: "huge"}}
		}, `policy: global.attempts[1].model: there is no model "huge"`},
		"planner": {func(o *order) { o.Config.Consult = []fault.Class{fault.RateLimit} }, "consult: there is no planner"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Worker{Model: looptest.NewModel()}, loop.Config{})
			tt.change(&b.order)
			_, err := b.run()
			var e *RunError
			require.ErrorAs(t, err, &e)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
