package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// toolLost handles a call that ended without saying what it did.
func (s *step) toolLost(c *BatchCall, end *ToolEnd) error {
	f := fault.Failure{Plane: fault.Transport, Class: fault.Unknown}
	switch {
	case end.Failure != nil && end.Failure.Failed():
		f = *end.Failure
	case end.Verdict != Unknown:
		return s.eventError(fmt.Sprintf("verdict %q needs a failure", end.Verdict))
	}
	f.Tool = c.Tool
	if end.Verdict != TryLater || end.InDoubt {
		c.Status = callDoubtful
	}
	if len(end.Progress) > 0 {
		c.Progress = end.Progress
	}
	s.lost(c, end.Verdict, f)
	return nil
}

// lost decides on a call that ended without saying what it did: another try, or the end of the call.
func (s *step) lost(c *BatchCall, v Verdict, f fault.Failure) {
	verdict := s.toolVerdict(c, v, f)
	if verdict.Retry {
		s.followTransport(s.callPosition(c), f, verdict)
		c.Transport++
		c.Waited = backoff.Sum(c.Waited, verdict.Delay)
		return
	}
	if c.inDoubt() && s.policyOf(c.Tool).Approval.InDoubt == policy.DoubtAsk {
		c.Lost = &lostCall{v, f, verdict} // a person is asked before it ends
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
		p = retrying(p, f.Class)
	}
	d := s.transportVerdict(p, s.callPosition(c), c.Waited, &f)
	if d.Retry && d.Delay == 0 && v == TryLater && p.MaxAttempts == policy.Unlimited {
		slow := *p
		slow.Backoff, slow.Bases = backoff.Constant(leastLater), nil
		return s.transportVerdict(&slow, s.callPosition(c), c.Waited, &f)
	}
	return d
}

// leastLater is the wait before a call that its tool asks for again, if the tries are unlimited and neither
// the tool nor the policy waits. Without it the run would spin.
const leastLater = time.Second

// retrying returns the policy for a call that its tool asks to try again. The class is retried even if the
// policy does not list it.
func retrying(p *policy.RetryPolicy, class fault.Class) *policy.RetryPolicy {
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
	var failed FailedAttempts
	if !s.Batch.failed(c.Tool) && len(s.Batch.of(c.Tool, callLost)) == 0 { // else the tool has counted in this reply
		s.countFailed(c.Tool, "")
		failed = s.failedAttempts(c.Tool)
	}
	over, detail := s.Policy.Budgets.Exceeded(s.Failed.tool(c.Tool), 0, s.Failed.Run)
	if over != "" {
		verdict = policy.Decision{Reason: over, Detail: detail}
	}
	d := s.recordTransport(s.callPosition(c), f, verdict, failed)
	s.recordToolFailure(c, f.Class, textOfFailure(&f))
	s.notifyToolFailed(c, f.Class, f.Message, c.inDoubt())
	if over != "" {
		s.exhaust(d, f)
	}
	if c.Status == callDoubtful {
		s.addDoubt(c)
	}
	s.giveBack(c)
	c.end(callLost, c.lostText(v))
}

// callPosition returns the position of a call on the transport plane.
func (s *step) callPosition(c *BatchCall) Position {
	return Position{Action: c.Tool, Attempt: c.Transport,
		MaxAttempts: s.transportOf(c.Tool).MaxAttempts}
}

// ToolFailure is a call of a run that failed: it gave no result.
type ToolFailure struct {
	CallRef
	// Class is the class of its error; [fault.ToolExecution] if the tool failed for good.
	Class fault.Class `json:"class"`
	// Text is what the tool said or the text of its error, on one line, without keys, at most 1 KiB. It is
	// for operators.
	Text string `json:"text,omitempty"`
	// ReadOnly reports that the tool is declared read-only: nothing depends on the call.
	ReadOnly bool `json:"read_only,omitempty"`
}

// ToolFailures returns the calls of the run that failed, in the order of their ends. The slice is read-only.
func (st State) ToolFailures() []ToolFailure { return st.failures.From(0) }

// Warned returns the warnings of a run that has ended, with those of its tools that gave no result. An action
// without a model has no tool calls; its failures are in its error.
func (st *State) Warned() []string {
	all := slices.Clip(st.Outcome.Warnings)
	for _, a := range st.Attempts() {
		if text := a.ToolFailure(); text != "" && !st.Config.Single {
			all = append(all, text)
		}
	}
	return all
}

// recordToolFailure records a call that failed.
func (s *step) recordToolFailure(c *BatchCall, class fault.Class, text string) {
	s.failures = s.failures.Append(ToolFailure{CallRef: c.ref(), Class: class, Text: text, ReadOnly: c.ReadOnly})
}

// textOfFailure returns the text of the error behind a failure.
func textOfFailure(f *fault.Failure) string { return cmp.Or(f.Text, f.Message) }

// uncharge takes back the attempt of a tool in a reply, because calls of it ended without an outcome, which
// costs none, unless another call was a failed attempt. An action that stays open gets a new number, so that
// no later call has the key of a call in doubt by chance.
func (s *step) uncharge(tool string) {
	open := s.find(tool)
	if open == nil {
		return
	}
	a := *open
	s.close(tool)
	if !s.Batch.failed(tool) {
		if a.Attempt <= 1 {
			return
		}
		a.Attempt--
		a.Over = true
	}
	s.Opened++
	a.Number = s.Opened
	s.Actions = append(s.Actions, a)
}
