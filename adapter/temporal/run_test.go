package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// bench is a test environment with one agent.
type bench struct {
	*testsuite.TestWorkflowEnvironment
	t     *testing.T
	agent *agent
	order order
}

func newBench(t *testing.T, w Worker, cfg loop.Config) *bench {
	t.Helper()
	return newBenchOf(t, w, loop.Input{Prompt: "Hello."}, cfg)
}

func newBenchOf(t *testing.T, w Worker, in loop.Input, cfg loop.Config) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	b := &bench{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	var err error
	b.agent, err = newAgent(w)
	require.NoError(t, err)
	b.agent.register(b)
	b.order, err = orderOf(in, cfg)
	require.NoError(t, err)
	b.order, err = Options{ID: "order-42", TaskQueue: "q", MaxPayload: policy.Unlimited}.order(b.order, &in)
	require.NoError(t, err)
	return b
}

// run runs the workflow to its end.
func (b *bench) run() (loop.Result, error) {
	b.t.Helper()
	b.ExecuteWorkflow(b.agent.Agent, over(b.order))
	require.True(b.t, b.IsWorkflowCompleted())
	require.NoError(b.t, b.GetWorkflowError())
	var out wire[report]
	require.NoError(b.t, b.GetWorkflowResult(&out))
	return out.v.result()
}

// query queries the workflow.
func query[T any](b *bench, name string) T {
	b.t.Helper()
	v, err := b.QueryWorkflow(name)
	require.NoError(b.t, err)
	var out wire[T]
	require.NoError(b.t, v.Get(&out))
	return out.v
}

// anything matches any argument.
const anything = mock.Anything

// memory is a storage in memory.
type memory struct {
	mu   sync.Mutex
	held map[string][]byte
}

func (m *memory) Save(_ context.Context, key string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held == nil {
		m.held = map[string][]byte{}
	}
	m.held[key] = data
	return nil
}

func (m *memory) Load(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.held[key]
	if !ok {
		return nil, fmt.Errorf("nothing is kept as %s", key)
	}
	return data, nil
}

func echo(t *testing.T, do func(ctx context.Context, text string) (string, error)) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(tool.New("echo", "Says it again.", func(ctx context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return do(ctx, in.Text)
	}))
	require.NoError(t, err)
	return set
}

func say(_ context.Context, text string) (string, error) { return text, nil }

func call(id, args string) looptest.Turn {
	return looptest.Call(message.Call{ID: id, Name: "echo", Arguments: args})
}

func TestARunThatEndsWell(t *testing.T) {
	b := newBench(t, Worker{Model: looptest.NewModel(call("c1", `{"text":"<a> & b"}`), looptest.Say("Hello.")), Tools: echo(t, say)}, loop.Config{})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Hello.", r.Text)
	assert.Equal(t, 2, r.Turns)
	assert.Equal(t, `<a> & b`, r.Transcript[2].Text)
}

// Errors have the same Go types as in process, whoever returned them.
func TestErrorsComeBackAsTheyWere(t *testing.T) {
	provider := &fault.ProviderError{Class: fault.Auth, Provider: "example", StatusCode: 401, Message: "bad key"}
	b := newBench(t, Worker{Model: looptest.NewModel(looptest.Fail(fmt.Errorf("asking: %w", provider)))}, loop.Config{})
	_, err := b.run()
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, policy.ReasonNotRetryable, exhausted.Reason)
	assert.Equal(t, fault.Transport, exhausted.Plane)
	assert.Len(t, exhausted.Attempts, 1)
	assert.NotEmpty(t, exhausted.Explanation)
	require.ErrorIs(t, err, policy.ReasonNotRetryable)
	var p *fault.ProviderError
	require.ErrorAs(t, err, &p)
	assert.Equal(t, 401, p.StatusCode)
	var auth *fault.AuthError
	require.ErrorAs(t, err, &auth)

	cart := session.StateSlice[string]("cart")
	refuse := session.On(cart, session.EventToolResult, "limit", func(reducer.View[string], json.RawMessage) (reducer.Change[string], error) {
		return reducer.Change[string]{}, errors.New("over budget")
	})
	set := policy.DefaultSet()
	stop := policy.ReducerStopsRun
	set.Global.OnReducerError = stop
	b = newBench(t, Worker{
		Model: looptest.NewModel(call("c1", `{"text":"a"}`)), Tools: echo(t, say),
		Session: session.Config{Slices: []session.Declared{cart}, Reducers: []session.Reducer{refuse}},
	}, loop.Config{Policy: &set})
	_, err = b.run()
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, fault.Reducer, exhausted.Failure.Class)
	var re *fault.ReducerError
	require.ErrorAs(t, err, &re)
	assert.Equal(t, "over budget", re.Message)
	errs := query[[]fault.ReducerError](b, QueryReducerErrors)
	require.Len(t, errs, 1)
	assert.Equal(t, "limit", errs[0].Reducer)
}

// Too large data is found before it is sent, and named with its size.
func TestWhatIsTooLargeIsNamed(t *testing.T) {
	large := strings.Repeat("x", 5000)
	for name, tt := range map[string]struct {
		worker Worker
		want   string
	}{
		"reply": {Worker{Model: looptest.NewModel(looptest.Say(large))}, "a model's reply"},
		"tool": {Worker{
			Model: looptest.NewModel(call("c1", `{"text":"a"}`)),
			Tools: echo(t, func(context.Context, string) (string, error) { return large, nil }),
		}, "the result of echo"},
		"conversation": {Worker{
			Model: looptest.NewModel(call("c1", `{"text":"a"}`), call("c2", `{"text":"b"}`), looptest.Say("x")),
			Tools: echo(t, func(context.Context, string) (string, error) { return large[:2000], nil }),
		}, "the conversation of a model call"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.worker.MaxPayload = 4000
			_, err := newBench(t, tt.worker, loop.Config{}).run()
			var size *SizeError
			require.ErrorAs(t, err, &size)
			assert.Equal(t, tt.want, size.What)
			assert.Equal(t, 4000, size.Limit)
			assert.Greater(t, size.Bytes, 4000)
			assert.ErrorContains(t, err, "bytes, more than the limit of 4000")
		})
	}
}

func TestAClaimCheckCarriesWhatIsLarge(t *testing.T) {
	store := &memory{}
	large := strings.Repeat("x", 100_000)
	b := newBench(t, Worker{Model: looptest.NewModel(looptest.Say(large)), MaxPayload: policy.Unlimited}, loop.Config{})
	b.SetDataConverter(ClaimCheck(nil, store, 1000))
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, large, r.Text)
	assert.NotEmpty(t, store.held)

	c := ClaimCheck(nil, store, 1000)
	sent, err := c.ToPayload(large)
	require.NoError(t, err)
	assert.Less(t, len(sent.Data), 200)
	assert.Equal(t, claimEncoding, string(sent.Metadata[converter.MetadataEncoding]))
	for key := range store.held {
		store.held[key] = []byte("other")
	}
	var back string
	require.ErrorContains(t, c.FromPayload(sent, &back), "does not match its name")
}

// With a store, each model call carries only the new messages.
func TestConversationsGoByReference(t *testing.T) {
	model := looptest.NewModel(call("c1", `{"text":"a"}`), call("c2", `{"text":"b"}`), call("c3", `{"text":"c"}`), looptest.Say("Done."))
	b := newBench(t, Worker{Model: model, Tools: echo(t, say), Store: &memory{}}, loop.Config{})
	var said []int
	b.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		if info.ActivityType.Name == b.agent.named("model") {
			var in wire[modelCall]
			assert.NoError(t, args.Get(&in))
			said = append(said, len(in.v.Said))
		}
	})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2, 2, 2}, said)
	asked := model.Requests()
	require.Len(t, asked, 4)
	for n, a := range asked {
		assert.Equal(t, r.Transcript[0:2*n+1], a.Messages)
	}
	// Another worker finds the conversation in the store.
	whole, _, err := newTranscripts(b.agent.Store).extend(t.Context(), lastKey(b.agent.transcripts), nil)
	require.NoError(t, err)
	assert.Equal(t, 7, len(whole))
	_, _, err = newTranscripts(nil).extend(t.Context(), "x", nil)
	require.ErrorContains(t, err, "this worker has no Store")
	_, _, err = newTranscripts(&memory{}).extend(t.Context(), "x", nil)
	require.ErrorContains(t, err, "nothing is kept as x")
	_, _, err = newTranscripts(&memory{held: map[string][]byte{"retake/said/x": []byte("{}")}}).extend(t.Context(), "retake/said/x", nil)
	require.ErrorContains(t, err, "does not match its name")
}

func lastKey(s *transcripts) string { return s.order[len(s.order)-1] }

// A long history ends between two turns, and the run does not change.
func TestARunGoesOnInANewHistory(t *testing.T) {
	turns := []looptest.Turn{call("c1", `{"text":1}`), call("c2", `{"text":"b"}`), looptest.Fail(&fault.ProviderError{Class: fault.Overloaded}), looptest.Say("Done.")}
	var once, parts []string
	plain := newBench(t, traced(t, turns, &once), loop.Config{Seed: "s"})
	want, err := plain.run()
	require.NoError(t, err)

	w := traced(t, turns, &parts)
	w.Store = &memory{}
	in := newBench(t, w, loop.Config{Seed: "s"}).order
	var got loop.Result
	histories := 0
	for ; histories < 10; histories++ {
		b := newBench(t, w, loop.Config{})
		b.SetContinueAsNewSuggested(true)
		b.ExecuteWorkflow(b.agent.Agent, over(in))
		again, ok := errors.AsType[*workflow.ContinueAsNewError](b.GetWorkflowError())
		if !ok {
			require.NoError(t, b.GetWorkflowError())
			var out wire[report]
			require.NoError(t, b.GetWorkflowResult(&out))
			got, err = out.v.result()
			require.NoError(t, err)
			break
		}
		var next wire[order]
		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
		in = next.v
	}
	assert.Equal(t, 4, histories)
	assert.Equal(t, once, parts)
	assert.Equal(t, want.Transcript, got.Transcript)
	assert.Equal(t, want.Usage, got.Usage)
	assert.Len(t, got.Attempts, len(want.Attempts))
}

// traced is a worker that records canonical traces of its runs.
func traced(t *testing.T, turns []looptest.Turn, lines *[]string) Worker {
	said := 0
	w := Worker{Model: looptest.NewModel(turns...), Tools: echo(t, say)}
	w.hooks.step = func(ev machine.Event, fx []machine.Effect, st machine.State) {
		line, err := machine.Trace(ev, fx, st.TranscriptFrom(said))
		require.NoError(t, err)
		*lines, said = append(*lines, string(line)), st.TranscriptLen()
	}
	return w
}

// If every worker of a call dies, it is a timeout for the policy, and may have been paid for.
func TestACallWithoutAnOutcomeIsATimeout(t *testing.T) {
	b := newBench(t, Worker{Model: looptest.NewModel(), Deaths: 1}, loop.Config{})
	tries := 0
	b.OnActivity(b.agent.named("model"), anything, anything).Return(func(context.Context, wire[modelCall]) (wire[modelResult], error) {
		if tries++; tries > 2 {
			return over(modelResult{outcome: outcome{Tries: 1},
				Reply: &machine.Reply{Message: looptest.Say("Here.").Reply, Answer: &machine.Answer{}}}), nil
		}
		return wire[modelResult]{}, sdk.NewHeartbeatTimeoutError()
	})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Here.", r.Text)
	require.Len(t, r.Attempts, 2)
	assert.Equal(t, fault.Timeout, r.Attempts[0].Class)
	assert.Equal(t, 1, query[Status](b, QueryStatus).MaybePaid)
}

// A repeated call is no attempt. It counts as one that may have been paid for.
func TestACallThatWasBegunAgainIsNoAttempt(t *testing.T) {
	b := newBench(t, Worker{Model: looptest.NewModel()}, loop.Config{})
	b.OnActivity(b.agent.named("model"), anything, anything).Return(func(context.Context, wire[modelCall]) (wire[modelResult], error) {
		return over(modelResult{outcome: outcome{Tries: 3},
			Reply: &machine.Reply{Message: looptest.Say("Here.").Reply, Answer: &machine.Answer{}}}), nil
	})
	r, err := b.run()
	require.NoError(t, err)
	assert.Len(t, r.Attempts, 1)
	assert.Equal(t, 1, query[Status](b, QueryStatus).MaybePaid)
}

// A model that ignores its context does not block its activity.
func TestAModelThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	released, asked := make(chan struct{}), looptest.NewModel(looptest.Say("Here."))
	defer close(released)
	set := policy.DefaultSet()
	set.Transport.ModelTimeout = new(20 * time.Millisecond)
	b := newBench(t, Worker{Model: loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		if len(asked.Requests()) == 0 {
			_, _ = asked.Reply(ctx, loop.Request{})
			<-released
		}
		return message.Reply{Text: "Here."}, nil
	})}, loop.Config{Policy: &set})
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Here.", r.Text)
	assert.Equal(t, fault.Timeout, r.Attempts[0].Class)
}

func TestQueriesAndUpdates(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	w := Worker{
		Model: looptest.NewModel(looptest.Call(message.Call{ID: "c0", Name: "nothing", Arguments: "{}"}), call("c1", `{"text":"a"}`), looptest.Say("Done.")),
		Tools: echo(t, func(ctx context.Context, _ string) (string, error) {
			if err := tool.Progress(ctx, 0.5); err != nil {
				return "", err
			}
			close(entered)
			<-leave
			return "", ctx.Err()
		}),
	}
	b := newBench(t, w, loop.Config{})
	cancelled := &testsuite.TestUpdateCallback{OnComplete: func(_ any, err error) { assert.NoError(t, err); close(leave) }}
	missing := &testsuite.TestUpdateCallback{OnComplete: func(_ any, err error) { assert.ErrorContains(t, err, `no call of "other" is running`) }}
	unasked := &testsuite.TestUpdateCallback{OnReject: func(err error) { assert.ErrorContains(t, err, "the run does not wait for a plan: it is running") }}
	faulty := &testsuite.TestUpdateCallback{OnReject: func(err error) { assert.ErrorContains(t, err, "max_attempts") }}
	go func() {
		<-entered
		b.RegisterDelayedCallback(func() {
			status := query[Status](b, QueryStatus)
			assert.Equal(t, machine.Running, status.Phase)
			assert.Len(t, status.Running, 1)
			assert.Equal(t, 1, status.Attempts)
			assert.Len(t, query[[]feedback.RetryFeedback](b, QueryFeedback), 1)
			b.UpdateWorkflow(UpdatePlan, "u1", unasked, over(machine.Plan{Do: machine.Abort}))
			b.UpdateWorkflow(UpdateAdjust, "u2", faulty, over(policy.Layer{MaxAttempts: new(0)}))
			b.UpdateWorkflow(UpdateCancel, "u3", missing, "other")
			b.UpdateWorkflow(UpdateCancel, "u4", cancelled, "echo")
		}, 0)
	}()
	r, err := b.run()
	require.NoError(t, err)
	assert.Equal(t, "Done.", r.Text)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", r.Transcript[4].Text)
	status := query[Status](b, QueryStatus)
	assert.Equal(t, machine.Stopped, status.Phase)
	require.NotNil(t, status.Outcome)
	assert.True(t, status.Outcome.OK)
}

// The reducers of a workflow, slow or not, get failures before the next prompt, and the end.
func TestReducersHearOfFailuresAndTheEnd(t *testing.T) {
	for _, slow := range []bool{false, true} {
		var heard []string
		log := session.LogSlice[string]("log")
		hear := func(event string) session.Reducer {
			return session.On(log, event, "of_"+event, func(v reducer.View[string], _ json.RawMessage) (reducer.Change[string], error) {
				heard = append(heard, fmt.Sprint(event, " after ", v.Len()))
				return reducer.Append(event), nil
			})
		}
		model := looptest.NewModel(call("c1", `{"text":7}`), looptest.Say("done"))
		asks := loop.ModelFunc(func(ctx context.Context, req loop.Request) (message.Reply, error) {
			heard = append(heard, "prompt")
			return model.Reply(ctx, req)
		})
		b := newBench(t, Worker{
			Model: asks, Tools: echo(t, say), Slow: slow,
			Session: session.Config{
				Slices: []session.Declared{log}, Reducers: []session.Reducer{hear(session.EventAttemptFailed), hear(session.EventRunEnded)},
			},
		}, loop.Config{})
		_, err := b.run()
		require.NoError(t, err)
		assert.Equal(t, []string{"prompt", "attempt_failed after 0", "prompt", "run_ended after 1"}, heard)
	}
}
