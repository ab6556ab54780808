package simulate

import (
	"strconv"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// limiter stands before the calls of one process.
type limiter interface {
	// ask calls grant once the call may be made.
	ask(c *call, grant func())
	// settle says how the call ended.
	settle(c *call, o limit.Outcome, limits *ratelimit.State)
}

// call is one call of a session, from its first attempt to the last.
type call struct {
	id      int64
	turn    int64
	tokens  int64
	attempt int
	waited  time.Duration
	key     backoff.Key
	granted int64
	probe   bool
}

// session makes its calls one after the other.
type session struct {
	*run
	no            int
	process       limiter
	arrived, left int64
	made          int
	lost          bool
	turn          int64
}

func (s *session) arrive() {
	s.arrived = s.now
	s.next()
}

func (s *session) next() {
	if s.made == s.CallsPerSession {
		s.end(false)
		return
	}
	s.asks++
	s.attempt(&call{
		id: s.asks, turn: s.turn, tokens: int64(s.TokensPerCall), attempt: 1,
		key: backoff.NewKey(strconv.FormatInt(s.Seed, 10)+"/retry", strconv.FormatInt(s.asks, 10)),
	})
}

func (s *session) end(lost bool) {
	s.left, s.lost = s.now, lost
}

// attempt makes a call when the limiter allows it.
func (s *session) attempt(c *call) {
	s.process.ask(c, func() {
		s.stopped = s.log.arrived >= maxArrived
		s.provider.call(func(o limit.Outcome, limits *ratelimit.State) {
			s.process.settle(c, o, limits)
			s.turn = c.turn
			s.ended(c, o, limits)
		})
	})
}

// ended goes on after a call: with the next one, or by the policy with another attempt.
func (s *session) ended(c *call, o limit.Outcome, limits *ratelimit.State) {
	if o == limit.Served {
		s.made++
		s.next()
		return
	}
	s.asks++
	c.id = s.asks
	if c.probe { // it was made for all, and is charged to nobody
		c.probe = false
		s.attempt(c)
		return
	}
	failure := fault.Failure{Class: fault.Unavailable}
	if o == limit.Refused {
		failure.Class = fault.RateLimit
	}
	if limits != nil {
		failure.RetryAfter, _ = limits.Delay()
	}
	d := policy.Decide(&s.Transport, &policy.Position{
		Attempt: c.attempt, Waited: c.waited, Now: s.time(), Key: c.key,
		Budgets: policy.Budgets{Tool: policy.Unlimited, Run: policy.Unlimited, UnknownTools: policy.Unlimited},
	}, &failure)
	if !d.Retry {
		s.end(true)
		return
	}
	c.attempt, c.waited = c.attempt+1, c.waited+d.Delay
	s.after(d.Delay, func() { s.attempt(c) })
}
