package planner

import (
	"context"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

// Planner decides what follows exhaustion, and what to do about the transport failures named in
// loop.Config.Consult. Its plans are recorded, and a replay does not ask it again.
type Planner interface {
	// Plan returns what to do: follow the policy, abort, fall back (wait, another model, another prompt) or
	// degrade. An error aborts the run and is in the chain of the run's error. An invalid plan counts as an
	// error that says what is wrong with it: see [machine.Plan.Fault].
	Plan(ctx context.Context, q Question) (machine.Plan, error)
}

// PlannerFunc is a function that is a [Planner].
type PlannerFunc func(ctx context.Context, q Question) (machine.Plan, error)

// Plan calls f.
func (f PlannerFunc) Plan(ctx context.Context, q Question) (machine.Plan, error) { return f(ctx, q) }

// Question describes a failed run to a [Planner]. It shares memory with the run and is read-only.
type Question struct {
	// Position is the position of the action, in attempts of Plane.
	machine.Position
	Plane fault.Plane
	// Failure is the last failure.
	Failure fault.Failure
	// Exhausted reports whether the action has ended. Otherwise the planner is asked before the policy is
	// followed.
	Exhausted bool
	// Verdict is what the policy decides: a retry, or why it stops. It is always a stop if Exhausted is set.
	Verdict policy.Decision
	// Tool is the name of the tool whose call failed on the transport plane; empty for a model call, and on
	// the correction plane.
	Tool string
	// Model is the name of the current model; empty for the first.
	Model string
	// RateLimit is the rate limit state of the error, if it has one (see [ratelimit.LimitedError]).
	RateLimit ratelimit.State
	// Cause is the Go error of the failure, or nil. That of a failure with issues is a typed error of package
	// fault. After a crash it has the same text.
	Cause error
	// Session is the current state of the session, with the history of attempts.
	Session session.State
	// At is the time of the failure. Deadline is the end of the run's time; zero means no deadline. No wait
	// may outlast it.
	At, Deadline time.Time
}

// NewQuestion returns the question for an ask_planner effect of the core. cause is the Go error behind it, or
// nil. It is for engines.
func NewQuestion(st machine.State, e machine.Effect, cause error) Question {
	q := Question{
		Model: st.Model, RateLimit: ratelimit.OfError(cause), Cause: cause, Session: st.Session, At: st.At,
		Deadline: st.Config.Deadline,
	}
	if told := rateLimit(e); told != nil { // that of the record, so that a resumed run asks the same
		q.RateLimit = *told
	}
	if c := e.Consultation; c != nil {
		q.Position, q.Plane, q.Failure, q.Verdict, q.Tool = c.Position, fault.Transport, c.Failure, c.Verdict,
			c.Tool
		q.Cause = AskedAbout(c.Failure, cause)
		return q
	}
	x := e.Exhaustion
	q.Position, q.Plane, q.Failure, q.Exhausted = x.Position, x.Plane, x.Failure, true
	q.Verdict, q.Cause = policy.Decision{Reason: x.Reason, Detail: x.Detail}, AskedAbout(x.Failure, cause)
	if x.Plane == fault.Transport && st.Batch != nil {
		q.Tool = x.Action
	}
	return q
}

// rateLimit returns the recorded rate limits of the failure that the planner is asked about, or nil.
func rateLimit(e machine.Effect) *ratelimit.State {
	if e.Consultation != nil {
		return e.Consultation.RateLimit
	}
	return e.Exhaustion.RateLimit
}
