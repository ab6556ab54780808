package observe

import (
	"context"
	"encoding/json"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Observer is told what a run records: once for each attempt, retry, exhaustion, reducer error and progress,
// and of its end. It cannot change the outcome; a panic in it is contained. A replay tells it nothing.
// Progress of tools that run in parallel comes from their goroutines: an Observer must be safe for concurrent
// use. One that is a [Tracer] too is told when work begins and ends. The context is that of the run, with the
// values that tracers gave it.
type Observer interface {
	// Observe is told of one thing that happened, before the run goes on.
	Observe(ctx context.Context, n Notice)
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(ctx context.Context, n Notice)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, n Notice) { f(ctx, n) }

// NoticeKind says what a [Notice] tells of.
type NoticeKind string

// The kinds of notices.
const (
	// AttemptEnded: an attempt passed or failed. Every other decision notice follows one.
	AttemptEnded NoticeKind = "attempt"
	// Retrying: another attempt follows after Delay.
	Retrying NoticeKind = "retry"
	// Exhausted: an action ended without success.
	Exhausted NoticeKind = "exhausted"
	// ReducerFailed: a reducer refused an event. Where the decision on the tool's calls of a reply was taken
	// already, no attempt is charged for it, and Attempt is zero.
	ReducerFailed NoticeKind = "reducer_error"
	// ToolFailed: a call of a tool ended without a result, and the run goes on.
	ToolFailed NoticeKind = "tool_failed"
	// Progressed: a tool reported progress.
	Progressed NoticeKind = "progress"
	// Ended: the run is over.
	Ended NoticeKind = "ended"
)

// Notice is one thing that happened in a run. Fields that the kind does not name are zero.
type Notice struct {
	Kind NoticeKind
	// CorrelationID is the session's.
	CorrelationID string
	// At is the driver's time.
	At time.Time
	// Action, Plane, Attempt and MaxAttempts say where it happened.
	Action               string
	Plane                fault.Plane
	Attempt, MaxAttempts int
	// Class is what went wrong; empty for an attempt that passed.
	Class fault.Class
	// Reason says what was decided, Delay what is waited before the next attempt.
	Reason policy.Reason
	Delay  time.Duration
	// Seed is what loop.Do without a session draws its jitter from: the action's, or the one that Do drew,
	// once a wait needed it. In a session it is empty: there the run's seed or the correlation id is it.
	Seed string
	// Err is the Go error behind Class; nil where there was none.
	Err error
	// Reducer is the reducer that failed.
	Reducer string
	// Usage is the run's, with Ended.
	Usage message.Usage
	// Progress is what the tool reported, as JSON, with Progressed.
	Progress json.RawMessage
}

// NoticesOf are what one effect of the core tells observers of a session; err is the Go error behind a
// failure, nil for none.
func NoticesOf(id string, at time.Time, e machine.Effect, err error) []Notice {
	switch e.Kind {
	case machine.Decided:
		return DecisionNotices(id, at, e.Decision, err)
	case machine.Stop:
		n := Notice{Kind: Ended, CorrelationID: id, At: at, Reason: e.Outcome.Reason, Usage: e.Outcome.Usage}
		if x := e.Outcome.Exhaustion; x != nil {
			n.Plane = x.Plane
		}
		return []Notice{n}
	}
	return nil
}

// DecisionNotices are what one decision tells observers: see [NoticesOf].
func DecisionNotices(id string, at time.Time, d *machine.Decision, err error) []Notice {
	n := Notice{
		Kind: AttemptEnded, CorrelationID: id, At: at, Action: d.Action, Plane: d.Plane, Attempt: d.Attempt,
		MaxAttempts: d.MaxAttempts, Class: d.Class, Reason: d.Reason, Delay: d.Delay,
	}
	if d.Class != "" {
		n.Err = err
	}
	all := []Notice{n}
	if d.ReducerError != nil {
		r := n
		r.Kind, r.Reducer = ReducerFailed, d.ReducerError.Reducer
		all = append(all, r)
	}
	switch {
	case d.Retry:
		n.Kind = Retrying
		all = append(all, n)
	case d.Class != "" && d.Reason != policy.ReducerError && d.Reason != policy.Cancelled:
		n.Kind = Exhausted
		all = append(all, n)
	}
	return all
}
