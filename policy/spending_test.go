package policy_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/internal/draw"
)

var twoAndTen = policy.Price{Input: 2_000_000, Output: 10_000_000}

func TestACallThatDoesNotFitIsNotMade(t *testing.T) {
	prompt := message.Usage{InputTokens: 100, CacheReadTokens: 40}
	n := func(n int64) *int64 { return &n }
	spent := policy.Spent{
		Run:     policy.Charge{Usage: message.Usage{InputTokens: 900, OutputTokens: 90, CacheReadTokens: 300, ReasoningTokens: 50}, Cost: 2700},
		Session: policy.Charge{Cost: 5000}, Actions: []policy.Charge{{Cost: 40}, {Cost: 50}},
	}
	for _, c := range []struct {
		name  string
		limit policy.Spending
		want  string
		most  int64
	}{
		{"nothing is bounded", policy.Spending{}, "", -1},
		{"input fits exactly", policy.Spending{Run: policy.Allowance{InputTokens: n(1000)}}, "", -1},
		{"input", policy.Spending{Run: policy.Allowance{InputTokens: n(999)}}, "stop: token_budget (run.input_tokens: 99 left, the call takes 100)", 0},
		{"output is bounded", policy.Spending{Run: policy.Allowance{OutputTokens: n(106)}}, "", 16},
		{"output", policy.Spending{Run: policy.Allowance{OutputTokens: n(105)}}, "stop: token_budget (run.output_tokens: 15 left, the call takes 16)", 0},
		{"cached", policy.Spending{Run: policy.Allowance{CachedTokens: n(339)}}, "stop: token_budget (run.cached_tokens: 39 left, the call takes 40)", 0},
		{"reasoning is used up", policy.Spending{Run: policy.Allowance{ReasoningTokens: n(50)}}, "stop: token_budget (run.reasoning_tokens: 0 left, the call takes 1)", 0},
		{"reasoning is left", policy.Spending{Run: policy.Allowance{ReasoningTokens: n(51)}}, "", -1},
		{"total is bounded", policy.Spending{Run: policy.Allowance{TotalTokens: n(1200)}}, "", 110},
		{"total", policy.Spending{Run: policy.Allowance{TotalTokens: n(1000)}}, "stop: token_budget (run.total_tokens: 10 left, the call takes 116)", 0},
		{"cost is bounded", policy.Spending{Run: policy.Allowance{Cost: n(4000)}}, "", 110},
		{"cost", policy.Spending{Run: policy.Allowance{Cost: n(3000)}}, "stop: cost_budget (run.cost: 300 left, the call takes 360)", 0},
		{"a session that is spent", policy.Spending{Session: policy.Allowance{Cost: n(4000)}}, "stop: cost_budget (session.cost: 0 left, the call takes 360)", 0},
		{"the dearer action", policy.Spending{Action: policy.Allowance{Cost: n(405)}}, "stop: cost_budget (action.cost: 355 left, the call takes 360)", 0},
		{"the next call", policy.Spending{MaxNextCost: n(359)}, "stop: cost_budget (max_next_cost: 359 left, the call takes 360)", 0},
		{"the tightest counts", policy.Spending{MaxNextCost: n(500), MaxReply: n(2000), Run: policy.Allowance{TotalTokens: n(1200)}}, "", 30},
		{"a limit that bounds no reply comes later", policy.Spending{Run: policy.Allowance{TotalTokens: n(1200)}, Session: policy.Allowance{InputTokens: n(9999)}}, "", 110},
		{"replies alone", policy.Spending{MaxReply: n(20)}, "", 20},
		{"more money than tokens can cost", policy.Spending{Run: policy.Allowance{Cost: n(math.MaxInt64)}}, "", -1},
		{"replies", policy.Spending{MaxReply: n(20), Run: policy.Allowance{TotalTokens: n(1200)}}, "", 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, policy.Set{MaxTurns: 1, MaxCalls: 1, Spending: c.limit}.Validate())
			why, most, _ := c.limit.Fits(spent, prompt, twoAndTen)
			if c.want != "" {
				assert.Equal(t, c.want, why.String())
				return
			}
			assert.Empty(t, why)
			assert.Equal(t, c.most, most)
		})
	}
}

// A call that fits, with the largest reply that it is allowed, passes no limit that bounds replies.
func TestACallThatFitsPassesNoLimit(t *testing.T) {
	fit := 0
	rapid.Check(t, func(t *rapid.T) {
		limits, price := draw.Set().Draw(t, "set").Spending, draw.Price().Draw(t, "price")
		limits.Action.ReasoningTokens, limits.Run.ReasoningTokens, limits.Session.ReasoningTokens = nil, nil, nil // they bound no reply
		roomy := rapid.Bool().Draw(t, "roomy")
		for _, a := range []*policy.Allowance{&limits.Action, &limits.Run, &limits.Session} {
			for _, most := range []*int64{a.InputTokens, a.OutputTokens, a.TotalTokens, a.CachedTokens, a.Cost} {
				if roomy && most != nil { // small limits are seldom all kept
					*most += 10_000
				}
			}
		}
		if roomy && limits.MaxNextCost != nil {
			*limits.MaxNextCost += 1000
		}
		n := rapid.Int64Range(0, 3000)
		spent := policy.Spent{Run: policy.Charge{Usage: message.Usage{InputTokens: n.Draw(t, "in"), OutputTokens: n.Draw(t, "out")}, Cost: n.Draw(t, "cost")},
			Actions: []policy.Charge{{Cost: n.Draw(t, "action")}}}
		spent.Session = spent.Run
		prompt := message.Usage{InputTokens: n.Draw(t, "prompt")}
		prompt.CacheReadTokens = rapid.Int64Range(0, prompt.InputTokens).Draw(t, "cached")
		why, most, _ := limits.Fits(spent, prompt, price)
		if why.Reason != "" || most < 0 {
			return
		}
		fit++
		require.GreaterOrEqual(t, most, int64(policy.LeastReply))
		used := prompt
		used.OutputTokens, used.ReasoningTokens = most, rapid.Int64Range(0, most).Draw(t, "reasoned")
		c := policy.Charge{Usage: used, Cost: price.Cost(used).Micros()}
		passed := limits.Passed(policy.Spent{Run: spent.Run.Plus(c), Session: spent.Session.Plus(c), Actions: []policy.Charge{spent.Actions[0].Plus(c)}})
		require.Empty(t, passed)
		if limits.MaxNextCost != nil {
			require.LessOrEqual(t, c.Cost, *limits.MaxNextCost)
		}
	})
	assert.NotZero(t, fit, "the limits of a call that fits were looked at")
}

func TestTheFirstCallOfAnActionFits(t *testing.T) {
	limits := policy.Spending{Action: policy.Allowance{Cost: new(int64(359)), ReasoningTokens: new(int64(0))}}
	prompt := message.Usage{InputTokens: 100}
	why, _, _ := limits.Fits(policy.Spent{}, prompt, twoAndTen)
	assert.Equal(t, "stop: cost_budget (action.cost: 359 left, the call takes 360)", why.String())
	limits.Action.Cost = new(int64(360))
	why, most, by := limits.Fits(policy.Spent{}, prompt, twoAndTen)
	assert.Empty(t, why, "a model that has not reasoned need not")
	assert.EqualValues(t, 16, most)
	assert.Equal(t, policy.Detail{Budget: "action.cost", Left: 360}, by)
	limits.Action.Cost = new(int64(519))
	dearer := policy.Price{Input: 2_000_000, Output: 10_000_000, Reasoning: new(int64(20_000_000))}
	why, _, _ = limits.Fits(policy.Spent{}, prompt, dearer)
	assert.Equal(t, "stop: cost_budget (action.cost: 519 left, the call takes 520)", why.String(), "it may reason all of its reply")
	limits.Action.Cost = new(int64(540))
	why, most, _ = limits.Fits(policy.Spent{}, prompt, dearer)
	assert.Empty(t, why)
	assert.EqualValues(t, 17, most)
}

func TestAPassedLimitIsTold(t *testing.T) {
	limits := policy.Spending{Session: policy.Allowance{Cost: new(int64(10))}, Action: policy.Allowance{TotalTokens: new(int64(10))}}
	spent := policy.Spent{Session: policy.Charge{Cost: 10}, Actions: []policy.Charge{{Usage: message.Usage{InputTokens: 10}}, {}}}
	assert.Empty(t, limits.Passed(spent))
	spent.Actions[1].Usage.OutputTokens = 13
	assert.Equal(t, policy.Detail{Budget: "action.total_tokens", Left: -3}, limits.Passed(spent))
	spent.Session.Cost = 11
	assert.Equal(t, policy.Detail{Budget: "session.cost", Left: -1}, limits.Passed(spent))
}

func TestSpendingIsReadStrictly(t *testing.T) {
	var s policy.Set
	require.NoError(t, json.Unmarshal([]byte(`{"spending": {"run": {"cost": 5000000000, "total_tokens": 0}, "max_reply": 16}, "prices": {"m": {"input": 3000000, "output": 1}}}`), &s))
	assert.EqualValues(t, int64(5_000_000_000), *s.Spending.Run.Cost)
	require.NoError(t, s.Validate())
	err := json.Unmarshal([]byte(`{"spending": {"run": {"costs": 1, "cost": 0.05}, "max_reply": "many"}, "prices": {"m": {"input": -3, "output": 2.5, "cache_read": 0.0000001}}}`), &s)
	require.EqualError(t, err, `spending.run.costs: this key is not known here; did you mean cost?
spending.run.cost: "0.05" is no whole number; it is in millionths of a unit of money: write 50000 for 0.05
spending.max_reply: expected a whole number, got text "many"
prices.m.input: -3 is negative; write 0 or more
prices.m.output: "2.5" is no whole number; it is in millionths of a unit of money: write 2500000 for 2.5
prices.m.cache_read: "0.0000001" is no whole number that can be read; write digits alone, such as 3`)
	s.Spending.MaxReply, s.Prices["m"] = new(int64(3)), policy.Price{Output: -1}
	require.EqualError(t, s.Validate(), `prices.m.output: -1 is too few; write 0 or more
spending.max_reply: 3 is too few; write 16 or more`)
}

// A bound on money anywhere asks for prices; one on tokens does not.
func TestABoundOnMoneyNeedsPrices(t *testing.T) {
	money, tokens := policy.Allowance{Cost: new(int64(1))}, policy.Allowance{TotalTokens: new(int64(1))}
	for _, s := range []policy.Spending{{MaxNextCost: money.Cost}, {Action: money}, {Run: money}, {Session: money}} {
		assert.True(t, s.Costs(), s)
	}
	assert.False(t, policy.Spending{Action: tokens, Run: tokens, Session: tokens}.Costs())
}
