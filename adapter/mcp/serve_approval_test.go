package mcp_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/tool"
)

// In a run such a call waits for a person. A server has nobody to ask, so it is not made.
func TestACallThatNeedsApprovalIsNotMadeForAClient(t *testing.T) {
	type payment struct {
		Amount int `json:"amount" validate:"min=1"`
	}
	above := backoff.Dec("100")
	for name, c := range map[string]struct {
		opts []tool.Option
		paid []int
	}{
		"declared":      {[]tool.Option{tool.NeedsApproval(func(p payment) bool { return p.Amount > 100 })}, []int{80}},
		"above":         {[]tool.Option{tool.Approval(policy.Approval{When: policy.ApproveAbove, Argument: "amount", Above: &above})}, []int{80}},
		"always":        {[]tool.Option{tool.Approval(policy.Approval{When: policy.ApproveAlways})}, nil},
		"first":         {[]tool.Option{tool.Approval(policy.Approval{When: policy.ApproveFirst})}, nil},
		"undeclared":    {[]tool.Option{tool.Approval(policy.Approval{When: policy.ApproveUndeclared})}, nil},
		"it is neither": {[]tool.Option{tool.Approval(policy.Approval{When: policy.ApproveUndeclared}), tool.Idempotent()}, []int{80, 500}},
		"never": {[]tool.Option{tool.NeedsApproval(func(payment) bool { return true }),
			tool.Approval(policy.Approval{When: policy.ApproveNever})}, []int{80, 500}},
	} {
		t.Run(name, func(t *testing.T) {
			var paid []int
			set, err := tool.NewSet(tool.New("pay", "Pays.", func(_ context.Context, p payment) (string, error) {
				paid = append(paid, p.Amount)
				return "paid", nil
			}, c.opts...))
			require.NoError(t, err)
			server := sdk.NewServer(&sdk.Implementation{Name: "till", Version: "v1"}, nil)
			require.NoError(t, mcp.Serve(server, set))
			client := inMemory(t, server, nil)
			for _, arguments := range []string{`{"amount":80}`, `{"amount":500}`} {
				before := len(paid)
				got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "pay", Arguments: json.RawMessage(arguments)})
				require.NoError(t, err)
				if assert.Equal(t, len(paid) == before, got.IsError); got.IsError {
					assert.Equal(t, "Not run: this call needs a person's approval, and nobody can be asked here.",
						got.Content[0].(*sdk.TextContent).Text)
				}
			}
			assert.Equal(t, c.paid, paid)
			bad, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "pay", Arguments: json.RawMessage(`{"amount":0}`)})
			require.NoError(t, err)
			assert.Contains(t, bad.Content[0].(*sdk.TextContent).Text, "amount: expected")
		})
	}
}
