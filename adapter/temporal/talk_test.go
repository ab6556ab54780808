//go:build temporal

package temporal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/retake-go/retake/adapter/temporal"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/reducer"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// until asks again until the answer is yes, or the test's time is over.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	over := time.NewTimer(time.Minute)
	defer over.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-over.C:
			t.Fatal("it never came to it: " + what)
		}
	}
}

// A run on a real server is watched and changed: a tool reports progress and is cancelled, events are
// dispatched, the policy is adjusted, and a person plans.
func TestARunIsTalkedTo(t *testing.T) {
	c := newServer(t).dial()
	notes := session.LogSlice[string]("notes")
	take := session.On(notes, "note", "notes", func(_ reducer.View[string], text string) (reducer.Change[string], error) {
		if text == "" {
			return reducer.Change[string]{}, errors.New("an empty note")
		}
		return reducer.Append(text), nil
	})
	slow := tool.New("slow", "Takes its time.", func(ctx context.Context, _ struct{}) (string, error) {
		if err := tool.Progress(ctx, map[string]int{"done": 40}); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	tools, err := tool.NewSet(slow)
	require.NoError(t, err)
	gone := looptest.Fail(&fault.ProviderError{Class: fault.Auth, Provider: "example", Message: "bad key"})
	w := worker.New(c, queue, worker.Options{})
	require.NoError(t, temporal.Register(w, temporal.Worker{
		Model:  looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "slow", Arguments: "{}"}), gone),
		Models: map[string]loop.Model{"backup": looptest.NewModel(looptest.Say("Here."))},
		Tools:  tools, Heartbeat: time.Second,
		Session: session.Config{Slices: []session.Declared{notes}, Reducers: []session.Reducer{take}},
	}))
	require.NoError(t, w.Start())
	defer w.Stop()
	ctx := t.Context()
	h, err := temporal.Start(ctx, c, temporal.Options{ID: "talk", TaskQueue: queue, Person: true, SearchAttributes: true}, loop.Input{Prompt: "Hello."}, loop.Config{})
	require.NoError(t, err)

	until(t, "progress", func() bool {
		all, err := h.Progress(ctx)
		require.NoError(t, err)
		return len(all) == 1 && string(all[0].Progress) == `{"done":40}`
	})
	status, err := h.Status(ctx)
	require.NoError(t, err)
	assert.Equal(t, machine.Running, status.Phase)
	require.Len(t, status.Running, 1)
	require.ErrorContains(t, h.Plan(ctx, machine.Plan{Do: machine.Abort}), "the run does not wait for a plan")
	event, err := session.NewEvent("note", "patience")
	require.NoError(t, err)
	require.NoError(t, h.Dispatch(ctx, event))
	var refused *fault.ReducerError
	require.ErrorAs(t, h.Dispatch(ctx, session.Event{Name: "note", Payload: json.RawMessage(`""`)}), &refused)
	assert.Equal(t, "an empty note", refused.Message)
	require.NoError(t, h.Adjust(ctx, policy.Layer{MaxAttempts: new(9)}))
	require.NoError(t, h.CancelAction(ctx, "slow"))

	until(t, "a plan is asked for", func() bool {
		status, err = h.Status(ctx)
		require.NoError(t, err)
		return status.Phase == machine.Planning
	})
	require.NotNil(t, status.Planning)
	require.ErrorContains(t, h.Plan(ctx, machine.Plan{Do: machine.Fallback, Model: "large"}), `the plan's model: "large" is not one of the run's models ["backup"]`)
	require.ErrorContains(t, h.Plan(ctx, machine.Plan{Do: machine.Fallback, Policy: &policy.Layer{MaxAttempts: new(0)}}), "the plan's policy: ")
	require.NoError(t, h.Plan(ctx, machine.Plan{Do: machine.Fallback, Model: "backup"}))
	r, err := temporal.Get(ctx, c, "talk").Result(ctx)
	require.NoError(t, err)
	assert.Equal(t, "Here.", r.Text)

	errs, err := h.ReducerErrors(ctx)
	require.NoError(t, err)
	assert.Len(t, errs, 1)
	attempts, err := h.Attempts(ctx)
	require.NoError(t, err)
	assert.Equal(t, len(r.Attempts), len(attempts))
	held, err := h.Session(ctx)
	require.NoError(t, err)
	st, err := session.ParseState(held)
	require.NoError(t, err)
	assert.Equal(t, 1, session.View(st, notes).Len())
	histories, err := temporal.Histories(ctx, c, "talk")
	require.NoError(t, err)
	require.NoError(t, temporal.Export{}.Replay(histories))
}

// A cancelled run reports it like a run in process whose context ends: cancelled by Temporal, and by an
// update, which gets its answer.
func TestARunIsCancelled(t *testing.T) {
	c := newServer(t).dial()
	asked := make(chan struct{})
	w := worker.New(c, queue, worker.Options{})
	model := loop.ModelFunc(func(ctx context.Context, _ loop.Request) (message.Reply, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return message.Reply{}, ctx.Err()
	})
	require.NoError(t, temporal.Register(w, temporal.Worker{Heartbeat: time.Second, Model: model}))
	require.NoError(t, w.Start())
	defer w.Stop()
	for name, cancel := range map[string]func(*temporal.Handle) error{
		"by_the_engine": func(h *temporal.Handle) error { return h.Cancel(t.Context()) },
		"by_an_update":  func(h *temporal.Handle) error { return h.CancelAction(t.Context(), temporal.AllActions) },
	} {
		h, err := temporal.Start(t.Context(), c, temporal.Options{ID: name, TaskQueue: queue}, loop.Input{Prompt: "Hello."}, loop.Config{})
		require.NoError(t, err)
		<-asked
		require.NoError(t, cancel(h), name)
		_, err = h.Result(t.Context())
		require.ErrorIs(t, err, policy.ReasonCancelled, name)
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorContains(t, h.CancelAction(t.Context(), temporal.AllActions), "temporal: ")
	}
}

// A call waits in the workflow until a person approves it with other arguments: the worker that asked is gone
// by then. The second answer is told that there is one. What was said and answered is in the history, and
// replays.
func TestAPersonAnswersAnotherWorker(t *testing.T) {
	c := newServer(t).dial()
	ctx := t.Context()
	pay := tool.New("pay", "Pays.", func(_ context.Context, in struct {
		To string `json:"to"`
	}) (string, error) {
		return "paid " + in.To, nil
	})
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	begin := func(model loop.Model) worker.Worker {
		w := worker.New(c, queue, worker.Options{})
		require.NoError(t, temporal.Register(w, temporal.Worker{Model: model, Tools: tools, Heartbeat: time.Second}))
		require.NoError(t, w.Start())
		return w
	}
	asking := policy.DefaultSet()
	asking.Global.Approval = &policy.Approval{When: policy.ApproveAlways}
	first := begin(looptest.NewModel(looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"to":"Ann"}`})))
	order := temporal.Options{ID: "pay", TaskQueue: queue, SearchAttributes: true}
	h, err := temporal.Start(ctx, c, order, loop.Input{Prompt: "Pay."}, loop.Config{Policy: &asking})
	require.NoError(t, err)
	var asked []machine.Ask
	until(t, "a person is asked", func() bool {
		status, err := h.Status(ctx)
		require.NoError(t, err)
		asked = status.Asking
		return len(asked) == 1
	})
	first.Stop()
	second := begin(loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
		return message.Reply{Text: r.Messages[len(r.Messages)-2].Text + " " + r.Messages[len(r.Messages)-1].Text, Finish: message.Stop}, nil
	}))
	defer second.Stop()
	require.NoError(t, h.Say(ctx, session.Words{Text: "Thanks.", By: "Bob"}))
	var misfit *machine.AnswerError
	bad := machine.Response{Question: asked[0].ID, Verdict: machine.Approve, Arguments: json.RawMessage(`{"to":7}`)}
	require.ErrorAs(t, h.Answer(ctx, bad), &misfit)
	require.ErrorIs(t, misfit, machine.ErrMisfit)
	require.Len(t, misfit.Issues, 1)
	require.ErrorIs(t, h.Answer(ctx, machine.Response{Question: "9.9.9-x", Verdict: machine.Approve}), machine.ErrNotAsked)
	good := machine.Response{Question: asked[0].ID, Verdict: machine.Approve, Arguments: json.RawMessage(`{"to":"Bob"}`), By: "Bob"}
	require.NoError(t, h.Answer(ctx, good))
	r, err := h.Result(ctx)
	require.NoError(t, err)
	assert.Contains(t, r.Text, "paid Bob")
	assert.Contains(t, r.Text, "Thanks.")
	require.ErrorIs(t, h.Answer(ctx, good), loop.ErrNobodyAsks)
	require.ErrorIs(t, h.Say(ctx, session.Words{Text: "Wait."}), session.ErrNotHeld)
	histories, err := temporal.Histories(ctx, c, "pay")
	require.NoError(t, err)
	require.NoError(t, temporal.Export{}.Replay(histories))
	var doc bytes.Buffer
	require.NoError(t, temporal.Export{}.Journal(ctx, histories, &doc))
	assert.Contains(t, doc.String(), `"kind":"responded"`)
	assert.Contains(t, doc.String(), `"kind":"said"`)
}
