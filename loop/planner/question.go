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

// Planner decides what follows exhaustion, and what to do about the transport faults that
// loop.Config.Consult names. Its decisions are events of the run: a replay does not
// ask again.
type Planner interface {
	// Plan returns what to do now: follow the policy, abort, fall back (wait, another model, another prompt)
	// or degrade. An error aborts the run, and is reachable from the run's error; a plan that cannot be (a
	// model that is not there, a negative delay, a policy that makes no sense) is the error of the run
	// itself.
	Plan(ctx context.Context, q Question) (machine.Plan, error)
}

// PlannerFunc is a function as a [Planner].
type PlannerFunc func(ctx context.Context, q Question) (machine.Plan, error)

// Plan calls f.
func (f PlannerFunc) Plan(ctx context.Context, q Question) (machine.Plan, error) { return f(ctx, q) }

// Question is what a [Planner] is asked: where a run stands when it failed. It is shared with the run:
// read-only.
type Question struct {
	// Position says where the action stands, in attempts of Plane.
	machine.Position
	Plane fault.Plane
	// Failure is the last failure; its Class is the error's code.
	Failure fault.Failure
	// Exhausted is set where the action has ended already; else the planner is asked before the policy is
	// followed.
	Exhausted bool
	// Verdict is what the policy says: the retry that would follow, or why it stops. After exhaustion it is
	// always a stop.
	Verdict policy.Decision
	// Tool is the tool whose call did not come through; empty for a model call, and for what failed on the
	// correction plane.
	Tool string
	// Model is the model in use, by its name in the run's ladder; empty for the first.
	Model string
	// RateLimit is what the error said of rate limits, where it offers that (see [ratelimit.LimitedError]);
	// else zero.
	RateLimit ratelimit.State
	// Cause is the Go error behind the failure; nil where there was none.
	Cause error
	// Session is the session as it stands, with the history of attempts.
	Session session.State
	// At is the time of the failure, Deadline the time that no wait may outlast, zero where there is none.
	At, Deadline time.Time
}

// NewQuestion is what a planner is asked by an ask_planner effect of the core, with the Go error behind it,
// nil for none: for engines.
func NewQuestion(st machine.State, e machine.Effect, cause error) Question {
	q := Question{
		Model: st.Model, RateLimit: ratelimit.OfError(cause), Cause: cause, Session: st.Session, At: st.At, Deadline: st.Config.Deadline,
	}
	if c := e.Consultation; c != nil {
		q.Position, q.Plane, q.Failure, q.Verdict, q.Tool = c.Position, fault.Transport, c.Failure, c.Verdict, c.Tool
		return q
	}
	x := e.Exhaustion
	q.Position, q.Plane, q.Failure, q.Exhausted = x.Position, x.Plane, x.Failure, true
	q.Verdict = policy.Decision{Reason: x.Reason, Detail: x.Detail}
	if x.Plane == fault.Transport && st.Batch != nil {
		q.Tool = x.Action
	}
	return q
}
