package machine

import (
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/policy"
)

// beyond returns the issue of a call beyond the most successes of its tool, or nil. more is the number of
// places that earlier calls of the reply take.
func (st *State) beyond(tool string, more int) *fault.Issue {
	p := st.policyOf(tool)
	for _, limit := range [...]struct {
		most, taken int
		within      string
	}{
		{p.MaxSuccesses, st.inner.Places.Of(tool), "a run"},
		{p.MaxSessionSuccesses, st.Session.Successes(tool), "a session"},
	} {
		if limit.most != policy.Unlimited && limit.taken+more >= limit.most {
			return &fault.Issue{Rule: fault.RuleMaxSuccesses, Source: fault.FromReply,
				Expected: "at most " + several.Of(limit.most, "successful call") + " in " + limit.within}
		}
	}
	return nil
}

// enlist gives a call that is to be run its key, and its place under the caps of its tool: those of the call
// in doubt that it repeats, or new ones. twins is the number of equal calls before it in its reply. The
// number of its action counts from the start of the run, so that the same run made again has the same keys.
func (s *step) enlist(c *BatchCall, twins int, arguments []byte) {
	if again := s.repeatedDoubt(c.Tool, arguments, twins); again != nil {
		c.Key, c.standing = again.Key, again.standing
		return
	}
	c.Key = s.idempotencyKey(s.open(c.Tool).Number-s.First, c.Tool, twins, arguments)
	c.standing = standing{Place: true}
	s.inner.Places = s.inner.Places.Plus(c.Tool, 1)
	if s.policyOf(c.Tool).MaxSessionSuccesses != policy.Unlimited {
		c.SessionPlace = true
		s.Session = s.Session.AddSuccesses(c.Tool, 1)
	}
}

// giveBack gives back the place of a call that is known to have had no effect, unless it is that of a call in
// doubt.
func (s *step) giveBack(c *BatchCall) {
	if s.doubtOf(c.Key) != nil {
		return
	}
	if c.Place {
		s.inner.Places = s.inner.Places.Plus(c.Tool, -1)
	}
	if c.SessionPlace {
		s.Session = s.Session.AddSuccesses(c.Tool, -1)
	}
	c.Place, c.SessionPlace = false, false
}
