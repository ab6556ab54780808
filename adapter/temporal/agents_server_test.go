//go:build temporal

package temporal_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// clerk is an agent that looks something up and then pays, if a person approves it.
func clerk(takes func(ctx context.Context, what string)) temporal.Agent {
	look := tool.New("look", "Looks.", func(ctx context.Context, _ struct{}) (string, error) {
		takes(ctx, "look")
		return "R-1", nil
	}, tool.Idempotent())
	pay := tool.New("pay", "Pays.", func(context.Context, struct{}) (string, error) { return "paid", nil })
	tools, err := tool.NewSet(look, pay)
	if err != nil {
		panic(err)
	}
	set := policy.DefaultSet()
	set.Tools = map[string]policy.Layer{"pay": {Approval: &policy.Approval{When: policy.ApproveAlways}}}
	w := temporal.Worker{Agent: "clerk", Model: oneAfterAnother("look", "pay"), Tools: tools, Heartbeat: 2 * time.Second}
	return temporal.Agent{Worker: w, Description: "Books.", Config: loop.Config{Policy: &set}}
}

// oneAfterAnother is a model that makes a call for each result that it has not, and then says what it has.
func oneAfterAnother(tools ...string) loop.Model {
	return loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == message.Tool {
				n++
			}
		}
		used := message.Usage{InputTokens: 10, OutputTokens: 1, APICalls: 1}
		if n == len(tools) {
			return message.Reply{Text: "It says: " + r.Messages[len(r.Messages)-1].Text, Finish: message.Stop, Usage: used}, nil
		}
		arguments := `{}`
		if tools[n] == "clerk" {
			arguments = `{"task":"Book it."}`
		}
		call := message.Call{ID: tools[n], Name: tools[n], Arguments: arguments}
		return message.Reply{Calls: []message.Call{call}, Finish: message.ToolUse, Usage: used}, nil
	})
}

// booked is a worker with an agent.
func booked(takes func(ctx context.Context, what string)) temporal.Worker {
	return temporal.Worker{Agent: "booking", Model: oneAfterAnother("clerk"), Agents: []temporal.Agent{clerk(takes)}}
}

// bookedInProcess are the traces of the run and of its agent's in process.
func bookedInProcess(t *testing.T, id string) (traces map[string]string) {
	of := clerk(func(context.Context, string) {})
	cfg := of.Config
	cfg.Tools = of.Tools
	made, err := agent.AsTool("clerk", of.Description, of.Model, cfg)
	require.NoError(t, err)
	tools, err := tool.NewSet(made)
	require.NoError(t, err)
	approves := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.Approve, By: "Ann"}, nil
	}
	l, err := loop.New(oneAfterAnother("clerk"), loop.Config{Tools: tools}, loop.WithClock(looptest.NewClock()), loop.WithApprover(approves))
	require.NoError(t, err)
	var store looptest.Store
	j, err := journal.Open(t.Context(), &store, id, journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: id, Journal: j})
	require.NoError(t, err)
	_, err = l.Run(t.Context(), s, loop.Input{Prompt: "Book."})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return map[string]string{id: trace(t, store.Text(id)), id + ".1.1.1": trace(t, store.Text(id+".1.1.1"))}
}

func trace(t *testing.T, doc []byte) string {
	var made strings.Builder
	require.NoError(t, journal.Trace(bytes.NewReader(doc), &made))
	return made.String()
}

// begins starts a run, and returns its agent's once that asks a person.
func begins(t *testing.T, c client.Client, id string, meanwhile func()) (outer, inner *temporal.Handle, asked machine.Ask) {
	order := temporal.Options{ID: id, TaskQueue: queue, Agent: "booking"}
	outer, err := temporal.Start(t.Context(), c, order, loop.Input{Prompt: "Book."}, loop.Config{})
	require.NoError(t, err)
	meanwhile()
	until(t, "the agent asks", func() bool {
		around, err := outer.Status(t.Context())
		require.NoError(t, err)
		if len(around.Agents) == 0 {
			return false
		}
		inner = temporal.Get(t.Context(), c, around.Agents[0])
		status, err := inner.Status(t.Context())
		if err == nil && len(status.Asking) == 1 { // it may not have begun
			asked = status.Asking[0]
		}
		return asked.ID != ""
	})
	return outer, inner, asked
}

// An agent in a child workflow goes on when its worker is killed in its tool, and is answered in its own
// workflow. It and the run around it make what they make in process. The end of that run ends it.
func TestAnAgentOutlivesItsWorker(t *testing.T) {
	s := newServer(t)
	c := s.dial()
	w := startWorker(t, s.address)
	outer, inner, asked := begins(t, c, "trip", func() {
		require.True(t, w.killIn("look"))
		w = startWorker(t, s.address)
		readerOf(w)
	})
	t.Cleanup(func() { w.kill() })
	assert.Equal(t, "trip.1.1.1", inner.ID())
	require.NoError(t, inner.Answer(t.Context(), machine.Response{Question: asked.ID, Verdict: machine.Approve, By: "Ann"}))
	r, err := outer.Result(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "It says: It says: paid", r.Text)
	assert.Equal(t, int64(50), r.Usage.InputTokens)
	own, err := inner.Result(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "It says: paid", own.Text)
	status, err := inner.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, status.MaybePaid, "the worker died in a call")
	for id, want := range bookedInProcess(t, "trip") {
		histories, err := temporal.Histories(t.Context(), c, id)
		require.NoError(t, err)
		require.NoError(t, temporal.Export{}.Replay(histories))
		var doc bytes.Buffer
		require.NoError(t, temporal.Export{}.Journal(t.Context(), histories, &doc))
		assert.Equal(t, want, trace(t, doc.Bytes()), id)
	}

	outer, inner, _ = begins(t, c, "stay", func() {})
	require.NoError(t, outer.Cancel(t.Context()))
	_, err = outer.Result(t.Context())
	require.ErrorIs(t, err, policy.ReasonCancelled)
	_, err = inner.Result(t.Context())
	require.ErrorIs(t, err, policy.ReasonCancelled)
}
