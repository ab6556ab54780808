package machine

import (
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

func (s *step) transportPolicy() *policy.RetryPolicy { return &s.policies.transport }

// requestFailed judges a failed model call or try, or adds it to the questions for the planner. The model
// is not told.
func (s *step) requestFailed(f fault.Failure) {
	if s.consulted(f.Class) {
		s.consult(Question{
			Position: s.requestPosition(), Plane: fault.Transport, Decision: s.requestVerdict(&f), Failure: f,
		})
		return
	}
	s.decideRequest(f)
}

// decideRequest follows the policy's decision on a failed model call or try.
func (s *step) decideRequest(f fault.Failure) {
	verdict := s.requestVerdict(&f)
	s.followTransport(s.requestPosition(), f, verdict)
	s.countRequest(verdict.Delay)
}

// requestPosition returns the position of the current model call or try on the transport plane.
func (s *step) requestPosition() Position {
	return Position{
		Action: s.Config.Action, Attempt: s.inner.Transport, MaxAttempts: s.transportPolicy().MaxAttempts,
	}
}

func (s *step) requestVerdict(f *fault.Failure) policy.Decision {
	return s.transportVerdict(s.transportPolicy(), s.requestPosition(), s.inner.TransportWaited, f)
}

// transportVerdict returns a policy's decision on a failed attempt of the transport plane.
func (s *step) transportVerdict(
	p *policy.RetryPolicy, at Position, waited time.Duration, f *fault.Failure,
) policy.Decision {
	return policy.Decide(p, &policy.Position{
		Attempt: at.Attempt, Now: s.At, Deadline: s.Config.Deadline, Waited: waited,
		Key: s.key(p, f, at.Action, s.Turn, fault.Transport),
	}, f)
}

// countRequest counts an attempt of the current request and the wait after it.
func (s *step) countRequest(delay time.Duration) {
	s.inner.Transport++
	s.inner.TransportWaited = backoff.Sum(s.inner.TransportWaited, delay)
}

// followTransport records a decision on a failed attempt of the transport plane, and follows it.
func (s *step) followTransport(at Position, f fault.Failure, verdict policy.Decision) *Decision {
	d := s.recordTransport(at, f, verdict, FailedAttempts{})
	if d.Retry {
		s.wait(fault.Transport, d.Delay, d.Reason)
	} else {
		s.exhaust(d, f)
	}
	return d
}

// recordTransport records a decision on a failed attempt of the transport plane.
func (s *step) recordTransport(
	at Position, f fault.Failure, verdict policy.Decision, failed FailedAttempts,
) *Decision {
	d := &Decision{Position: at, Plane: fault.Transport, Class: f.Class, Decision: verdict, Failed: failed}
	s.recordDecision(d, f.Issues)
	return d
}
