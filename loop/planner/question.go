package planner

import (
	"context"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/typed"
	"github.com/retake-go/retake/loop/machine"
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
	// Question is the failed attempt and the policy's decision on it.
	machine.Question
	// Model is the name of the current model; empty for the first.
	Model string
	// Cause is the Go error of the failure, or nil. A failure with issues has a typed error of package fault.
	// After a crash it is another error with the same text.
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
	own := *e.Question // the planner may write into it
	own.Failure.Issues = slices.Clone(own.Failure.Issues)
	if own.Cycle != nil {
		own.Cycle = &machine.Cycle{Rounds: own.Cycle.Rounds, Calls: slices.Clone(own.Cycle.Calls)}
	}
	return Question{
		Question: own, Model: st.Model, Cause: typed.Asked(own.Failure, cause), Session: st.Session,
		At: st.At, Deadline: st.Config.Deadline,
	}
}
