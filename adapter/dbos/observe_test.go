package dbos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	sdk "github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// heard is what an observer was told, each notice as a line, without the time.
type heard struct {
	mu    sync.Mutex
	lines []string
	took  time.Duration
}

func (h *heard) Observe(ctx context.Context, n observe.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprint(n.Kind, n.CorrelationID, n.Action, n.Invented, n.Class, n.Attempt, n.Reason, n.Delay,
		n.Err != nil, n.Reducer, n.Totals, n.Attempts, n.Text, observe.Hide(ctx, "heron, crane and ibis")))
	h.took = max(h.took, n.Took)
}

// Observers are told the same as in process, once, also of what must not be logged.
func TestObserversHearTheSameAsInProcess(t *testing.T) {
	type card struct {
		Code string `json:"code" retake:"secret"`
	}
	pay := tool.New("pay", "Pays.", func(_ context.Context, in card) (string, error) {
		if in.Code == "heron" {
			return "", tool.AskAgain(fault.Issue{Rule: "refused", Expected: "another code"})
		}
		return "paid", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	note := tool.New("note", "Notes.", func(context.Context, struct{}) (string, error) { return "", errors.New("no paper") })
	script := []looptest.Turn{
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Millisecond}),
		looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"code":"heron"}`}),
		looptest.Call(message.Call{ID: "c2", Name: "pay", Arguments: `{"code":"crane"}`}, message.Call{ID: "c3", Name: "note", Arguments: "{}"}),
		looptest.Call(message.Call{ID: "c4", Name: "fly", Arguments: "{}"}),
		looptest.Say("Done."),
	}
	cfg := loop.Config{Tools: toolsOf(t, pay, note), Seed: "s"}
	changed := func(a machine.Ask) machine.Response {
		r := machine.Response{Question: a.ID, Verdict: machine.Approve}
		if string(a.Arguments) == `{"code":"crane"}` {
			r.Arguments = []byte(`{"code":"ibis"}`)
		}
		return r
	}
	var want, got heard
	l, err := loop.New(looptest.NewModel(script...), cfg, loop.WithClock(looptest.NewClock()), loop.WithObserver(&want),
		loop.WithApprover(func(_ context.Context, q loop.PersonQuestion) (machine.Response, error) { return changed(q.Ask), nil }))
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	_, wantErr := l.Run(t.Context(), s, loop.Input{Prompt: "Pay."})

	c, r := launched(t, "observers", Agent{Model: looptest.NewModel(script...), Config: cfg, Observers: []observe.Observer{&got}})
	run, err := r.Start(c, "order-42", loop.Input{Prompt: "Pay."})
	require.NoError(t, err)
	answered := ""
	for range 2 {
		require.Eventually(t, func() bool {
			asks, err := Asking(c, "order-42", time.Minute)
			if err != nil || len(asks) == 0 || asks[0].ID == answered {
				return false
			}
			answered = asks[0].ID
			return assert.NoError(t, Answer(c, "order-42", changed(asks[0]), time.Minute))
		}, time.Minute, 10*time.Millisecond)
	}
	_, gotErr := run.Result()
	assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr))
	assert.Equal(t, want.lines, got.lines)
	assert.Contains(t, got.lines[len(got.lines)-1], "[secret left out], [secret left out] and [secret left out]")
	assert.Positive(t, got.took)

	told := len(got.lines)
	steps, err := sdk.GetWorkflowSteps(c, "order-42")
	require.NoError(t, err)
	fork, err := sdk.ForkWorkflow[string](c, sdk.ForkWorkflowInput{OriginalWorkflowID: "order-42", StartStep: uint(steps[len(steps)-1].StepID + 1)})
	require.NoError(t, err)
	_, err = fork.GetResult()
	require.NoError(t, err)
	assert.Len(t, got.lines, told, "what is made again from a record is not told")
}
