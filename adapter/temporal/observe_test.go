package temporal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// The end of a run tells how long it took by the workflow's time, and its texts can be written without the
// secrets of its calls.
func TestObserversOfAWorkflow(t *testing.T) {
	type card struct {
		Code string `json:"code" retake:"secret"`
	}
	pay := tool.New("pay", "Pay.", func(_ context.Context, in card) (string, error) {
		return "", tool.AskAgain(fault.Issue{Rule: "refused", Expected: "another code than " + in.Code})
	})
	tools, err := tool.NewSet(pay)
	require.NoError(t, err)
	var ended observe.Notice
	var hidden string
	observer := observe.ObserverFunc(func(ctx context.Context, n observe.Notice) {
		if n.Kind == observe.Ended {
			ended, hidden = n, observe.Hide(ctx, "the code heron")
		}
	})
	model := looptest.NewModel(
		looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"code": "heron"}`}),
		looptest.Fail(&fault.ProviderError{Class: fault.Overloaded, RetryAfter: 3 * time.Second}),
		looptest.Say("Done."))
	_, err = newBench(t, Worker{Model: model, Tools: tools, Observers: []observe.Observer{observer}}, loop.Config{Seed: "s"}).run()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, ended.Took, 3*time.Second)
	assert.Less(t, ended.Took, time.Minute)
	assert.Equal(t, "the code [secret left out]", hidden)
}

// A failed tool is told as one, and secrets in arguments that a person changed must not be logged, as in
// process.
func TestObserversHearWhatTheyHearInProcess(t *testing.T) {
	type card struct {
		Code string `json:"code" retake:"secret"`
	}
	pay := tool.New("pay", "Pays.", func(context.Context, card) (string, error) { return "paid", nil })
	note := tool.New("note", "Notes.", func(context.Context, struct{}) (string, error) { return "", errors.New("no paper") })
	var kinds []observe.NoticeKind
	var hidden string
	observer := observe.ObserverFunc(func(ctx context.Context, n observe.Notice) {
		kinds, hidden = append(kinds, n.Kind), observe.Hide(ctx, "heron and ibis")
	})
	model := looptest.NewModel(
		looptest.Call(message.Call{ID: "c1", Name: "pay", Arguments: `{"code":"heron"}`}, message.Call{ID: "c2", Name: "note", Arguments: "{}"}),
		looptest.Say("Done."))
	p := asking(t, Worker{Model: model, Tools: setOf(t, pay, note), Observers: []observe.Observer{observer}}, policy.Approval{When: policy.ApproveAlways})
	p.answers(time.Hour, "changed", func(r *machine.Response) { r.Arguments = []byte(`{"code":"ibis"}`) })
	p.answers(2*time.Hour, "approved", func(*machine.Response) {})
	_, err := p.run()
	require.NoError(t, err)
	require.NoError(t, errors.Join(p.told["changed"], p.told["approved"]))
	assert.Contains(t, kinds, observe.ToolFailed)
	assert.NotContains(t, kinds, observe.Exhausted)
	assert.Equal(t, "[secret left out] and [secret left out]", hidden)
}
