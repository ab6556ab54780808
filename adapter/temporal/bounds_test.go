package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// one is a model that makes one call and then ends.
func one() *looptest.Model {
	return looptest.NewModel(call("c1", `{"text":"a"}`), looptest.Say("Done."))
}

// settling is a session whose reducer of tool results is f.
func settling(f func() (reducer.Change[string], error)) session.Config {
	cart := session.StateSlice[string]("cart")
	take := session.On(cart, session.EventToolResult, "take", func(reducer.View[string], json.RawMessage) (reducer.Change[string], error) {
		return f()
	})
	return session.Config{Slices: []session.Declared{cart}, Reducers: []session.Reducer{take}}
}

// The result of user code is measured before it is sent, and the report of the run is never too large.
func TestWhatUserCodeSaysIsMeasured(t *testing.T) {
	large := strings.Repeat("x", 20_000)
	fails := looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Auth}))
	set := settling(func() (reducer.Change[string], error) { return reducer.Replace(large), nil })
	refuse := settling(func() (reducer.Change[string], error) { return reducer.Change[string]{}, errors.New(large) })
	for name, tt := range map[string]struct {
		worker Worker
		want   string
	}{
		"reducer":         {Worker{Model: one(), Tools: echo(t, say), Session: set}, "the result of the reducers"},
		"reducer_slow":    {Worker{Model: one(), Tools: echo(t, say), Session: set, Slow: true}, "the result of the reducers"},
		"reducer_refuses": {Worker{Model: one(), Tools: echo(t, say), Session: refuse}, ""},
		"model_fails":     {Worker{Model: looptest.NewModel(looptest.Fail(errors.New(large)))}, "a model's reply"},
		"tool_fails": {Worker{
			Model: one(), Tools: echo(t, func(context.Context, string) (string, error) { return "", errors.New(large) }),
		}, "the result of echo"},
		"prompt": {Worker{Model: one(), Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return large, nil, nil
		}}, "the prompt"},
		"planner": {Worker{Model: fails, Planner: planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			return machine.Plan{}, errors.New(large)
		})}, "the planner's answer"},
		"adjust_panics": {Worker{Model: one(), Adjust: func(session.State) (policy.Layer, bool) { panic(large) }}, ""},
		"prompt_fails": {Worker{Model: one(), Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return "", nil, errors.New(large)
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.worker.MaxPayload = 16_000
			b := newBench(t, tt.worker, loop.Config{})
			_, err := b.run()
			b.ended(err, tt.want)
		})
	}
}

// ended checks the end of a run with too large data; without want, its error was cut.
func (b *bench) ended(err error, want string) {
	b.t.Helper()
	if size, ok := errors.AsType[*SizeError](err); assert.Equal(b.t, want != "", ok) && ok {
		assert.Equal(b.t, want, size.What)
	}
	var out wire[report]
	require.NoError(b.t, b.GetWorkflowResult(&out))
	doc, err := json.Marshal(out)
	require.NoError(b.t, err)
	assert.Less(b.t, len(doc), 16_000)
}

func TestATryIsMeasured(t *testing.T) {
	b := newBench(t, Worker{MaxPayload: 16_000, Try: func(context.Context, Try) (message.Usage, error) {
		return message.Usage{}, errors.New(strings.Repeat("x", 20_000))
	}}, loop.Config{})
	m, err := loop.ToolCall("pay").Machine()
	require.NoError(t, err)
	b.order = order{Session: "order-42", Config: m}
	_, err = b.run()
	b.ended(err, "the outcome of an attempt")
}

// inNewHistory is a bench whose run continues from another history, and continues in yet another one after
// its turn.
func inNewHistory(t *testing.T, w Worker) *bench {
	t.Helper()
	first := newBench(t, w, loop.Config{})
	first.SetContinueAsNewSuggested(true)
	first.ExecuteWorkflow(first.agent.Agent, over(first.order))
	again, ok := errors.AsType[*workflow.ContinueAsNewError](first.GetWorkflowError())
	require.True(t, ok)
	var next wire[order]
	require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
	b := newBench(t, w, loop.Config{})
	b.SetContinueAsNewSuggested(true)
	b.order = next.v
	return b
}

// A state that is too large for a new history ends the run before it is sent.
func TestWhatGoesIntoANewHistoryIsMeasured(t *testing.T) {
	two := looptest.Call(
		message.Call{ID: "c1", Name: "echo", Arguments: `{"text":"a"}`}, message.Call{ID: "c2", Name: "echo", Arguments: `{"text":"b"}`},
	)
	b := inNewHistory(t, Worker{
		MaxPayload: 16_000, Store: &memory{}, Model: looptest.NewModel(two, looptest.Say("Done.")),
		Tools: echo(t, func(context.Context, string) (string, error) { return strings.Repeat("x", 10_000), nil }),
	})
	_, err := b.run()
	b.ended(err, "the state for a new history")
}

// Temporal would repeat a call whose heartbeat is too large, so it is not sent.
func TestProgressIsMeasured(t *testing.T) {
	calls, beats := 0, 0
	b := newBench(t, Worker{MaxPayload: 16_000, Model: one(), Tools: echo(t, func(ctx context.Context, _ string) (string, error) {
		calls++
		if err := tool.Progress(ctx, 1); err != nil {
			return "", err
		}
		return "", tool.Progress(ctx, strings.Repeat("x", 20_000))
	})}, loop.Config{})
	b.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
		var text string
		assert.NoError(t, details.Get(&text))
		assert.Equal(t, "1", text)
		beats++
	})
	_, err := b.run()
	b.ended(err, "the result of echo")
	assert.Equal(t, 1, calls)
	assert.Equal(t, 1, beats)
}

// Bytes that are not UTF-8 become U+FFFD, as in process.
func TestWhatIsNoTextDoesNotEndARun(t *testing.T) {
	const bad, good = "a\xffb", "a\uFFFDb"
	b := newBench(t, Worker{
		Model: looptest.NewModel(looptest.Call(message.Call{ID: bad, Name: bad, Arguments: `{"text":"` + bad + `"}`}), looptest.Say(bad)),
		Tools: echo(t, say),
		Prompt: func(context.Context, session.State, []machine.Position) (string, []message.Message, error) {
			return bad, []message.Message{{Role: message.User, Text: bad}}, nil
		},
	}, loop.Config{})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, good, r.Text)

	b = newBench(t, Worker{Model: looptest.NewModel(looptest.Fail(
		&fault.ProviderError{Class: fault.Auth, Provider: bad, Model: bad, RequestID: bad, Message: bad},
	))}, loop.Config{})
	_, err = b.run()
	var p *fault.ProviderError
	require.ErrorAs(t, err, &p)
	assert.Equal(t, good, p.Provider)

	b = newBench(t, Worker{Model: one(), Adjust: func(session.State) (policy.Layer, bool) { panic(bad) }}, loop.Config{})
	_, err = b.run()
	require.EqualError(t, err, "adjusting the policy: panic: "+good)
}

// Slow reducers see the results of earlier events, also of those that arrived meanwhile: each dispatch is a
// transaction.
func TestSlowReducersLoseNothing(t *testing.T) {
	cart := session.StateSlice[int]("cart")
	entered, leave := make(chan struct{}), make(chan struct{})
	add := func(v reducer.View[int], n int) (reducer.Change[int], error) {
		held, _ := v.Last()
		return reducer.Replace(held + n), nil
	}
	b := newBench(t, Worker{
		Slow: true, Model: one(), Tools: echo(t, say),
		Session: session.Config{Slices: []session.Declared{cart}, Reducers: []session.Reducer{
			session.On(cart, "add", "add", add),
			session.On(cart, session.EventToolResult, "slow", func(v reducer.View[int], _ json.RawMessage) (reducer.Change[int], error) {
				close(entered)
				<-leave
				return add(v, 1)
			}),
		}},
	}, loop.Config{})
	told := &testsuite.TestUpdateCallback{OnComplete: func(_ any, err error) { assert.NoError(t, err) }}
	go func() {
		<-entered
		b.RegisterDelayedCallback(func() {
			b.UpdateWorkflow(UpdateDispatch, "u1", told, over([]session.Event{{Name: "add", Payload: json.RawMessage(`10`)}}))
			b.UpdateWorkflow(UpdateDispatch, "u2", told, over([]session.Event{{Name: "add", Payload: json.RawMessage(`100`)}}))
			b.RegisterDelayedCallback(func() { close(leave) }, 0)
		}, 0)
	}()
	_, err := b.run()
	require.NoError(t, err)
	var out wire[report]
	require.NoError(t, b.GetWorkflowResult(&out))
	st, err := machine.Restore(out.v.State)
	require.NoError(t, err)
	held, _ := session.View(st.Session, cart).Last()
	assert.Equal(t, 111, held)
}

// A run that could not begin answers its queries.
func TestARunThatNeverBeganIsAsked(t *testing.T) {
	b := newBench(t, Worker{Model: looptest.NewModel()}, loop.Config{})
	b.order.Tools = []string{"fly"}
	_, err := b.run()
	require.ErrorContains(t, err, `no tool "fly"`)
	for _, name := range []string{QueryStatus, QueryFeedback, QueryAttempts, QueryReducerErrors} {
		_, err := b.QueryWorkflow(name)
		assert.NoError(t, err, name)
	}
}

// full is a storage that accepts nothing.
type full struct{ memory }

func (*full) Save(context.Context, string, []byte) error { return errors.New("the disk is full") }

// A reply that the store refuses ends the run. The call is not repeated and paid for again.
func TestAReplyThatCannotBeKeptIsAskedForOnce(t *testing.T) {
	calls := 0
	b := newBench(t, Worker{MaxPayload: policy.Unlimited, Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		calls++
		return looptest.Say(strings.Repeat("x", 100_000)).Reply, nil
	})}, loop.Config{})
	b.SetDataConverter(ClaimCheck(nil, &full{}, 0))
	_, err := b.run()
	var run *RunError
	require.ErrorAs(t, err, &run)
	require.ErrorContains(t, err, "the disk is full")
	assert.Equal(t, 1, calls)
}

// A result of a tool that the store refuses is not known, and the run continues.
func TestAResultThatCannotBeKeptIsInDoubt(t *testing.T) {
	calls := 0
	b := newBench(t, Worker{Model: one(), MaxPayload: policy.Unlimited, Tools: echo(t, func(context.Context, string) (string, error) {
		calls++
		return strings.Repeat("x", 100_000), nil
	})}, loop.Config{})
	b.SetDataConverter(ClaimCheck(nil, &full{}, 0))
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Done.", r.Text)
	assert.Equal(t, 1, calls)
	assert.Contains(t, r.Transcript[2].Text, "its effect may or may not have happened")
	assert.Len(t, r.InDoubt, 1)
}

// away is a storage that does not give what it has for some time.
type away struct {
	memory
	loads int
	fails func(load int) bool
}

func (a *away) Load(ctx context.Context, name string) ([]byte, error) {
	if a.loads++; a.fails(a.loads) {
		return nil, errors.New("the store is away")
	}
	return a.memory.Load(ctx, name)
}

// A call whose input the store does not give has not begun, and is asked for again.
func TestACallWhoseInputIsAwayIsMadeLater(t *testing.T) {
	calls := 0
	large := looptest.Call(message.Call{ID: "c1", Name: "echo", Arguments: `{"text":"` + strings.Repeat("x", 100_000) + `"}`})
	b := newBench(t, Worker{
		Model: looptest.NewModel(large, looptest.Say("Done.")), MaxPayload: policy.Unlimited,
		Tools: echo(t, func(context.Context, string) (string, error) { calls++; return "done", nil }),
	}, loop.Config{})
	// The first is the reply, and the second the input of the call.
	b.SetDataConverter(ClaimCheck(nil, &away{fails: func(load int) bool { return load == 2 }}, 0))
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Done.", r.Text)
	assert.Equal(t, 1, calls)
	assert.Equal(t, "done", r.Transcript[2].Text)
}

// late is a storage that takes nothing at first.
type late struct {
	memory
	saves int
}

func (l *late) Save(ctx context.Context, name string, doc []byte) error {
	if l.saves++; l.saves == 1 {
		return errors.New("the store is away")
	}
	return l.memory.Save(ctx, name, doc)
}

// A model is not asked before its conversation is in the store, and later if the store is away.
func TestAConversationWhoseStoreIsAwayGoesOnLater(t *testing.T) {
	model := looptest.NewModel(looptest.Say("Done."))
	b := newBench(t, Worker{Model: model, Store: &late{}}, loop.Config{})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Done.", r.Text)
	assert.Len(t, model.Requests(), 1)

	b = newBench(t, Worker{Model: model, Store: &full{}}, loop.Config{})
	_, err = b.run()
	require.ErrorContains(t, err, "the disk is full (11 workers were asked)")
}

// In the code of a workflow a store that fails fails its task, which is made again, and not the run.
func TestAStoreThatIsAwayEndsNoRun(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	store := &away{fails: func(int) bool { return true }}
	c := ClaimCheck(nil, store, 0)
	p, err := c.ToPayloads(large)
	require.NoError(t, err)
	text := ""
	require.ErrorContains(t, c.FromPayloads(p, &text), "the store is away", "in a client")
	of := c.(workflow.ContextAware).WithWorkflowContext(nil)
	assert.Panics(t, func() { _ = of.FromPayloads(p, &text) })
	assert.Panics(t, func() { _ = of.FromPayload(p.Payloads[0], &text) })
	store.fails = func(int) bool { return false }
	require.NoError(t, of.FromPayloads(p, &text))
	assert.Equal(t, large, text)
	assert.Error(t, of.FromPayloads(p, new(int)), "no error of the store")
}

// At most Worker.Parallel calls run at once, and their outcomes are recorded in call order.
func TestManyCallsOfOneReply(t *testing.T) {
	var calls []message.Call
	for n := range 60 {
		calls = append(calls, message.Call{ID: strconv.Itoa(n), Name: "echo", Arguments: `{"text":"` + strconv.Itoa(n) + `"}`})
	}
	var mu sync.Mutex
	now, most := 0, 0
	b := newBench(t, Worker{
		Parallel: 3, Model: looptest.NewModel(looptest.Call(calls...), looptest.Say("Done.")),
		Tools: echo(t, func(_ context.Context, text string) (string, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			runtime.Gosched()
			mu.Lock()
			defer mu.Unlock()
			now--
			return text, nil
		}),
	}, loop.Config{})
	r, err := b.run()
	require.NoError(t, err)
	for n := range calls {
		assert.Equal(t, strconv.Itoa(n), r.Transcript[2+n].Text)
	}
	assert.LessOrEqual(t, most, 3)
}

// A correction without a wait sets no timer; a wait sets one.
func TestOnlyWaitsSetTimers(t *testing.T) {
	overloaded := looptest.Fail(&fault.ProviderError{Class: fault.Overloaded})
	for want, model := range map[int]*looptest.Model{
		0: looptest.NewModel(call("c1", `{"text":1}`), call("c2", `{"text":2}`), looptest.Say("Done.")),
		1: looptest.NewModel(overloaded, looptest.Say("Done.")),
	} {
		b := newBench(t, Worker{Model: model, Tools: echo(t, say)}, loop.Config{})
		timers := 0
		b.SetOnTimerScheduledListener(func(string, time.Duration) { timers++ })
		_, err := b.run()
		require.NoError(t, err)
		assert.Equal(t, want, timers)
	}
}

// The fault of a layer is reported with its field, before it is sent or by the run.
func TestABadLayerIsToldByItsField(t *testing.T) {
	h := &Handle{}
	var field *policy.FieldError
	err := h.Adjust(t.Context(), policy.Layer{MaxAttempts: new(0)})
	require.ErrorAs(t, err, &field)
	assert.Equal(t, "max_attempts", field.Path)
	err = h.Plan(t.Context(), machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{MaxAttempts: new(0)}})
	require.ErrorAs(t, err, &field)
	assert.Equal(t, "max_attempts", field.Path)

	set := policy.DefaultSet()
	set.Global.Bases = map[fault.Class]time.Duration{fault.Overloaded: time.Second}
	b := newBench(t, Worker{Model: looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Overloaded}), looptest.Say("Done."))}, loop.Config{Policy: &set})
	told := false
	list := backoff.List(time.Second)
	b.RegisterDelayedCallback(func() {
		b.UpdateWorkflow(UpdateAdjust, "u1", &testsuite.TestUpdateCallback{OnReject: func(err error) {
			told = true
			assert.ErrorContains(t, err, "answer.bases: a list of delays has no base")
		}}, over(policy.Layer{Backoff: &list}))
	}, 0)
	_, err = b.run()
	require.NoError(t, err)
	assert.True(t, told)
}

// The policy of a worker's tool applies as in process.
func TestAPolicyStandsAtItsTool(t *testing.T) {
	attempts := 1
	pay := tool.New("pay", "Pay.", func(context.Context, struct {
		Sum int `json:"sum"`
	}) (string, error) {
		return "paid", nil
	}, tool.WithPolicy(policy.Layer{MaxAttempts: &attempts}))
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	b := newBench(t, Worker{Agent: "pay", Model: looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: "{}"})), Tools: tools}, loop.Config{})
	_, err = b.run()
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, 1, exhausted.MaxAttempts)
}

// A call that takes longer than its policy allows is a timeout, also if it ignores its context.
func TestAPolicysTimeoutHoldsOnWorkers(t *testing.T) {
	ignores := make(chan struct{})
	defer close(ignores)
	slow := tool.New("slow", "Waits.", func(context.Context, struct{}) (string, error) { <-ignores; return "too late", nil }, tool.ReadOnly())
	tools, err := tool.NewSet(slow)
	require.NoError(t, err)
	set := policy.DefaultSet()
	set.ToolTransport = map[string]policy.Layer{"slow": {ToolTimeout: new(time.Millisecond), MaxAttempts: new(2)}}
	model := looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "slow", Arguments: "{}"}), looptest.Say("Sorry."))
	b := newBench(t, Worker{Agent: "slow", Model: model, Tools: tools}, loop.Config{Policy: &set})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "The call failed 2 times.", r.Transcript[2].Text)
	assert.Equal(t, fault.Timeout, r.Attempts[1].Class)
}
