package machine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
)

// Consultation is a transport failure that the planner is asked about before the policy is followed, because
// its class is in [Config].Consult.
type Consultation struct {
	// Position is that of the failed attempt on the transport plane.
	Position
	// Tool is the tool whose call failed, and Index the index of the call in the reply. They are empty and 0
	// for a model call or a try.
	Tool    string        `json:"tool,omitempty"`
	Index   int           `json:"index,omitempty"`
	Failure fault.Failure `json:"failure"`
	// RateLimit is what the error of the failure says of rate limits, or nil.
	RateLimit *ratelimit.State `json:"rate_limit,omitempty"`
	// Asked reports that the tool itself asks for the same call again.
	Asked bool `json:"asked,omitempty"`
	// Verdict is the policy's decision: what [Follow] does.
	Verdict policy.Decision `json:"verdict"`
}

// checkConsult reports invalid classes of Config.Consult.
func checkConsult(classes []fault.Class) error {
	var errs []error
	for n, c := range classes {
		if c == "" || c.InCorrection() {
			errs = append(errs, fmt.Errorf("consult[%d]: %q is not a class of the transport plane; on the correction plane a planner is asked only at exhaustion", n, string(c)))
		}
	}
	return errors.Join(errs...)
}

// consulted reports whether the planner is asked about failures of a class before the policy is followed.
func (s *step) consulted(class fault.Class) bool {
	return s.Config.Planner && slices.Contains(s.Config.Consult, class)
}

// consult adds a failure to ask the planner about.
func (s *step) consult(c Consultation) {
	c.RateLimit = s.limits
	s.Consults = append(slices.Clip(s.Consults), c)
}

// verdict returns the verdict of the call of a consultation.
func (c *Consultation) verdict() Verdict {
	if c.Asked {
		return TryLater
	}
	return Broke
}

// followPolicy follows the policy's decision on a failure. If that is to stop, the planner is not asked
// again.
func (s *step) followPolicy(_ *Plan, c Consultation) error {
	before := s.Exhausted
	if c.Tool != "" {
		s.lost(s.call(c.Index), c.verdict(), c.Failure)
	} else {
		at, verdict := s.requestVerdict(c.Action, &c.Failure)
		s.decidedTransport(at, c.Failure, verdict)
		s.spend(verdict.Delay)
	}
	if s.Exhausted != before {
		s.leaveConsults(policy.ReasonPlanner)
		return s.abort(nil)
	}
	return s.proceed(s.Next)
}

// end records that a failure was the last of its request.
func (s *step) end(c Consultation, verdict policy.Decision) {
	s.failedAt(&c)
	s.decidedTransport(c.Position, c.Failure, verdict)
	s.leaveConsults(verdict.Reason)
}

// leaveConsults records the failures that the planner will not be asked about any more.
func (s *step) leaveConsults(why policy.Reason) {
	for _, c := range s.Consults {
		s.failedAt(&c)
		s.decided(&Decision{Position: c.Position, Plane: fault.Transport, Class: c.Failure.Class,
			Reason: why}, c.Failure.Issues)
	}
	s.Consults = nil
}

// abandon ends the run at a failure. If an action is exhausted already, the run ends with that exhaustion.
func (s *step) abandon(_ *Plan, c Consultation) error {
	var asked *fault.Failure
	if s.Exhausted != nil && s.ev.Failure != nil {
		asked = &c.Failure
	}
	s.end(c, policy.Decision{Reason: policy.ReasonPlanner})
	s.stop(Outcome{Reason: s.Exhausted.Reason, Exhaustion: s.Exhausted, Cause: s.ev.Failure, Asked: asked})
	return nil
}

// degradeInstead ends the run at a failure with the text of the last reply.
func (s *step) degradeInstead(p *Plan, c Consultation) error {
	s.end(c, policy.Decision{Reason: policy.ReasonPlanner})
	return s.degrade(p)
}

// again is the decision of a planner for another try.
func (p *Plan) again() policy.Decision {
	return policy.Decision{Retry: true, Delay: p.Delay, Reason: policy.ReasonPlanner}
}

// sendAgain makes the request again after the plan's delay, whatever the policy says. A different model
// starts with its first attempt.
func (s *step) sendAgain(p *Plan, c Consultation) error {
	if stop := s.exceedsDeadline(p); stop.Reason != "" {
		s.end(c, stop)
		return s.abort(nil)
	}
	s.adopt(p)
	if p.Prompt != "" && s.Batch != nil {
		return s.instead(p, c)
	}
	if c.Tool != "" {
		return s.callAgain(p, c)
	}
	s.decidedTransport(c.Position, c.Failure, p.again())
	if p.Model != "" {
		s.Transport, s.TransportWaited = 1, 0
	} else {
		s.spend(p.Delay)
	}
	if p.Prompt != "" {
		s.say(message.Message{Role: message.User, Text: p.Prompt})
	}
	return s.proceed(s.Next)
}

// callAgain makes the call of a consultation again after the plan's delay. A call that may have had an effect
// and is not repeatable ends instead.
func (s *step) callAgain(p *Plan, c Consultation) error {
	call := s.call(c.Index)
	if call.Status == Doubtful && !call.Repeatable {
		s.endLost(call, Broke, c.Failure, policy.Decision{Reason: policy.ReasonNotRepeatable})
		s.wait(fault.Correction, p.Delay, policy.ReasonPlanner)
		return s.proceed(s.Next)
	}
	s.decidedTransport(c.Position, c.Failure, p.again())
	call.Transport++
	call.Waited = backoff.Sum(call.Waited, p.Delay)
	return s.proceed(s.Next)
}

// instead continues with the plan's prompt and skips the calls that were not run yet.
func (s *step) instead(p *Plan, c Consultation) error {
	s.Consults = append([]Consultation{c}, s.Consults...)
	s.leaveConsults(policy.ReasonPlanner)
	s.skipBatch()
	s.say(message.Message{Role: message.User, Text: p.Prompt})
	s.wait(fault.Correction, p.Delay, policy.ReasonPlanner)
	return s.proceed(NextTurn)
}
