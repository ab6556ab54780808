package temporal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
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
