package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

func attempts(n int) policy.Layer { return policy.Layer{MaxAttempts: &n} }

// pay is a tool with its own policies.
func pay(t *testing.T, err error) *tool.Set {
	t.Helper()
	tools, bad := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct {
		Sum int `json:"sum"`
	}) (string, error) {
		return "paid", err
	}, tool.WithPolicy(attempts(2)), tool.WithTransport(attempts(5)), tool.Idempotent()))
	require.NoError(t, bad)
	return tools
}

// A tool's own policy is above the global layer, and below the layers for the tool and the call in the
// run's policy.
func TestAPolicyStandsAtItsTool(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*policy.Set)
		want   int
		layer  string
		source string
	}{
		"tool":     {func(*policy.Set) {}, 2, "tool pay", "tool.WithPolicy"},
		"global":   {func(s *policy.Set) { s.Global = attempts(4) }, 2, "tool pay", "tool.WithPolicy"},
		"the_file": {func(s *policy.Set) { s.Tools = map[string]policy.Layer{"pay": attempts(6)} }, 6, "tool pay", ""},
		"the_call": {func(s *policy.Set) { s.Call = attempts(1) }, 1, "call", ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := policy.DefaultSet()
			set.Budgets.Tool, set.Budgets.Run = policy.Unlimited, policy.Unlimited
			c.change(&set)
			model := looptest.NewModel(repeated(c.want, looptest.Call(call("pay", `{}`)))...)
			_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: pay(t, nil), Policy: &set})
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, c.want, exhausted.MaxAttempts)
			assert.Equal(t, c.layer, exhausted.Explanation[0].Layer)
			assert.Equal(t, c.source, exhausted.Explanation[0].Source)
		})
	}
}

func TestATransportPolicyStandsAtItsTool(t *testing.T) {
	down := &fault.TransportError{Class: fault.Unavailable}
	model := looptest.NewModel(looptest.Call(call("pay", `{"sum":1}`)), looptest.Say("Sorry."))
	s := newSession(t)
	_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Pay."}, loop.Config{Tools: pay(t, down)}, loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	last := s.State().Attempts()[4]
	assert.Equal(t, []int{5, 5}, []int{last.Attempt, last.MaxAttempts})
}

// A misspelt name would silently do nothing. But a policy that several programs share may name tools that
// this one lacks.
func TestALayerForAToolThatIsNotThere(t *testing.T) {
	set := policy.DefaultSet()
	set.Tools = map[string]policy.Layer{"pay_": attempts(2), "send_mail": attempts(2)}
	set.ToolTransport = map[string]policy.Layer{"Pay": attempts(2)}
	run := func() (loop.Result, error) {
		return fixture.Run(t.Context(), looptest.NewModel(looptest.Say("Hello.")), newSession(t), loop.Input{Prompt: "Hi."}, loop.Config{Tools: pay(t, nil), Policy: &set})
	}
	_, err := run()
	require.EqualError(t, err, "policy: tools.pay_: there is no such tool; did you mean pay?\n"+
		"policy: tool_transport.Pay: there is no such tool; did you mean pay?")
	delete(set.Tools, "pay_")
	set.ToolTransport = nil
	result, err := run()
	require.NoError(t, err)
	assert.Equal(t, []string{"policy: tools.send_mail: there is no such tool in this run"}, result.Warnings)
}

// An invalid layer is refused by name, wherever it was given.
func TestAToolsOwnPolicyIsChecked(t *testing.T) {
	tools, err := tool.NewSet(tool.New("pay", "Pay.", func(context.Context, struct{}) (string, error) { return "", nil },
		tool.WithPolicy(attempts(0)), tool.WithTransport(policy.Layer{MaxTotalDelay: new(-time.Second)})))
	require.NoError(t, err)
	_, err = fixture.Run(t.Context(), looptest.NewModel(), newSession(t), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools})
	require.ErrorContains(t, err, "policy: tools.pay.max_attempts: ")
	require.ErrorContains(t, err, "tool_transport.pay.max_total_delay: ")
}
