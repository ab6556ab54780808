package machine

import (
	"fmt"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// doubting ends a sentence about a call without a result: of its effect, if it can have one, nobody knows.
func (c *BatchCall) doubting(end, and string) string {
	if c.ReadOnly {
		return end + "."
	}
	return end + and + " its effect may or may not have happened."
}

// lost returns the text for a call that ended without a result.
func (c *BatchCall) lost(v Verdict) string {
	switch {
	case v == Unknown:
		return c.doubting("The outcome of this call is not known", ":")
	case v == TryLater && c.Transport > 1:
		return fmt.Sprintf("Not done: the tool is not ready for this call, and was asked %d times.", c.Transport)
	case v == TryLater:
		return "Not done: the tool is not ready for this call."
	case c.Transport > 1:
		return c.doubting(fmt.Sprintf("The call failed %d times", c.Transport), ", and")
	}
	return c.doubting("The call failed", ", and")
}

// toolLost handles a call that ended without saying what it did. The planner is asked first if its class is
// consulted.
func (s *step) toolLost(c *BatchCall, end *ToolEnd) error {
	f := fault.Failure{Plane: fault.Transport, Class: fault.Unknown}
	switch {
	case end.Failure != nil && end.Failure.Failed():
		f = *end.Failure
	case end.Verdict != Unknown:
		return s.eventError(fmt.Sprintf("verdict %q needs a failure", end.Verdict))
	}
	f.Tool = c.Tool
	if end.Verdict != TryLater {
		c.Status = Doubtful
	}
	if len(end.Progress) > 0 {
		c.Progress = end.Progress
	}
	if end.Verdict != Unknown && f.Plane == fault.Transport && s.consulted(f.Class) {
		s.consult(Consultation{
			Position: s.callPosition(c), Tool: c.Tool, Index: end.Index, Failure: f,
			Asked:   end.Verdict == TryLater,
			Verdict: s.toolVerdict(c, end.Verdict, f),
		})
		return nil
	}
	s.lost(c, end.Verdict, f)
	return nil
}

// lost decides on a call that ended without saying what it did: another try, or the end of the call.
func (s *step) lost(c *BatchCall, v Verdict, f fault.Failure) {
	verdict := s.toolVerdict(c, v, f)
	if verdict.Retry {
		s.decidedTransport(s.callPosition(c), f, verdict)
		c.Transport++
		c.Waited = backoff.Sum(c.Waited, verdict.Delay)
		return
	}
	s.endLost(c, v, f, verdict)
}

// toolVerdict returns the policy's decision on a call that failed on the transport plane. There is another
// try only if the tool asks for one, or if it is declared repeatable and its error has a type of the
// transport plane.
func (s *step) toolVerdict(c *BatchCall, v Verdict, f fault.Failure) policy.Decision {
	switch {
	case v == Unknown:
		return policy.Decision{Reason: policy.ReasonOutcomeUnknown}
	case v == Broke && f.Plane != fault.Transport:
		return policy.Decision{Reason: policy.ReasonNotRetryable}
	case v == Broke && !c.Repeatable:
		return policy.Decision{Reason: policy.ReasonNotRepeatable}
	}
	p := s.transportOf(c.Tool)
	if v == TryLater {
		p = asked(p, f.Class)
	}
	pos := policy.Position{
		Attempt: c.Transport, Now: s.At, Deadline: s.Config.Deadline, Waited: c.Waited,
		Key: s.key(p, &f, c.Tool, s.Turn, fault.Transport),
	}
	d := policy.Decide(p, &pos, &f)
	if d.Retry && d.Delay == 0 && v == TryLater && p.MaxAttempts == policy.Unlimited {
		slow := *p
		slow.Backoff, slow.Bases = backoff.Constant(leastLater), nil
		return policy.Decide(&slow, &pos, &f)
	}
	return d
}

// leastLater is the wait before a call that its tool asks for again, if the tries are unlimited and neither the
// tool nor the policy waits. Without it the run would spin.
const leastLater = time.Second

// asked returns the policy for a call that its tool asks to try again. The class is retried even if the
// policy does not list it.
func asked(p *policy.RetryPolicy, class fault.Class) *policy.RetryPolicy {
	if p.Retries(class) {
		return p
	}
	own := *p
	own.RetryableErrors = []fault.Class{class}
	return &own
}

// endLost ends a call without a result. The budgets count it, the model is told, and the run goes on unless a
// budget is used up. It is not an attempt of the correction plane.
func (s *step) endLost(c *BatchCall, v Verdict, f fault.Failure, verdict policy.Decision) {
	s.charge(c.Tool, "")
	if over := s.overBudget(c.Tool); over.Reason != "" {
		verdict = over
	}
	d := s.recordTransport(s.callPosition(c), f, verdict)
	s.failed(c, f.Class, textOfFailure(&f))
	s.hearToolFailed(c, f.Class, f.Message, c.inDoubt())
	if verdict.Reason == policy.ReasonToolBudget || verdict.Reason == policy.ReasonRunBudget {
		s.exhaust(d, f)
	}
	if c.Status == Doubtful {
		s.leaveOpen(c)
	}
	s.uncharge(c)
	c.end(Lost, c.lost(v))
}

// callPosition returns the position of a call on the transport plane.
func (s *step) callPosition(c *BatchCall) Position {
	return Position{Action: c.Tool, Attempt: c.Transport,
		MaxAttempts: s.transportOf(c.Tool).MaxAttempts}
}

// overBudget returns the stop for a budget that is used up, or zero.
func (s *step) overBudget(tool string) policy.Decision {
	for _, of := range [...]struct {
		reason        policy.Reason
		failed, limit int
	}{{policy.ReasonToolBudget, s.Spent.tool(tool), s.Policy.Budgets.Tool},
		{policy.ReasonRunBudget, s.Spent.Run, s.Policy.Budgets.Run}} {
		if of.limit != policy.Unlimited && of.failed > of.limit {
			return policy.Decision{Reason: of.reason, Detail: policy.Detail{Count: of.failed,
				Limit: of.limit}}
		}
	}
	return policy.Decision{}
}
