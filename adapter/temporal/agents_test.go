package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	nested "github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

const find = `{"task":"Find a room."}`

// eachUsed is what each reply of a test's models takes.
var eachUsed = message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}

// steps is a model that makes a call for each result that it has not, and then says what it has.
func steps(calls ...message.Call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		results := 0
		for _, m := range r.Messages {
			if m.Role == message.Tool {
				results++
			}
		}
		if results < len(calls) {
			return message.Reply{Model: "m", Calls: calls[results : results+1], Finish: message.ToolUse, Usage: eachUsed}, nil
		}
		return message.Reply{Model: "m", Text: r.Messages[len(r.Messages)-1].Text + " is free.", Finish: message.Stop, Usage: eachUsed}, nil
	})
}

// saying is a model that says one text after another until one is accepted.
func saying(texts ...string) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Model: "m", Text: texts[r.At[0].Attempt-1], Finish: message.Stop, Usage: eachUsed}, nil
	})
}

func callOf(name, arguments string) message.Call {
	return message.Call{ID: "call", Name: name, Arguments: arguments}
}

// look is a tool of an agent.
func look(f func(context.Context) (string, error), opts ...tool.Option) *tool.Tool {
	return tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) { return f(ctx) }, opts...)
}

func found(context.Context) (string, error) { return "R-1", nil }

func setOf(t *testing.T, tools ...*tool.Tool) *tool.Set {
	t.Helper()
	s, err := tool.NewSet(tools...)
	require.NoError(t, err)
	return s
}

// traces are the steps of runs by the ids of their sessions.
type traces struct {
	mu   sync.Mutex
	said map[string]int
	all  map[string][]string
}

func (r *traces) step(ev machine.Event, effects []machine.Effect, st machine.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all, r.said = map[string][]string{}, map[string]int{}
	}
	id := st.Session.ID()
	line, err := machine.Trace(ev, effects, st.TranscriptFrom(r.said[id]))
	if err != nil {
		line = []byte(err.Error())
	}
	r.said[id] = st.TranscriptLen()
	r.all[id] = append(r.all[id], string(line))
}

// traced gives the agents a hook, also those of agents.
func (r *traces) of(all []Agent) []Agent {
	own := make([]Agent, len(all))
	for n, a := range all {
		a.hooks.step, a.Agents = r.step, r.of(a.Agents)
		own[n] = a
	}
	return own
}

// inProcessTools makes tools of agents as a program without Temporal does.
func inProcessTools(t *testing.T, w Worker) *tool.Set {
	t.Helper()
	all := w.Tools.All()
	for _, a := range w.Agents {
		cfg := a.Config
		cfg.Tools = inProcessTools(t, a.Worker)
		made := nested.AsTool
		if a.Handoff {
			made = nested.Handoff
		}
		own, err := made(a.Agent, a.Description, a.Model, cfg)
		require.NoError(t, err)
		all = append(all[:len(all):len(all)], own)
	}
	return setOf(t, all...)
}

// inProcess makes the run of a worker in process, and those of its agents within it.
func inProcess(t *testing.T, w Worker, cfg loop.Config, made *traces) (loop.Result, error) {
	t.Helper()
	var store looptest.Store
	j, err := journal.Open(t.Context(), &store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42", Journal: j})
	require.NoError(t, err)
	cfg.Tools = inProcessTools(t, w)
	l, err := loop.New(w.Model, cfg, loop.WithClock(looptest.NewClock()), loop.WithParallel(w.withDefaults().Parallel))
	require.NoError(t, err)
	r, ended := l.Run(t.Context(), s, loop.Input{Prompt: "Hello."})
	require.NoError(t, j.Close())
	made.all = map[string][]string{}
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		var lines bytes.Buffer
		require.NoError(t, journal.Trace(bytes.NewReader(store.Text(id)), &lines))
		made.all[id] = strings.Split(strings.TrimSpace(lines.String()), "\n")
	}
	return r, ended
}

// An agent that is a tool makes in a child workflow what it makes in process, and so does the run around it.
func TestAnAgentInAChildWorkflowMakesTheSame(t *testing.T) {
	type room struct {
		ID string `json:"id"`
	}
	answer, err := schema.For[room]()
	require.NoError(t, err)
	one, bounded, priced, few := policy.DefaultSet(), policy.DefaultSet(), policy.DefaultSet(), policy.DefaultSet()
	one.MaxTurns = 1
	bounded.Spending.Run.TotalTokens = new(int64(1000))
	priced.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 2_000_000}}
	few.Budgets.Run = 1
	unsure := look(func(context.Context) (string, error) { return "", errors.New("no answer") })
	scout := func(w Worker, cfg loop.Config) Agent {
		w.Agent = "scout"
		return Agent{Worker: w, Description: "Finds rooms.", Config: cfg}
	}
	call := callOf("look", `{}`)
	ask := steps(callOf("scout", find))
	plain := scout(Worker{Model: steps(call), Tools: setOf(t, look(found))}, loop.Config{})
	handoff := plain
	handoff.Handoff = true
	typed := scout(Worker{Model: saying("none", `{"id":"R-1"}`)}, loop.Config{Output: answer.Schema()})
	guide := Agent{Worker: Worker{Agent: "guide", Model: ask, Agents: []Agent{plain}}, Description: "Guides."}
	twice := loop.ModelFunc(func(ctx context.Context, r loop.Request) (message.Reply, error) {
		if len(r.Messages) > 1 {
			return message.Reply{Text: "Done.", Finish: message.Stop, Usage: eachUsed}, nil
		}
		second := callOf("scout", `{"task":"Find another."}`)
		second.ID = "second"
		return message.Reply{Calls: []message.Call{callOf("scout", find), second}, Finish: message.ToolUse, Usage: eachUsed}, nil
	})
	for name, c := range map[string]struct {
		worker Worker
		cfg    loop.Config
	}{
		"an answer":            {Worker{Model: ask, Agents: []Agent{plain}}, loop.Config{}},
		"two at once":          {Worker{Model: twice, Agents: []Agent{plain}, Parallel: 2}, loop.Config{Policy: &bounded}},
		"a structured answer":  {Worker{Model: ask, Agents: []Agent{typed}}, loop.Config{}},
		"a handoff":            {Worker{Model: ask, Agents: []Agent{handoff}}, loop.Config{}},
		"two levels":           {Worker{Model: steps(callOf("guide", find)), Agents: []Agent{guide}}, loop.Config{}},
		"too deep":             {Worker{Model: steps(callOf("guide", find)), Agents: []Agent{guide}}, loop.Config{MaxDepth: 1}},
		"no answer":            {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: steps(call, call), Tools: setOf(t, look(found))}, loop.Config{Policy: &one})}}, loop.Config{}},
		"no answer to a user":  {Worker{Model: ask, Agents: []Agent{{handoff.Worker, "Finds.", loop.Config{Policy: &one}, true}}}, loop.Config{}},
		"no answer, and doubt": {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: steps(call, call), Tools: setOf(t, unsure)}, loop.Config{Policy: &one})}}, loop.Config{}},
		"an answer and doubt":  {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: steps(call), Tools: setOf(t, unsure)}, loop.Config{})}}, loop.Config{}},
		"again in doubt": {Worker{Model: steps(callOf("scout", find), callOf("scout", find)), Agents: []Agent{
			scout(Worker{Model: steps(call, call), Tools: setOf(t, unsure)}, loop.Config{Policy: &one})}}, loop.Config{}},
		"prices":           {Worker{Model: ask, Agents: []Agent{plain}}, loop.Config{Policy: &priced}},
		"few tokens":       {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: steps(call, call, call, call, call, call, call, call, call), Tools: setOf(t, look(found, tool.ReadOnly()))}, loop.Config{})}}, loop.Config{Policy: &bounded}},
		"few attempts":     {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: saying("", "", "R-1")}, loop.Config{})}}, loop.Config{Policy: &few}},
		"a reply that won": {Worker{Model: ask, Agents: []Agent{scout(Worker{Model: saying("", "R-1")}, loop.Config{})}}, loop.Config{}},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got traces
			wanted, wantErr := inProcess(t, c.worker, c.cfg, &want)
			c.worker.hooks.step, c.worker.Agents = got.step, got.of(c.worker.Agents)
			b := newBench(t, c.worker, c.cfg)
			r, err := b.run()
			assert.Equal(t, want.all, got.all)
			assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(err))
			assert.Equal(t, wanted.Transcript, r.Transcript)
			assert.Equal(t, wanted.Usage, r.Usage)
			assert.Equal(t, wanted.Cost, r.Cost)
			assert.Equal(t, wanted.InDoubt, r.InDoubt)
			assert.Equal(t, wanted.Text, r.Text)
		})
	}
}

// scouting is a run around an agent.
func scouting(w Worker, cfg loop.Config) Worker {
	w.Agent = "scout"
	return Worker{Model: steps(callOf("scout", find)), Agents: []Agent{{Worker: w, Description: "Finds rooms.", Config: cfg}}}
}

const scoutID = "order-42.1.1.1"

// A question that an agent asks is found by the status of the run around it, and answered in its own.
func TestAPersonAnswersAnAgent(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.Approval = &policy.Approval{When: policy.ApproveAlways}
	looked := 0
	w := scouting(Worker{Model: steps(callOf("look", `{}`)), Tools: setOf(t, look(func(context.Context) (string, error) {
		looked++
		return "R-1", nil
	}))}, loop.Config{Policy: &set})
	b := newBench(t, w, loop.Config{})
	told := make(chan error, 1)
	b.RegisterDelayedCallback(func() {
		around := query[Status](b, QueryStatus)
		assert.Equal(t, machine.Running, around.Phase)
		assert.Len(t, around.Running, 1)
		require.Equal(t, []string{scoutID}, around.Agents)
		assert.Equal(t, scoutID, machine.ChildID(around.Session, around.Run, around.Turn, around.Running[0].Index))
		v, err := b.QueryWorkflowByID(around.Agents[0], QueryStatus)
		require.NoError(t, err)
		var inner wire[Status]
		require.NoError(t, v.Get(&inner))
		require.Len(t, inner.v.Asking, 1)
		answer := machine.Response{Question: inner.v.Asking[0].ID, Verdict: machine.Approve, By: "Ann"}
		require.NoError(t, b.UpdateWorkflowByID(around.Agents[0], UpdateAnswer, "u1",
			&testsuite.TestUpdateCallback{OnComplete: func(_ any, err error) { told <- err }}, over(answer)))
	}, time.Hour)
	r, err := b.run()
	require.NoError(t, err)
	require.NoError(t, <-told)
	assert.Equal(t, "R-1 is free. is free.", r.Text)
	assert.Equal(t, 1, looked)
	assert.Empty(t, query[Status](b, QueryStatus).Agents)
}

// patient is an agent whose first call waits for long, by the policy.
func patient(t *testing.T) Worker {
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if len(r.Messages) == 1 {
			return message.Reply{Calls: []message.Call{callOf("look", `{}`)}, Finish: message.ToolUse, Usage: eachUsed}, nil
		}
		return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: 50 * time.Second}
	})
	return scouting(Worker{Model: model, Tools: setOf(t, look(found, tool.ReadOnly()))}, loop.Config{})
}

// ends are the reasons for which runs ended, by their ids.
func (r *traces) ends(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all[id]
	for _, line := range all {
		if _, end, found := strings.Cut(line, `"reason":"`); found && strings.Contains(line, `"kind":"stop"`) {
			reason, _, _ := strings.Cut(end, `"`)
			return reason
		}
	}
	return "no end: " + strings.Join(all, "\n")
}

// The end of a run ends its agents. One whose call is cancelled reports what it consumed until then.
func TestTheEndOfARunEndsItsAgents(t *testing.T) {
	for name, c := range map[string]struct {
		ends  func(b *bench)
		inner policy.Reason
		goes  bool
	}{
		"the run is cancelled": {ends: func(b *bench) { b.CancelWorkflow() }, inner: policy.ReasonCancelled},
		"the call is cancelled": {ends: func(b *bench) { b.UpdateWorkflow(UpdateCancel, "u1", &testsuite.TestUpdateCallback{}, "scout") },
			inner: policy.ReasonCancelled, goes: true},
		"the agent is cancelled":                        {ends: func(b *bench) { b.CancelWorkflowByID(scoutID, "") }, inner: policy.ReasonCancelled, goes: true},
		"its wait does not fit the deadline of the run": {inner: policy.ReasonDeadline, goes: true},
	} {
		t.Run(name, func(t *testing.T) {
			var made traces
			w := patient(t)
			w.Agents = made.of(w.Agents)
			b := newBench(t, w, loop.Config{})
			b.SetStartTime(looptest.Epoch)
			if c.ends == nil {
				b.order.Config.Deadline = looptest.Epoch.Add(30 * time.Second)
			} else {
				b.RegisterDelayedCallback(func() { c.ends(b) }, 20*time.Second)
			}
			r, err := b.run()
			if assert.Equal(t, string(c.inner), made.ends(scoutID)); !c.goes {
				assert.ErrorIs(t, err, policy.ReasonCancelled)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, r.Text, "The agent came to no answer: "+c.inner.Phrase()+". Its tools gave results: look.")
			assert.Equal(t, int64(300), r.Usage.InputTokens, "one reply inside, and two outside")
		})
	}
}

// A run of an agent that cannot go on is a call that failed, in doubt. What it consumed is counted.
func TestAnAgentThatCannotGoOnIsInDoubtAndPaidFor(t *testing.T) {
	large := strings.Repeat("x", 9000)
	model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if len(r.Messages) == 1 {
			return message.Reply{Calls: []message.Call{callOf("look", `{}`)}, Finish: message.ToolUse, Usage: eachUsed}, nil
		}
		return message.Reply{Text: large, Finish: message.Stop, Usage: eachUsed}, nil
	})
	for name, c := range map[string]struct {
		limit int
		prior func(*bench)
		used  int64
		class fault.Class
	}{
		"its reply is too large":  {limit: 8000, used: 300, class: fault.ToolExecution},
		"its report is too large": {limit: 11_000, used: 400, class: fault.ToolExecution},
		"it was terminated": {prior: func(b *bench) {
			b.OnWorkflow("retake.scout", anything, anything).Return(wire[report]{}, errors.New("terminated"))
		}, used: 200, class: fault.ToolExecution},
		"it took too long": {prior: func(b *bench) {
			b.OnWorkflow("retake.scout", anything, anything).Return(wire[report]{}, sdk.NewTimeoutError(enumspb.TIMEOUT_TYPE_START_TO_CLOSE, nil))
		}, used: 200, class: fault.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scouting(Worker{Model: model, Tools: setOf(t, look(found)), MaxPayload: c.limit}, loop.Config{}), loop.Config{})
			if c.prior != nil {
				c.prior(b)
			}
			r, err := b.run()
			require.NoError(t, err)
			assert.Equal(t, "The call failed, and its effect may or may not have happened. is free.", r.Text)
			assert.Equal(t, c.used, r.Usage.InputTokens)
			assert.Len(t, r.InDoubt, 1)
			require.Len(t, r.ToolFailures, 1)
			assert.Equal(t, c.class, fault.FailureOf(r.ToolFailures[0].Err).Class)
		})
	}
}

// The id of an agent's run is taken by one of an earlier workflow of the session, which still runs: the call
// is made again later, as in process.
func TestAnAgentThatStillRunsElsewhereIsTriedLater(t *testing.T) {
	b := newBench(t, scouting(Worker{Model: steps()}, loop.Config{}), loop.Config{})
	c := child{id: scoutID, err: &sdk.ChildWorkflowExecutionAlreadyStartedError{}}
	c.State.Batch = &machine.Batch{Calls: []*machine.BatchCall{{}}}
	c.Run.Tool, c.Run.Arguments = "scout", []byte(find)
	out := b.agent.ended(&c)
	assert.Equal(t, machine.TryLater, out.End.Verdict)
}

// A run that continues in a new history knows the agents of the old one.
func TestAgentsAreKnownInANewHistory(t *testing.T) {
	looked := 0
	one := policy.DefaultSet()
	one.MaxTurns = 1
	w := scouting(Worker{Model: steps(callOf("look", `{}`), callOf("look", `{}`)), Tools: setOf(t, look(func(context.Context) (string, error) {
		looked++
		return "", errors.New("no answer")
	}))}, loop.Config{Policy: &one})
	w.Model = steps(callOf("scout", find), callOf("scout", find))
	in := newBench(t, w, loop.Config{}).order
	for histories := 0; ; histories++ {
		require.Less(t, histories, 10)
		b := newBench(t, w, loop.Config{})
		b.SetContinueAsNewSuggested(true)
		b.ExecuteWorkflow(b.agent.Agent, over(in))
		again, ok := errors.AsType[*workflow.ContinueAsNewError](b.GetWorkflowError())
		if ok {
			var next wire[order]
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &next))
			in = next.v
			continue
		}
		require.NoError(t, b.GetWorkflowError())
		var out wire[report]
		require.NoError(t, b.GetWorkflowResult(&out))
		r, err := out.v.result()
		require.NoError(t, err)
		assert.Positive(t, histories)
		assert.Equal(t, 1, looked, "the second call is the first again")
		assert.Equal(t, r.Transcript[2].Text, r.Transcript[4].Text)
		assert.Equal(t, int64(400), r.Usage.InputTokens)
		return
	}
}

// What is wrong with an agent is said when its worker is registered, with its name.
func TestWhatIsWrongWithAnAgentIsSaidAtOnce(t *testing.T) {
	for want, change := range map[string]func(*Agent){
		"agents: one has no name":                         func(a *Agent) { a.Agent = "" },
		`agents: "scout": model: is nil`:                  func(a *Agent) { a.Model = nil },
		`agents: "scout": tools: must be nil`:             func(a *Agent) { a.Config.Tools = a.Tools },
		`agents: "scout": calls_only: nobody runs`:        func(a *Agent) { a.Config.CallsOnly = true },
		`agents: "scout": max_depth: -1`:                  func(a *Agent) { a.Config.MaxDepth = -1 },
		`agents: "scout": parallel: must be`:              func(a *Agent) { a.Parallel = -1 },
		`agents: "scout": agents: one has no name`:        func(a *Agent) { a.Agents = []Agent{{}} },
		`agents: "sc out": agent: "retake.sc out" is the`: func(a *Agent) { a.Agent = "sc out" },
		`"scout" is given twice`:                          func(*Agent) {},
	} {
		t.Run(want, func(t *testing.T) {
			w := scouting(Worker{Model: steps(), Tools: setOf(t, look(found))}, loop.Config{})
			if change(&w.Agents[0]); strings.HasSuffix(want, "twice") {
				w.Agents = append(w.Agents, w.Agents[0])
			}
			assert.ErrorContains(t, w.Validate(), want)
		})
	}
}
