package policy

// Within returns the policy for a run within a call of another one, whose policy is outer: spending and the
// budget of failed attempts are bounded by its share of what the outer run has left. spent is what that run
// has spent, with the action of the call alone, failed how many attempts failed in it, and sharers, at least
// 1, how many calls divide the rest. If s has no prices, it has those of the outer run. The result shares
// memory with s and must not be changed.
func (s Set) Within(outer *Set, spent Spent, failed int, sharers int64) Set {
	left := outer.Spending.left(&spent, sharers)
	for n := range limits {
		most := limits[n].most(&s.Spending.Run)
		*most = least(*most, *limits[n].most(&left))
	}
	s.Spending.MaxNextCost = least(s.Spending.MaxNextCost, outer.Spending.MaxNextCost)
	if len(s.Prices) == 0 {
		s.Prices = outer.Prices
	}
	if most := outer.Budgets.Run; most != Unlimited {
		share := max(most-failed, 0) / int(sharers)
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
