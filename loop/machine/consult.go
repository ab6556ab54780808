package machine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Consultation is a transport fault that the planner is asked about before the policy is followed: its class
// is among [Config].Consult.
type Consultation struct {
	// Position is that of the attempt that failed, on the transport plane.
	Position
	// Tool is the tool whose call failed, Index the call's place in the reply; empty and 0 for a model call
	// or a try.
	Tool    string        `json:"tool,omitempty"`
	Index   int           `json:"index,omitempty"`
	Failure fault.Failure `json:"failure"`
	// Asked is set where the tool itself asks for the same call again.
	Asked bool `json:"asked,omitempty"`
	// Verdict is what the policy says: what [Follow] would do now.
	Verdict policy.Decision `json:"verdict"`
}

// checkConsult says what is wrong with the classes at which a planner is to be asked.
func checkConsult(classes []fault.Class) error {
	var errs []error
	for n, c := range classes {
		if c == "" || c.InCorrection() {
			errs = append(errs, fmt.Errorf("consult[%d]: %q is no class of the transport plane; of the correction plane a planner is asked at exhaustion", n, string(c)))
		}
	}
	return errors.Join(errs...)
}

// consulted reports whether the planner is asked about faults of a class before the policy is followed.
func (s *step) consulted(class fault.Class) bool {
	return s.Config.Planner && slices.Contains(s.Config.Consult, class)
}

// consult notes a fault that the planner is to be asked about.
func (s *step) consult(c Consultation) { s.Consults = append(slices.Clip(s.Consults), c) }

// verdict is how the call of a consultation ended.
func (c *Consultation) verdict() Verdict {
	if c.Asked {
		return TryLater
	}
	return Broke
}

// requestFailed judges a model call or a try that did not come through, or puts it to the planner.
func (s *step) requestFailed(name string, f fault.Failure) {
	if s.consulted(f.Class) {
		s.consult(Consultation{
			Position: Position{Action: name, Attempt: s.Transport, MaxAttempts: s.transportPolicy().MaxAttempts}, Failure: f,
			Verdict: s.transportVerdict(name, s.Transport, f, s.TransportWaited),
		})
		return
	}
	s.spend(s.judgeTransport(name, s.Transport, f, s.TransportWaited).Delay)
}

// spend counts an attempt of the request under way, and the wait after it.
func (s *step) spend(delay time.Duration) {
	s.Transport++
	s.TransportWaited = backoff.Sum(s.TransportWaited, delay)
}

// followPolicy does what the policy says of a fault as things stand now. Where that is to stop, the planner
// is not asked again.
func (s *step) followPolicy(c Consultation) error {
	before := s.Exhausted
	if c.Tool != "" {
		s.lost(s.consultedCall(c), c.verdict(), c.Failure)
	} else {
		s.spend(s.judgeTransport(c.Action, c.Attempt, c.Failure, s.TransportWaited).Delay)
	}
	if s.Exhausted != before {
		s.leaveConsults(policy.Planner)
		return s.abort()
	}
	return s.onward(s.Next)
}

// consultedCall is the call of a consultation, in a batch that the step may write to.
func (s *step) consultedCall(c Consultation) *BatchCall { return &s.copyBatch().Calls[c.Index] }

// end records that a fault was the last of its request.
func (s *step) end(c Consultation, verdict policy.Decision) {
	s.decidedTransport(c.Position, c.Failure, verdict)
	s.leaveConsults(verdict.Reason)
}

// leaveConsults records the faults that nobody will be asked about any more.
func (s *step) leaveConsults(why policy.Reason) {
	for _, c := range s.Consults {
		s.decided(&Decision{Position: c.Position, Plane: fault.Transport, Class: c.Failure.Class, Reason: why}, c.Failure.Issues)
	}
	s.Consults = nil
}

// abandon ends the run at a fault.
func (s *step) abandon(c Consultation) error {
	s.end(c, policy.Decision{Reason: policy.Planner})
	return s.abort()
}

// degradeInstead ends the run at a fault with what the model said last.
func (s *step) degradeInstead(p *Plan, c Consultation) error {
	s.end(c, policy.Decision{Reason: policy.Planner})
	return s.degrade(p)
}

// sendAgain makes the request again after the plan's delay, whatever the policy says. Another model begins
// with a first attempt.
func (s *step) sendAgain(p *Plan, c Consultation) error {
	if stop := s.misfits(p); stop.Reason != "" {
		s.end(c, stop)
		return s.abort()
	}
	s.adopt(p)
	if p.Prompt != "" && s.Batch != nil {
		return s.instead(p, c)
	}
	if c.Tool != "" {
		return s.callAgain(p, c)
	}
	s.decidedTransport(c.Position, c.Failure, policy.Decision{Retry: true, Delay: p.Delay, Reason: policy.Planner})
	if p.Model != "" {
		s.Transport, s.TransportWaited = 1, 0
	} else {
		s.spend(p.Delay)
	}
	if p.Prompt != "" {
		s.say(message.Message{Role: message.User, Text: p.Prompt})
	}
	return s.onward(s.Next)
}

// callAgain makes the call of a consultation again after the plan's delay. One that may have had its effect
// is not, unless it is repeatable: it ends as the policy has it.
func (s *step) callAgain(p *Plan, c Consultation) error {
	call := s.consultedCall(c)
	if call.Doubt && !call.Repeatable {
		s.endLost(call, Broke, c.Failure, policy.Decision{Reason: policy.NotRepeatable})
		s.Resume = s.later(s.Resume, p.Delay, fault.Correction, policy.Planner)
		return s.onward(s.Next)
	}
	s.decidedTransport(c.Position, c.Failure, policy.Decision{Retry: true, Delay: p.Delay, Reason: policy.Planner})
	call.Transport++
	call.Waited = backoff.Sum(call.Waited, p.Delay)
	return s.onward(s.Next)
}

// instead goes on with the plan's prompt instead of the calls that are still to be run.
func (s *step) instead(p *Plan, c Consultation) error {
	s.Consults = append([]Consultation{c}, s.Consults...)
	s.leaveConsults(policy.Planner)
	s.skipBatch()
	s.say(message.Message{Role: message.User, Text: p.Prompt})
	s.Resume = s.later(s.Resume, p.Delay, fault.Correction, policy.Planner)
	return s.onward(NextTurn)
}
