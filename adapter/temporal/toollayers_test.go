package temporal

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Bases have no meaning for a list of delays, but the worker's tool has a backoff of its own.
func TestALayerThatFitsThatOfTheWorkersToolIsTaken(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.Backoff = new(backoff.List(time.Second, time.Minute))
	set.Tools = map[string]policy.Layer{"echo": {Bases: map[fault.Class]time.Duration{fault.ToolValidation: time.Second}}}
	run := func(opts ...tool.Option) (string, error) {
		type input struct {
			Text string `json:"text"`
		}
		tools, err := tool.NewSet(tool.New("echo", "Says it again.", func(_ context.Context, in input) (string, error) { return in.Text, nil }, opts...))
		require.NoError(t, err)
		model := looptest.NewModel(call("c1", `{"text":"Hi."}`), looptest.Say("Done."))
		r, err := newBench(t, Worker{Model: model, Tools: tools}, loop.Config{Policy: &set}).run()
		return r.Text, err
	}
	text, err := run(tool.WithPolicy(policy.Layer{Backoff: new(backoff.Exponential(time.Second, backoff.Dec("2")))}))
	require.NoError(t, err)
	assert.Equal(t, "Done.", text)
	_, err = run()
	require.ErrorContains(t, err, "policy: tools.echo.bases:")

	set.Tools["echo"] = policy.Layer{MaxAttempts: new(0)}
	_, err = orderOf(loop.Input{Prompt: "Hi."}, loop.Config{Policy: &set})
	require.ErrorContains(t, err, "temporal: policy: tools.echo.max_attempts:")
}
