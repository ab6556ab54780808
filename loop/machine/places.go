package machine

import (
	"slices"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/several"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// madeCall is a call of the run that has a result, of a tool whose equal calls are not run.
type madeCall struct {
	Tool string `json:"tool"`
	// Arguments are in the form of [exact].
	Arguments string         `json:"arguments"`
	Answer    string         `json:"answer"`
	Parts     []message.Part `json:"parts,omitempty"`
}

// made returns the call of the run that has a result and these arguments in the form of [exact], or nil.
func (st *State) made(tool string, exact []byte) *madeCall {
	for n := range st.kept.Made {
		if m := &st.kept.Made[n]; m.Tool == tool && m.Arguments == string(exact) {
			return m
		}
	}
	return nil
}

// keepMade keeps the result of a call for equal calls.
func (s *step) keepMade(c *BatchCall) {
	if s.policyOf(c.Tool).EqualCalls == policy.EqualRun {
		return
	}
	m := madeCall{Tool: c.Tool, Arguments: string(c.exact()), Answer: c.Answer, Parts: c.Parts}
	if s.made(c.Tool, c.exact()) == nil {
		s.kept.Made = append(slices.Clip(s.kept.Made), m)
	}
}

// beyond returns the issue of a call beyond the most successes of its tool, or nil. more is the number of
// places that earlier calls of the reply take.
func (st *State) beyond(tool string, more int) *fault.Issue {
	p := st.policyOf(tool)
	for _, limit := range [...]struct {
		most, taken int
		within      string
	}{
		{p.MaxSuccesses, st.kept.Places.Of(tool), "a run"},
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
	s.kept.Places = s.kept.Places.Plus(c.Tool, 1)
	if s.policyOf(c.Tool).MaxSessionSuccesses != policy.Unlimited {
		c.SessionPlace = true
		s.Session = s.Session.AddSuccesses(c.Tool, 1)
	}
}

// doubtOf returns the call in doubt with a key, or nil.
func (st *State) doubtOf(key string) *doubt {
	for n := range st.InDoubt {
		if st.InDoubt[n].Key == key {
			return &st.InDoubt[n]
		}
	}
	return nil
}

// giveBack gives back the place of a call that is known to have had no effect, unless it is that of a call in
// doubt.
func (s *step) giveBack(c *BatchCall) {
	if s.doubtOf(c.Key) != nil {
		return
	}
	if c.Place {
		s.kept.Places = s.kept.Places.Plus(c.Tool, -1)
	}
	if c.SessionPlace {
		s.Session = s.Session.AddSuccesses(c.Tool, -1)
	}
	c.Place, c.SessionPlace = false, false
}

// tellRepeated answers the calls of the batch that were not run because they equal another of the reply.
func (s *step) tellRepeated() {
	for n, c := range s.Batch.Calls {
		if c.unsaid() {
			s.Batch.Calls[n] = s.Batch.repeated(n)
		}
	}
}

// unsaid reports whether a call that equals another of its reply has not got its answer yet.
func (c *BatchCall) unsaid() bool { return c.Status == callRepeated && c.Answer == "" }

// repeated returns call n, which equals another of the reply, with its answer.
func (b *Batch) repeated(n int) *BatchCall {
	own := *b.Calls[n]
	first := b.Calls[own.Twin-1]
	if first.Status != callAnswered {
		own.end(callNotRun, "Not run: it equals another call of the same reply, which ended so: "+first.Answer)
		return &own
	}
	own.Answer = "Not run: it equals another call of the same reply, which has the result: " +
		b.shown(first.Answer) + "\nIf it has to be done twice, make the call again in another reply."
	return &own
}

// shown returns the result of another call as a part of an answer.
func (b *Batch) shown(result string) string {
	if b.Native {
		return result
	}
	return quoted(result)
}

// Answered returns call n of the batch with its answer. ok is false if the call is open, or equals an open
// one of the same reply.
func (b *Batch) Answered(n int) (c *BatchCall, ok bool) {
	switch c = b.Calls[n]; {
	case !c.unsaid():
		return c, c.Ended()
	case !b.Calls[c.Twin-1].Ended():
		return c, false
	}
	return b.repeated(n), true
}

// pollAt returns the poll that a call of a tool that polls repeats, with the earliest time of the call as its
// At; zero for any other call.
func (s *step) pollAt(c *BatchCall) poll {
	every := s.policyOf(c.Tool).Polling
	if every == 0 || c.Transport > 1 || c.Status == callDoubtful {
		return poll{}
	}
	for _, p := range s.kept.Polls {
		if p.Same == c.polled() {
			p.At = p.At.Add(every)
			return p
		}
	}
	return poll{}
}

// maxPolls is the most polls that are kept.
const maxPolls = 32

// notePoll keeps when a call of a tool that polls ended.
func (s *step) notePoll(c *BatchCall) {
	if s.policyOf(c.Tool).Polling == 0 || !c.Ended() {
		return
	}
	now := poll{Same: c.polled(), At: s.At}
	polls := slices.DeleteFunc(slices.Clone(s.kept.Polls), func(p poll) bool {
		if p.Same == now.Same {
			now.Said = p.Said
		}
		return p.Same == now.Same
	})
	s.kept.Polls = append(polls[max(0, len(polls)+1-maxPolls):], now)
}

// holdsPolls marks the calls of the batch that come too early, and starts the wait before them if all others
// have ended. It reports whether there is nothing to run now.
func (s *step) holdsPolls() bool {
	var soonest poll
	ready := false
	for n, c := range s.Batch.Calls {
		if c.Ended() {
			continue
		}
		next := s.pollAt(c)
		held := next.At.After(s.At)
		if held != c.Held {
			s.call(n).Held = held
		}
		if ready = ready || !held; held && (soonest.Same == "" || next.At.Before(soonest.At)) {
			soonest = next
		}
	}
	if ready || soonest.Same == "" {
		return false
	}
	s.kept.TransportWait = &Wait{Until: soonest.At, Delay: soonest.At.Sub(s.At), Plane: fault.Transport,
		Reason: policy.ReasonPolling}
	return true
}

// waitForPoll waits until the first poll may begin, without a charge. A wait that does not end before the
// deadline is not begun.
func (s *step) waitForPoll() error {
	w := s.kept.TransportWait
	s.Waited = backoff.Sum(s.Waited, w.Delay)
	if s.outlasts(w.Delay) {
		s.kept.TransportWait = nil
		s.stop(Outcome{Reason: policy.ReasonDeadline})
		return nil
	}
	s.mustWait(nextTools)
	return nil
}
