package dbos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	nested "github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// eachUsed is what each reply of the models here takes.
var eachUsed = message.Usage{InputTokens: 100, OutputTokens: 10, APICalls: 1}

// calling is a model that makes a call for each result that it has not, and then says what it was told.
func calling(calls ...message.Call) loop.Model {
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

// both is a model that makes two calls at once.
func both(calls ...message.Call) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		if len(r.Messages) == 1 {
			return message.Reply{Calls: calls, Finish: message.ToolUse, Usage: eachUsed}, nil
		}
		return message.Reply{Text: "Two rooms.", Finish: message.Stop, Usage: eachUsed}, nil
	})
}

func callOf(id, name string) message.Call {
	args := "{}"
	if name == "rooms" || name == "beds" {
		args = `{"task":"Find a room."}`
	}
	return message.Call{ID: id, Name: name, Arguments: args}
}

func toolsOf(t *testing.T, tools ...*tool.Tool) *tool.Set {
	s, err := tool.NewSet(tools...)
	require.NoError(t, err)
	return s
}

func look(f func(context.Context) (string, error), opts ...tool.Option) *tool.Tool {
	return tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) { return f(ctx) }, opts...)
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

// watched gives an agent and those within it a hook.
func (r *traces) watched(a Agent) Agent {
	a.hooks.step = r.step
	a.Agents = append([]AgentTool(nil), a.Agents...)
	for n := range a.Agents {
		a.Agents[n].Agent = r.watched(a.Agents[n].Agent)
	}
	return a
}

// inProcess makes the tools of an agent's agents as a program without DBOS does.
func inProcess(t *testing.T, a Agent) *tool.Set {
	all := a.Config.Tools.All()
	for _, n := range a.Agents {
		n.Config.Tools = inProcess(t, n.Agent)
		made := nested.AsTool
		if n.Handoff {
			made = nested.Handoff
		}
		own, err := made(n.Name, n.Description, n.Model, n.Config)
		require.NoError(t, err)
		all = append(all, own)
	}
	return toolsOf(t, all...)
}

// recordedIn are the steps in the journals of a store.
func recordedIn(t *testing.T, store *looptest.Store) map[string][]string {
	ids, err := store.List(t.Context())
	require.NoError(t, err)
	all := map[string][]string{}
	for _, id := range ids {
		var lines bytes.Buffer
		require.NoError(t, journal.Trace(bytes.NewReader(store.Text(id)), &lines))
		all[id] = strings.Split(strings.TrimSpace(lines.String()), "\n")
	}
	return all
}

// A run with agents makes the same decisions as in process, and so do its agents: also of what they consume,
// what is left for them, what they leave in doubt and how deep they may be.
func TestAgentsDecideAsInProcess(t *testing.T) {
	found := look(func(context.Context) (string, error) { return "R-1", nil })
	unknown := look(func(context.Context) (string, error) { return "", tool.ErrUnknown })
	rooms := func(own Agent) AgentTool {
		own.Name = "rooms"
		return AgentTool{Agent: own, Description: "Finds rooms."}
	}
	finds := Agent{Model: calling(callOf("d1", "look")), Config: loop.Config{Tools: toolsOf(t, found)}}
	few := policy.DefaultSet()
	few.MaxTurns = 1
	spends, priced, budget := policy.DefaultSet(), policy.DefaultSet(), policy.DefaultSet()
	spends.Spending.Run.TotalTokens = new(int64(1000))
	priced.Prices = policy.Prices{"m": {Input: 1_000_000, Output: 2_000_000}}
	budget.Budgets.Run = 1
	empty := Agent{Model: loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{Finish: message.Stop, Usage: eachUsed}, nil
	})}
	many := finds
	many.Model = calling(slices.Repeat([]message.Call{callOf("d1", "look")}, 9)...)
	many.Config.Tools = toolsOf(t, look(func(context.Context) (string, error) { return "R-1", nil }, tool.ReadOnly()))
	fails := finds
	fails.Config.Policy = &few
	doubts := finds
	doubts.Config.Tools = toolsOf(t, unknown)
	deep := Agent{Model: calling(callOf("e1", "rooms")), Agents: []AgentTool{rooms(finds)}}
	handoff := rooms(finds)
	handoff.Handoff = true
	beds := rooms(finds)
	beds.Name = "beds"
	once := calling(callOf("c1", "rooms"))
	for name, a := range map[string]Agent{
		"an answer":         {Model: once, Agents: []AgentTool{rooms(finds)}},
		"no answer":         {Model: once, Agents: []AgentTool{rooms(fails)}},
		"a doubt":           {Model: once, Agents: []AgentTool{rooms(doubts)}},
		"a handoff":         {Model: once, Agents: []AgentTool{handoff}},
		"one in one":        {Model: once, Agents: []AgentTool{rooms(deep)}},
		"too deep":          {Model: once, Agents: []AgentTool{rooms(deep)}, Config: loop.Config{MaxDepth: 1}},
		"two at once":       {Model: both(callOf("c1", "rooms"), callOf("c2", "beds")), Agents: []AgentTool{rooms(finds), beds}, Config: loop.Config{Policy: &spends}},
		"few tokens":        {Model: once, Agents: []AgentTool{rooms(many)}, Config: loop.Config{Policy: &spends}},
		"few attempts":      {Model: once, Agents: []AgentTool{rooms(empty)}, Config: loop.Config{Policy: &budget}},
		"prices":            {Model: once, Agents: []AgentTool{rooms(finds)}, Config: loop.Config{Policy: &priced}},
		"again in doubt":    {Model: calling(callOf("c1", "rooms"), callOf("c1", "rooms")), Agents: []AgentTool{rooms(doubts)}},
		"one after another": {Model: both(callOf("c1", "rooms"), callOf("c2", "beds")), Agents: []AgentTool{rooms(finds), beds}, Parallel: 1},
		"any number":        {Model: both(callOf("c1", "rooms"), callOf("c2", "beds")), Agents: []AgentTool{rooms(finds), beds}, Parallel: math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			var got traces
			var store looptest.Store
			j, err := journal.Open(t.Context(), &store, "order-42", journal.Settings{})
			require.NoError(t, err)
			s, err := session.New(session.Config{ID: "order-42", Journal: j})
			require.NoError(t, err)
			cfg := a.Config
			cfg.Tools = inProcess(t, a)
			l, err := loop.New(a.Model, cfg, loop.WithClock(looptest.NewClock()))
			require.NoError(t, err)
			wanted, wantErr := l.Run(t.Context(), s, loop.Input{Prompt: "Go."})
			require.NoError(t, j.Close())
			want := recordedIn(t, &store)

			c, r := launched(t, "agents_"+strings.ReplaceAll(name, " ", ""), got.watched(a))
			run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
			require.NoError(t, err)
			result, gotErr := run.Result()
			assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr))
			assert.Equal(t, wanted.Transcript, result.Transcript)
			assert.Equal(t, wanted.Usage, result.Usage)
			assert.Equal(t, wanted.Cost, result.Cost)
			assert.Equal(t, wanted.InDoubt, result.InDoubt)
			assert.Equal(t, want, got.all)
			text, err := r.recorded(c, "order-42", "order-42")
			require.NoError(t, err)
			again, _, err := read(text)
			assert.Equal(t, fmt.Sprint(gotErr), fmt.Sprint(err), "the record is read as it was made")
			assert.Equal(t, result, again)
		})
	}
}

const roomsID = "order-42.1.1.1"

// around is an agent whose first reply calls the other one.
func around(own Agent) Agent {
	own.Name = "rooms"
	return Agent{Model: calling(callOf("c1", "rooms")), Agents: []AgentTool{{Agent: own, Description: "Finds rooms."}}}
}

// asks is an agent that asks a person before it pays.
func asks(t *testing.T, done func()) Agent {
	a := paying(t, 0, func(int) { done() }, "1")
	a.Model = calling(message.Call{ID: "d1", Name: "pay", Arguments: `{"amount":1}`})
	return a
}

// A question that an agent asks is answered under the id of its run.
func TestAPersonAnswersAnAgent(t *testing.T) {
	paid := 0
	c, r := launched(t, "agentasks", around(asks(t, func() { paid++ })))
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	q := asked(t, c, roomsID)
	require.ErrorIs(t, Answer(c, roomsID, machine.Response{Question: q.ID + "x", Verdict: machine.Approve}, time.Minute), machine.ErrOtherArguments)
	require.NoError(t, Answer(c, roomsID, machine.Response{Question: q.ID, Verdict: machine.Approve}, time.Minute))
	result, err := run.Result()
	require.NoError(t, err)
	assert.Equal(t, 1, paid)
	assert.Equal(t, "paid is free. is free.", result.Text)
	require.ErrorIs(t, Answer(c, roomsID, machine.Response{Question: q.ID, Verdict: machine.Approve}, time.Minute), loop.ErrNobodyAsks)
}

// A run that is cancelled with its agents has a report at once. Nobody can answer its agent any more.
func TestACancelledRunTakesItsAgentsAlong(t *testing.T) {
	c, r := launched(t, "agentcancelled", around(asks(t, func() { t.Error("paid") })))
	_, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	q := asked(t, c, roomsID)
	run, err := r.Get(c, "order-42")
	require.NoError(t, err)
	require.NoError(t, run.Cancel())
	result, x := exhaustion(t, run)
	assert.Equal(t, policy.ReasonCancelled, x.Reason)
	assert.Len(t, result.InDoubt, 1, "the call of the agent")
	assert.Contains(t, result.Transcript[2].Text, "may or may not have happened")
	require.ErrorIs(t, Answer(c, roomsID, machine.Response{Question: q.ID, Verdict: machine.Approve}, time.Minute), loop.ErrNobodyAsks)
}

// An agent has the deadline of the run around it.
func TestAnAgentEndsAtTheDeadlineOfTheRunAroundIt(t *testing.T) {
	under, never := make(chan bool, 1), make(chan bool)
	t.Cleanup(func() { close(never) })
	own := Agent{Model: calling(callOf("d1", "look")), Config: loop.Config{Tools: toolsOf(t, look(func(context.Context) (string, error) {
		under <- true
		<-never
		return "", nil
	}))}}
	inner, late := atDeadline(own)
	outer := around(inner)
	outer.hooks = inner.hooks
	c, r := launched(t, "agentdeadline", outer)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go.", Deadline: looptest.Epoch.Add(time.Minute)})
	require.NoError(t, err)
	<-under
	late()
	result, x := exhaustion(t, run)
	assert.Equal(t, policy.ReasonDeadline, x.Reason)
	assert.Len(t, result.InDoubt, 1)
	made, err := Get(c, roomsID)
	require.NoError(t, err)
	result, x = exhaustion(t, made)
	assert.Equal(t, policy.ReasonDeadline, x.Reason)
	assert.Len(t, result.InDoubt, 1)
}

// A call of an agent that takes too long is a timeout, and is not made again. What it consumed counts.
func TestAnAgentHasTheTimeOfItsCall(t *testing.T) {
	under, never := make(chan bool, 1), make(chan bool)
	t.Cleanup(func() { close(never) })
	inner, late := atDeadline(Agent{Model: calling(callOf("d1", "look")), Config: loop.Config{Tools: toolsOf(t, look(func(context.Context) (string, error) {
		under <- true
		<-never
		return "", nil
	}, tool.ReadOnly()))}})
	outer := around(inner)
	set := policy.DefaultSet()
	set.Transport.ToolTimeout = new(time.Minute)
	outer.Config.Policy, outer.hooks = &set, inner.hooks
	c, r := launched(t, "agenttimeout", outer)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	<-under
	late()
	result, err := run.Result()
	require.NoError(t, err)
	require.Len(t, result.ToolFailures, 1)
	assert.Equal(t, fault.Timeout, result.ToolFailures[0].Class)
	assert.EqualValues(t, 3, result.Usage.APICalls, "two of the run, and one of the agent")
}

// If a call ends the run, the agents of the same reply are cancelled.
func TestTheEndOfARunEndsItsAgents(t *testing.T) {
	began := make(chan bool, 1)
	own := asks(t, func() { t.Error("paid") })
	own.Name = "rooms"
	stops := policy.DefaultSet()
	stops.Global.OnReducerError = policy.ReducerStopsRun
	said := session.StateSlice[string]("said")
	a := Agent{
		Model:  both(callOf("c1", "look"), callOf("c2", "rooms")),
		Agents: []AgentTool{{Agent: own, Description: "Finds rooms."}},
		Config: loop.Config{Policy: &stops, Tools: toolsOf(t, look(func(context.Context) (string, error) {
			<-began
			return "R-1", nil
		}))},
		Session: session.Config{Slices: []session.Declared{said}, Reducers: []session.Reducer{
			session.On(said, session.EventToolResult, "limit", func(reducer.View[string], session.ToolResultEvent) (reducer.Change[string], error) {
				return reducer.Change[string]{}, errors.New("over budget")
			}),
		}},
	}
	c, r := launched(t, "agentleft", a)
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Go."})
	require.NoError(t, err)
	id := "order-42.1.1.2"
	asked(t, c, id)
	began <- true
	result, x := exhaustion(t, run)
	assert.Equal(t, policy.ReasonReducerError, x.Reason)
	require.Len(t, result.InDoubt, 1)
	assert.Equal(t, "rooms", result.InDoubt[0].Tool)
	made, err := Get(c, id)
	require.NoError(t, err)
	_, err = made.Result()
	require.ErrorIs(t, err, sdk.ErrAwaitedWorkflowCancelled)
}

// What is wrong with an agent of an agent is found before a run.
func TestAgentsAreChecked(t *testing.T) {
	model := looptest.NewModel()
	named := func(a Agent) Agent {
		a.Name = "rooms"
		return Agent{Model: model, Agents: []AgentTool{{Agent: a}}}
	}
	twice := named(Agent{Model: model})
	twice.Config.Tools = toolsOf(t, tool.New("rooms", "Finds.", func(context.Context, struct{}) (string, error) { return "", nil }))
	for want, a := range map[string]Agent{
		"one has no name":                  {Model: model, Agents: []AgentTool{{Agent: Agent{Model: model}}}},
		`"rooms": dbos: model: is nil`:     named(Agent{}),
		`"rooms": calls_only: nobody runs`: named(Agent{Model: model, Config: loop.Config{CallsOnly: true}}),
		`"rooms" is given twice`:           twice,
	} {
		require.ErrorContains(t, a.Validate(), "agents: ", want)
		require.ErrorContains(t, a.Validate(), want)
	}
}

// A process that has lost its run to another one, which recovers all runs of its executor id, leaves the
// agents of the run as they are: the other process goes on with them.
func TestAProcessThatLostItsRunCancelsNoAgent(t *testing.T) {
	asked, answers := make(chan bool), make(chan bool)
	looked, looks, left := make(chan bool), make(chan bool), make(chan bool)
	free := Agent{Name: "rooms", Model: loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		asked <- true
		<-answers
		return message.Reply{Text: "Room 7 is free.", Finish: message.Stop}, ctx.Err()
	})}
	tools := toolsOf(t, look(func(context.Context) (string, error) {
		looked <- true
		<-looks
		return "nothing", nil
	}), tool.New("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		close(left)
		return "", ctx.Err()
	}))
	c, r := launched(t, "lost", Agent{
		Model:  both(callOf("c1", "look"), callOf("c2", "rooms"), callOf("c3", "wait")),
		Config: loop.Config{Tools: tools}, Agents: []AgentTool{{Agent: free, Description: "Finds rooms."}},
	})
	_, err := r.Start(c, "order-42", loop.Input{Prompt: "Two rooms."})
	require.NoError(t, err)
	<-looked
	<-asked
	pool, err := Pool(t.Context(), database(t))
	require.NoError(t, err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), "UPDATE lost.workflow_status SET owner_xid = 'another' WHERE workflow_uuid = 'order-42'")
	require.NoError(t, err)
	looks <- true
	<-left
	close(answers)
	agent, err := Get(c, "order-42.1.1.2")
	require.NoError(t, err)
	result, err := agent.Result()
	require.NoError(t, err)
	assert.Equal(t, "Room 7 is free.", result.Text)
}
