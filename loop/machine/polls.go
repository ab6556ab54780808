package machine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// poll is when a call of a tool that polls ended. Same is the digest of its tool and identity, and Said that
// with its answer.
type poll struct {
	Same string    `json:"same"`
	At   time.Time `json:"at"`
	Said string    `json:"said,omitempty"`
}

// pollAt returns the poll that a call of a tool that polls repeats, with the earliest time of the call as its
// At; zero for any other call.
func (s *step) pollAt(c *BatchCall) poll {
	every := s.policyOf(c.Tool).Polling
	if every == 0 || c.Transport > 1 || c.Status == callDoubtful {
		return poll{}
	}
	for _, p := range s.inner.Polls {
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
	polls := slices.DeleteFunc(slices.Clone(s.inner.Polls), func(p poll) bool {
		if p.Same == now.Same {
			now.Said = p.Said
		}
		return p.Same == now.Same
	})
	s.inner.Polls = append(polls[max(0, len(polls)+1-maxPolls):], now)
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
	s.inner.TransportWait = &Wait{Until: soonest.At, Delay: soonest.At.Sub(s.At), Plane: fault.Transport,
		Reason: policy.ReasonPolling}
	return true
}

// waitForPoll waits until the first poll may begin, without a charge. A wait that does not end before the
// deadline is not begun.
func (s *step) waitForPoll() error {
	w := s.inner.TransportWait
	if s.outlasts(w.Delay) {
		s.inner.TransportWait = nil
		s.stop(Outcome{Reason: policy.ReasonDeadline})
		return nil
	}
	s.mustWait(thenTools)
	return nil
}

// isNews reports whether a poll said something else than the same poll before, and keeps what it said.
func (s *step) isNews(c *BatchCall, said string) bool {
	same := c.polled()
	at := slices.IndexFunc(s.inner.Polls, func(p poll) bool { return p.Same == same })
	if at < 0 || s.inner.Polls[at].Said == said {
		return at < 0
	}
	s.inner.Polls = slices.Clone(s.inner.Polls)
	s.inner.Polls[at].Said = said
	return true
}

// polled returns the digest of the tool and identity of a call.
func (c *Call) polled() string { return c.digest("", "", nil) }
