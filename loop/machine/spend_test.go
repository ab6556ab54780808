package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// A call that timed out may have been paid for, also if its action has no reply yet.
func TestACallThatFailedBeforeTheFirstReplyCountsForTheAction(t *testing.T) {
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	cfg.Policy.Spending = policy.Spending{Action: policy.Allowance{TotalTokens: new(int64(400))}, MaxReply: new(int64(300))}
	st, err := machine.New(cfg, session.State{})
	require.NoError(t, err)
	timeout := machine.Event{Kind: machine.CallFailed, At: began, Failure: &fault.Failure{Plane: fault.Transport, Class: fault.Timeout}}
	st = step(t, st, start(), timeout, machine.Event{Kind: machine.Woke, At: began.Add(time.Hour)})
	require.NotNil(t, st.Outcome)
	assert.Equal(t, policy.ReasonTokenBudget, st.Outcome.Reason)
	assert.Equal(t, "action.total_tokens", st.Outcome.Detail.Budget)
}

// A tool's agents made two calls whose cost nobody knows, and then the tool asked for other arguments.
func TestWhatAFailedAttemptWastedCountsEachEstimatedCall(t *testing.T) {
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	cfg.Policy.Spending.Session.Cost = new(int64(1000))
	cfg.Policy.Prices = policy.Prices{"m": {}}
	cfg.Models = map[string]machine.ModelInfo{"": {Name: "m"}}
	st, err := machine.New(cfg, session.State{})
	require.NoError(t, err)
	call := goodCall("{}")
	call.Reply.Message.Usage = message.Usage{InputTokens: 10, OutputTokens: 1, APICalls: 1}
	st = step(t, st, start(), call, machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
		Verdict: machine.AskAgain, Issues: []fault.Issue{{Rule: "nights"}}, Usage: message.Usage{InputTokens: 5, APICalls: 2}}})
	assert.EqualValues(t, 2, st.Charged.Estimated)
	assert.Equal(t, st.Charged, st.Wasted)
}
