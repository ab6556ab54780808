package policy

// Rest is what a run has left, for a run within a call of one of its tools.
type Rest struct {
	// Set is the policy of the run, and Spent what it has spent. Spent.Actions has the tool's action alone.
	Set   *Set
	Spent Spent
	// Failed is the number of failed attempts in the run.
	Failed int
	// Sharers is the number of calls that divide the rest: those of the reply to run. At least 1.
	Sharers int64
}

// Within returns the policy for a run within another: spending and the budget of failed attempts are bounded
// by its share of what the outer run has left. If s has no prices, it has those of the outer run. The result
// shares memory with s and must not be changed.
func (s Set) Within(rest *Rest) Set {
	left := rest.Set.Spending.left(&rest.Spent, rest.Sharers)
	for n := range limits {
		most := limits[n].most(&s.Spending.Run)
		*most = least(*most, *limits[n].most(&left))
	}
	s.Spending.MaxNextCost = least(s.Spending.MaxNextCost, rest.Set.Spending.MaxNextCost)
	if len(s.Prices) == 0 {
		s.Prices = rest.Set.Prices
	}
	if most := rest.Set.Budgets.Run; most != Unlimited {
		share := max(most-rest.Failed, 0) / int(rest.Sharers)
		if s.Budgets.Run == Unlimited || share < s.Budgets.Run {
			s.Budgets.Run = share
		}
	}
	return s
}

// left returns a share of what is left under all limits but that of one call.
func (s *Spending) left(spent *Spent, sharers int64) (rest Allowance) {
	all := *s
	all.MaxNextCost = nil
	all.each(spent, func(l *limit, _ scope, left int64) bool {
		most := l.most(&rest)
		*most = least(*most, new(max(left, 0)/sharers))
		return true
	})
	return rest
}

// least returns the lower of two limits; nil is none.
func least(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}
