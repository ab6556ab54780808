package journal

import (
	"encoding/json"
	"strconv"

	"github.com/retake-go/retake/policy"
)

// boundsOf are the limits of a run.
func boundsOf(s *policy.Set) policy.Explanation {
	return policy.Explanation{
		{Field: "budgets.tool", Value: showBound(s.Budgets.Tool)},
		{Field: "budgets.run", Value: showBound(s.Budgets.Run)},
		{Field: "budgets.unknown_tools", Value: showBound(s.Budgets.UnknownTools)},
		{Field: "prices", Value: showData(s.Prices, len(s.Prices) == 0)},
		{Field: "spending", Value: showData(s.Spending, s.Spending.IsZero())},
		{Field: "context", Value: showContext(s.Context)},
		{Field: "max_turns", Value: showBound(s.MaxTurns)},
		{Field: "max_calls", Value: showBound(s.MaxCalls)},
		{Field: "all_or_nothing", Value: strconv.FormatBool(s.AllOrNothing)},
	}
}

func showBound(n int) string {
	if n == policy.Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(n)
}

// showData returns data as JSON.
func showData(v any, none bool) string {
	text, err := json.Marshal(v)
	if none || err != nil {
		return "none"
	}
	return string(text)
}

// showContext returns what says how prompts are kept short, with its defaults.
func showContext(c policy.Context) string {
	from, to := c.Shares()
	return showData(policy.Context{Steps: c.Order(), From: &from, To: &to, Keep: new(c.Newest())}, false)
}
