package report_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// A page says at each answer what came of its call, although all calls have the same id.
func TestAPageSaysWhatCameOfAnAnswer(t *testing.T) {
	store := new(looptest.Store)
	j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
	require.NoError(t, err)
	s, err := session.New(session.Config{Journal: j})
	require.NoError(t, err)
	pay := tool.New("pay", "Pays.", func(_ context.Context, a struct {
		Cents int `json:"cents"`
	}) (string, error) {
		if a.Cents == 1 {
			return "", tool.Fail("The account is closed.")
		}
		return "R-1", nil
	}, tool.Approval(policy.Approval{When: policy.ApproveAlways}))
	set, err := tool.NewSet(pay)
	require.NoError(t, err)
	approver := func(context.Context, loop.PersonQuestion) (machine.Response, error) {
		return machine.Response{Verdict: machine.Approve, By: "Ann"}, nil
	}
	call := func(arguments string) message.Call {
		return message.Call{ID: "c1", Name: "pay", Arguments: arguments}
	}
	_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Call(call(`{"cents":1}`)), looptest.Call(call(`{"cents":2}`)), looptest.Say("Paid.")), s,
		loop.Input{Prompt: "Pay."}, loop.Config{Tools: set}, loop.WithApprover(approver), loop.WithClock(looptest.NewClock()))
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, report.Page{}.HTML(&out, bytes.NewReader(store.Text("order-42"))))
	first, second := strings.Index(out.String(), "what came of it: pay failed for good"), strings.Index(out.String(), "what came of it: pay: result of 5 bytes")
	assert.True(t, 0 < first && first < second, out.String())
}
