package loop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// Whether an argument is above a bound is decided when the call is read. A journal that leaves the argument
// out decides the same.
func TestARedactedJournalKnowsWhatIsAboveABound(t *testing.T) {
	set := policy.DefaultSet()
	set.Global.Approval = &policy.Approval{When: policy.ApproveAbove, Argument: "amount", Above: new(backoff.Decimal(100 * backoff.One))}
	tools, err := tool.NewSet(tool.New("pay", "Pays.", func(context.Context, struct {
		Amount int `json:"amount"`
	}) (string, error) {
		return "paid", nil
	}))
	require.NoError(t, err)
	var store looptest.Store
	j, err := journal.Open(t.Context(), &store, "order-42", journal.Settings{Redact: &journal.Redaction{
		Key: []byte("a key of many bytes"), Tools: map[string]journal.ToolRedaction{"*": {Arguments: []string{""}}}, Replies: true,
	}})
	require.NoError(t, err)
	model := looptest.NewModel(looptest.Call(fixture.Call("pay", `{"amount":50}`)), looptest.Say("Paid."))
	r, err := fixture.Run(t.Context(), model, fixture.In(nil, j), loop.Input{Prompt: "Pay."}, loop.Config{Tools: tools, Policy: &set})
	require.NoError(t, err)
	assert.Equal(t, "Paid.", r.Text)
}
