package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// A run within another has the lower of its own limits and its share of what is left outside.
func TestARunWithinAnotherHasAShareOfWhatIsLeft(t *testing.T) {
	outer, own := policy.DefaultSet(), policy.DefaultSet()
	outer.Budgets.Run, own.Budgets.Run = 5, policy.Unlimited
	outer.Prices = policy.Prices{"m": {Input: 1}}
	outer.Spending = policy.Spending{
		Run:         policy.Allowance{TotalTokens: new(int64(1000)), Cost: new(int64(90))},
		Session:     policy.Allowance{TotalTokens: new(int64(700))},
		Action:      policy.Allowance{OutputTokens: new(int64(10))},
		MaxNextCost: new(int64(30)),
	}
	own.Spending.Run = policy.Allowance{OutputTokens: new(int64(50)), InputTokens: new(int64(7))}
	used := policy.Charge{Usage: message.Usage{InputTokens: 90, OutputTokens: 10}, Cost: 40}
	got := own.Within(&outer, policy.Spent{Run: used, Session: used.Plus(used), Actions: []policy.Charge{used}}, 1, 2)
	assert.Equal(t, policy.Spending{
		Run:         policy.Allowance{TotalTokens: new(int64(250)), Cost: new(int64(25)), OutputTokens: new(int64(0)), InputTokens: new(int64(7))},
		MaxNextCost: new(int64(30)),
	}, got.Spending)
	assert.Equal(t, 2, got.Budgets.Run)
	assert.Equal(t, outer.Prices, got.Prices)

	free := policy.DefaultSet()
	free.Budgets.Run = policy.Unlimited
	assert.Equal(t, own, own.Within(&free, policy.Spent{}, 0, 1), "what is not bounded outside is as it was")

	own.Budgets.Run, own.Prices = 1, policy.Prices{"own": {Input: 2}}
	got = own.Within(&outer, policy.Spent{}, 1, 2)
	assert.Equal(t, 1, got.Budgets.Run, "its own budget is the lower one")
	assert.Equal(t, own.Prices, got.Prices, "it has prices of its own")
	got = own.Within(&outer, policy.Spent{Run: policy.Charge{Cost: 100}}, 9, 1)
	assert.Equal(t, 0, got.Budgets.Run, "the outer run has passed its budget")
	assert.EqualValues(t, 0, *got.Spending.Run.Cost)
}
