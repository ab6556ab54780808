package journal

import (
	"encoding/json"

	"github.com/retake-go/retake/policy"
)

// boundsOf are the limits of a run, as JSON.
func boundsOf(s *policy.Set) (all policy.Explanation) {
	add := func(field string, v any, none bool) {
		text, err := json.Marshal(v)
		switch {
		case none || err != nil:
			text = []byte("none")
		case v == policy.Unlimited:
			text = []byte("unlimited")
		}
		all = append(all, policy.Explained{Field: field, Value: string(text)})
	}
	add("budgets.tool", s.Budgets.Tool, false)
	add("budgets.run", s.Budgets.Run, false)
	add("budgets.unknown_tools", s.Budgets.UnknownTools, false)
	add("prices", s.Prices, len(s.Prices) == 0)
	add("spending", s.Spending, s.Spending.IsZero())
	from, to := s.Context.Shares()
	add("context", policy.Context{Steps: s.Context.Order(), From: &from, To: &to, Keep: new(s.Context.Newest())},
		false)
	add("max_turns", s.MaxTurns, false)
	add("max_calls", s.MaxCalls, false)
	add("all_or_nothing", s.AllOrNothing, false)
	return all
}
