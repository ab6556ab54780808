package machine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// An engine may run reducers of its own and give their words as they are. A key in them stands in no warning,
// record or prompt.
func TestTheWordsOfAnEnginesReducersAreScrubbed(t *testing.T) {
	const key = "sk-proj-0123456789abcdefghij0123456789"
	st := step(t, fresh(t, machine.Config{}), start(), machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Message: message.Reply{Calls: []message.Call{{ID: "c1", Name: "pay", Arguments: "{}"}}}, Native: true,
		Calls: []machine.Call{{ID: "c1", Tool: "pay", Arguments: []byte("{}"), Raw: "{}"}},
	}})
	refused := &fault.ReducerError{Reducer: "cart.add", Message: "the shop answered: bad key " + key}
	st = step(t, st, machine.Event{Kind: machine.ToolEnded, At: began, Tool: &machine.ToolEnd{
		Verdict: machine.Done, Result: []byte(`"paid"`), Reduced: &machine.Reduced{Error: refused},
	}})
	require.Len(t, st.Warnings, 1)
	assert.Contains(t, st.Warnings[0], "the shop answered")
	all, err := st.Snapshot()
	require.NoError(t, err)
	assert.NotContains(t, string(all), key)
	assert.Contains(t, refused.Message, key, "the event is read-only")
}

func TestARefusalThatUsesUpTheBudgetOfTheRunHasItsNumbers(t *testing.T) {
	cfg := machine.Config{Policy: policy.DefaultSet(), Limits: feedback.DefaultLimits()}
	cfg.Policy.Budgets.Run = 0
	st, err := machine.New(cfg, session.State{})
	require.NoError(t, err)
	st = step(t, st, start(), machine.Event{Kind: machine.Replied, At: began, Reply: &machine.Reply{
		Message: message.Reply{Text: "Done."},
		Answer:  &machine.Answer{Reduced: &machine.Reduced{Error: &fault.ReducerError{Reducer: "total", Message: "no"}}}}})
	require.NotNil(t, st.Outcome)
	assert.Equal(t, policy.Decision{Reason: policy.ReasonRunBudget, Detail: policy.Detail{Count: 1, Limit: 0}},
		st.Outcome.Exhaustion.Decision)
}
