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

// Limiter stands before the calls of one process.
type Limiter interface {
	// Ask calls grant once the call may be made: before it returns, or later by the clock.
	Ask(c *Call, grant func())
	// Settle says how a granted call ended, and what the response said of limits; nil for nothing. It reports
	// whether the call may be made again if it failed and the policy allows it, too.
	Settle(c *Call, o limit.Outcome, limits *ratelimit.State) (again bool)
}

// Call is one call of a session, from its first attempt to the last.
type Call struct {
	// Attempt counts from 1, and Last says, when it is settled, that the policy lets none follow.
	Attempt int
	Last    bool

	id      int64
	turn    int64
	tokens  int64
	waited  time.Duration
	key     backoff.Key
	granted int64
	probe   bool
	excused bool
	// again is set once the call has failed, also as a probe.
	again bool
	// deny ends the session, because the limiter does not let the call be made.
	deny func()
}

// session makes its calls one after the other.
type session struct {
	*run
	no            int
	process       Limiter
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
		s.leave()
		return
	}
	s.asks++
	s.attempt(&Call{
		id: s.asks, turn: s.turn, tokens: int64(s.TokensPerCall), Attempt: 1,
		key:  backoff.NewKey(strconv.FormatInt(s.Seed, 10)+"/retry", strconv.FormatInt(s.asks, 10)),
		deny: s.lose,
	})
}

// leave ends a session with all its calls made, and lose one that cannot go on.
func (s *session) leave() { s.left = s.now }

func (s *session) lose() { s.left, s.lost = s.now, true }

// attempt makes a call when the limiter allows it.
func (s *session) attempt(c *Call) {
	s.process.Ask(c, func() {
		s.stopped = s.log.arrived >= maxArrived
		s.provider.call(func(o limit.Outcome, limits *ratelimit.State) { s.ended(c, o, limits) })
	})
}

// ended goes on after a call: with the next one, or by the policy with another attempt, if the limiter lets
// it.
func (s *session) ended(c *Call, o limit.Outcome, limits *ratelimit.State) {
	var d policy.Decision
	c.probe = c.probe || c.excused && o == limit.Refused
	if o != limit.Served && !c.probe { // a probe was made for all, and is charged to nobody
		d = s.decide(c, o, limits)
	}
	c.Last = !d.Retry && !c.probe || o == limit.Served
	again := s.process.Settle(c, o, limits)
	s.turn = c.turn
	if o == limit.Served {
		s.made++
		s.next()
		return
	}
	s.asks++
	c.id, c.again = s.asks, true
	switch {
	case c.probe:
		c.probe = false
		s.attempt(c)
	case c.Last || !again:
		s.lose()
	default:
		c.Attempt, c.waited = c.Attempt+1, c.waited+d.Delay
		s.After(d.Delay, func() { s.attempt(c) })
	}
}

// decide returns what the policy says of a failed call.
func (s *session) decide(c *Call, o limit.Outcome, limits *ratelimit.State) policy.Decision {
	failure := fault.Failure{Class: fault.Unavailable}
	if o == limit.Refused {
		failure.Class = fault.RateLimit
	}
	if limits != nil {
		failure.RetryAfter, _ = limits.Delay()
	}
	return policy.Decide(&s.Transport, &policy.Position{
		Attempt: c.Attempt, Waited: c.waited, Now: s.Now(), Key: c.key,
		Budgets: policy.Budgets{Tool: policy.Unlimited, Run: policy.Unlimited, UnknownTools: policy.Unlimited},
	}, &failure)
}
