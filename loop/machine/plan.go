package machine

import (
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/prompt"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// exhaust records that the action of a decision is exhausted. The first in a reply counts.
func (s *step) exhaust(d *Decision, f fault.Failure) {
	if s.inner.Exhausted == nil {
		s.inner.Exhausted = &Question{Position: d.Position, Plane: d.Plane, Exhausted: true, Decision: d.Decision,
			Failure: f, Cycle: d.Cycle}
		if s.limits != nil {
			s.inner.Exhausted.RateLimit = *s.limits
		}
		if d.Plane == fault.Transport && s.Batch != nil {
			s.inner.Exhausted.Tool = d.Action
		}
		s.notifyExhausted(s.inner.Exhausted)
	}
}

// planned carries out the planner's answer.
func (s *step) planned() error {
	p := s.ev.Plan
	if err := p.fault(s.State); err != nil {
		return s.eventError(err.Error())
	}
	if p.Warning != "" {
		s.Warnings = append(slices.Clip(s.Warnings), p.Warning) // each one, as in recorded histories
	}
	c := s.inner.Consult
	if c == nil {
		return s.afterExhaustion(p)
	}
	s.inner.Consult, s.limits = nil, &c.RateLimit
	return s.afterFailure(p, c)
}

// afterExhaustion carries out a plan after an exhaustion.
func (s *step) afterExhaustion(p *Plan) error {
	switch p.Do {
	case Follow:
		return s.follow()
	case Abort:
		return s.abort()
	case Degrade:
		return s.degrade(p)
	case AskPeople:
		return s.askAbout(p)
	}
	return s.fallBack(p)
}

// afterFailure carries out a plan about a failure on which the policy is not followed yet. A plan that asks
// people was refused before.
func (s *step) afterFailure(p *Plan, c *Question) error {
	switch p.Do {
	case Follow:
		return s.followPolicy(c)
	case Abort:
		s.followTransport(c.Position, c.Failure, policy.Decision{Reason: policy.ReasonPlanner})
		return s.abort()
	case Degrade:
		s.followTransport(c.Position, c.Failure, policy.Decision{Reason: policy.ReasonPlanner})
		return s.degrade(p)
	}
	return s.sendAgain(p, c)
}

// warn adds a warning to the run's result, once. Those of planners come each time.
func (s *step) warn(text string) {
	if !slices.Contains(s.Warnings, text) {
		s.Warnings = append(slices.Clip(s.Warnings), text)
	}
}

// follow ends the run with the exhaustion, unless the policy lets it go on, or asks a person first.
func (s *step) follow() error {
	failed := s.ev.Kind == Planned && s.ev.Failure != nil // the planner itself
	if !s.inner.Exhausted.Exhausted && !failed {
		return s.repeatOn()
	}
	if ask := s.peopleAsked(); ask != nil && !failed {
		return s.askAbout(ask)
	}
	return s.abort()
}

// peopleAsked returns the plan of a policy that asks a person about the exhaustion, or nil. Nobody is asked
// about a single action.
func (s *step) peopleAsked() *Plan {
	p := s.policyOf(s.inner.Exhausted.Action).Approval.Whole()
	if s.Config.Single || p.Exhausted != policy.ExhaustedAsk {
		return nil
	}
	return &Plan{Do: AskPeople, Delay: max(p.Timeout, 0)} // 0 is without an end
}

// abort ends the run with the exhaustion.
func (s *step) abort() error {
	o := Outcome{Reason: s.inner.Exhausted.Reason, Exhaustion: s.inner.Exhausted}
	if s.ev.Kind == Planned {
		o.Cause = s.ev.Failure
	}
	s.stop(o)
	return nil
}

// abortFor ends the run with the exhaustion, for a reason that came after it.
func (s *step) abortFor(why policy.Decision) error {
	x := *s.inner.Exhausted
	x.Reason, x.Detail = why.Reason, why.Detail
	s.stop(Outcome{Reason: x.Reason, Exhaustion: &x})
	return nil
}

// leastAnew is how many requests may be made anew however few turns a run has: one for each of its models,
// say.
const leastAnew = 100

// allowsAnew reports whether a request may be made again that the policy makes no more, and counts it, so
// that no plan goes on for ever.
func (s *step) allowsAnew() bool {
	limit := s.Policy.MaxTurns
	if limit != policy.Unlimited && s.inner.Anew >= max(limit, leastAnew) {
		return false
	}
	s.inner.Anew++
	return true
}

// outlasts reports whether a delay from now does not end before the deadline.
func (s *step) outlasts(delay time.Duration) bool {
	d := s.Config.Deadline
	return !d.IsZero() && !s.At.Add(delay).Before(d)
}

// tooLate returns the stop for a delay that outlasts the run's time.
func (s *step) tooLate(delay time.Duration) policy.Decision {
	return policy.Decision{Reason: policy.ReasonDeadline,
		Detail: policy.Detail{Wait: delay, Room: s.Config.Deadline.Sub(s.At)}}
}

// adopt applies what a plan changes for the rest of the run.
func (s *step) adopt(p *Plan) {
	if p.Policy != nil {
		s.adjust(p.Policy)
	}
	if p.Model != "" {
		s.Model = p.Model
	}
	if p.ResetBudgets {
		s.Failed = failedCounts{}
		s.keepRest()
	}
}

// fallBack closes the exhausted action and goes on with what was next.
func (s *step) fallBack(p *Plan) error {
	if s.outlasts(p.Delay) {
		return s.abortFor(s.tooLate(p.Delay))
	}
	if n := s.inner.Next; (n == thenCall || n == thenTry) && !s.allowsAnew() {
		return s.abortFor(policy.Decision{Reason: policy.ReasonTurnLimit})
	}
	if s.inner.Exhausted.Plane == fault.Correction {
		s.close(s.inner.Exhausted.Action)
	}
	if s.inner.Exhausted.Cycle != nil {
		s.startOver()
	}
	s.inner.Exhausted = nil
	s.adopt(p)
	s.inner.Transport, s.inner.TransportWaited = 1, 0
	n := s.inner.Next
	if p.Prompt != "" {
		if s.Batch != nil {
			s.skipBatch()
			n = thenTurn
		}
		s.say(message.Message{Role: message.User, Text: p.Prompt})
	} else if last, ok := s.transcript.Last(); ok && last.Role == message.Assistant && s.Batch == nil {
		s.say(message.Message{Role: message.User, Text: prompt.Withheld})
	}
	s.wait(fault.Correction, p.Delay, policy.ReasonPlanner)
	s.wait(fault.Transport, p.Delay, policy.ReasonPlanner)
	return s.proceed(n)
}

// degrade ends the run with the plain text of the last reply.
func (s *step) degrade(p *Plan) error {
	if p.Warning == "" {
		s.warn("degraded to plain text: " + s.inner.Exhausted.String())
	}
	s.stop(Outcome{OK: true, Degraded: true, Text: s.lastText(), Reason: policy.ReasonPlanner,
		Exhaustion: s.inner.Exhausted})
	return nil
}

// consulted reports whether the planner is asked about failures of a class before the policy is followed.
func (s *step) consulted(class fault.Class) bool {
	return s.Config.Planner && slices.Contains(s.Config.Consult, class)
}

// consult makes a failure a question for the planner.
func (s *step) consult(c Question) {
	if s.limits != nil {
		c.RateLimit = *s.limits
	}
	s.inner.Consult = &c
}

// followPolicy follows the policy's decision on a failure. If the decision is to stop, the planner is not
// asked again.
func (s *step) followPolicy(c *Question) error {
	if c.Denied {
		s.inner.Patient = true
		return s.proceed(s.inner.Next)
	}
	s.decideRequest(c.Failure)
	if s.inner.Exhausted != nil {
		return s.abort()
	}
	return s.proceed(s.inner.Next)
}

// leaveConsult records the failure that the planner will not be asked about any more.
func (s *step) leaveConsult(why policy.Reason) {
	if c := s.inner.Consult; c != nil {
		s.recordTransport(c.Position, c.Failure, policy.Decision{Reason: why}, FailedAttempts{})
	}
	s.inner.Consult = nil
}

// sendAgain makes the request again after the plan's delay, whatever the policy says. A different model
// starts with its first attempt.
func (s *step) sendAgain(p *Plan, c *Question) error {
	if s.outlasts(p.Delay) {
		s.followTransport(c.Position, c.Failure, s.tooLate(p.Delay))
		return s.abort()
	}
	if (!c.Retry || p.Model != "") && !s.allowsAnew() {
		s.followTransport(c.Position, c.Failure, policy.Decision{Reason: policy.ReasonTurnLimit})
		return s.abort()
	}
	s.adopt(p)
	if c.Denied {
		s.wait(fault.Transport, p.Delay, policy.ReasonPlanner)
	} else {
		s.followTransport(c.Position, c.Failure,
			policy.Decision{Retry: true, Delay: p.Delay, Reason: policy.ReasonPlanner})
	}
	switch {
	case p.Model != "":
		s.inner.Transport, s.inner.TransportWaited = 1, 0
	case c.Denied:
		s.inner.Patient = true
	default:
		s.countRequest(p.Delay)
	}
	if p.Prompt != "" {
		s.say(message.Message{Role: message.User, Text: p.Prompt})
	}
	return s.proceed(s.inner.Next)
}
