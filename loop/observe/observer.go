package observe

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
)

// Observer is told what happens in a run: each attempt, retry, exhaustion, reducer error and progress, and
// the end. It cannot change the outcome, and its panics are recovered. A replay calls no observer. Tools that
// run in parallel report progress from their own goroutines, so an Observer must be safe for concurrent use.
// It may also be a [Tracer]. The context is that of the run, with the values of tracers.
type Observer interface {
	// Observe is called once for each thing that happened, before the run goes on.
	Observe(ctx context.Context, n Notice)
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, n Notice)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, n Notice) { f(ctx, n) }

// NoticeKind is the kind of a [Notice].
type NoticeKind string

// The kinds of notices.
const (
	// AttemptEnded: an attempt passed or failed. The notices of its decision follow.
	AttemptEnded NoticeKind = "attempt"
	// Retrying: another attempt follows after Delay.
	Retrying NoticeKind = "retry"
	// Exhausted: an action ended without success.
	Exhausted NoticeKind = "exhausted"
	// ReducerFailed: a reducer refused an event. Attempt is zero if no attempt is charged because the attempt
	// was already decided.
	ReducerFailed NoticeKind = "reducer_error"
	// ToolFailed: a tool call ended without a result, and the run goes on.
	ToolFailed NoticeKind = "tool_failed"
	// Asked: a person is asked about a call (Ask). Answered: the question has its answer, or the default if
	// nobody answered (Settled).
	Asked    NoticeKind = "asked"
	Answered NoticeKind = "answered"
	// Granted: the limiter granted or denied a model call or a try (Grant).
	Granted NoticeKind = "granted"
	// Progressed: a tool reported progress.
	Progressed NoticeKind = "progress"
	// Warned: a warning entered the result of the run.
	Warned NoticeKind = "warned"
	// Ended: the run ended.
	Ended NoticeKind = "ended"
)

// Notice is one thing that happened in a run. Fields that do not belong to the kind are zero.
type Notice struct {
	Kind NoticeKind
	// CorrelationID is the correlation id of the session.
	CorrelationID string
	// At is the time by the driver's clock.
	At time.Time
	// Action, Plane, Attempt and MaxAttempts identify the attempt.
	Action               string
	Plane                fault.Plane
	Attempt, MaxAttempts int
	// Invented reports that Action is the name of no tool of the run: the model made it up, and it may hold
	// anything.
	Invented bool
	// Class is the class of the failure; empty for an attempt that passed, or that the run did not wait for
	// because it was cancelled or out of time (see Reason).
	Class fault.Class
	// Reason is why the decision was taken. Delay is the wait before the next attempt.
	Reason policy.Reason
	Delay  time.Duration
	// Err is the Go error of the failure, or nil. Its text may hold secrets: see [Hide].
	Err error
	// Reducer is the name of the reducer that failed.
	Reducer string
	// Totals are those of the run, for Ended. For AttemptEnded they have only Usage and Cost, those of the
	// attempt.
	machine.Totals
	// Attempts is the number of the run's attempts, and Issues are what was wrong with the last reply. Class,
	// Action and Attempt of an end are those of the action that was given up. Only for Ended.
	Attempts int
	Issues   []fault.Issue
	// Took is the time since the run began, or was resumed, by the driver's clock; 0 if unknown. Only for
	// Ended.
	Took time.Duration
	// Ask is the question, and Settled how it was answered. They are read-only.
	Ask     *machine.Ask
	Settled *machine.Settled
	// Grant is what the limiter answered; it is read-only. Only for Granted.
	Grant *machine.Grant
	// Text is the warning. Only for Warned.
	Text string
	// Progress is what the tool reported, as JSON. Only for Progressed.
	Progress json.RawMessage
}

// NoticesOf returns the notices for an effect of the core. st is the state after its step. err is the Go
// error behind a failure, or nil.
func NoticesOf(st *machine.State, at time.Time, e machine.Effect, err error) (all []Notice) {
	switch e.Kind {
	case machine.Decided:
		all = decisionNotices(e.Decision, err)
		all[0].Usage, all[0].Cost = consumed(st, e.Decision)
	case machine.AskPerson:
		for n := range e.Asks { // those that stay open after an answer have had their notices
			if a := &e.Asks[n]; a.At.Equal(at) {
				all = append(all, Notice{Kind: Asked, Action: a.Tool, Ask: a})
			}
		}
	case machine.AskSettled:
		d := e.Settled
		all = []Notice{{Kind: Answered, Action: d.Ask.Tool, Ask: &d.Ask, Settled: d}}
	case machine.Stop:
		all = []Notice{endNotice(e.Outcome, err)}
		all[0].Attempts = len(st.Attempts())
	}
	for n := range all {
		all[n].CorrelationID, all[n].At = st.Session.ID(), at
	}
	return all
}

// mostDecided is how many attempts back [consumed] looks for the record of a decision.
const mostDecided = 256

// consumed returns what an attempt consumed, by its record.
func consumed(st *machine.State, d *machine.Decision) (message.Usage, int64) {
	last := max(st.First, st.Session.AttemptCount()-mostDecided)
	for _, a := range slices.Backward(st.Session.AttemptsFrom(last)) {
		if a.Action == d.Action && a.Attempt == d.Attempt && a.Plane == d.Plane {
			return a.Usage, a.Cost
		}
	}
	return message.Usage{}, 0
}

func endNotice(o *machine.Outcome, err error) Notice {
	n := Notice{Kind: Ended, Reason: o.Reason, Totals: o.Totals}
	if o.OK || o.Degraded {
		return n
	}
	n.Class, n.Err = o.Reason.Class(), err
	if x := o.Exhaustion; x != nil {
		n.Plane, n.Action, n.Attempt, n.MaxAttempts = x.Plane, x.Action, x.Attempt, x.MaxAttempts
		n.Class, n.Issues = x.Failure.Class, slices.Clone(x.Failure.Issues)
	}
	return n
}

// decisionNotices returns the notices for a decision: see [NoticesOf].
func decisionNotices(d *machine.Decision, err error) []Notice {
	n := Notice{
		Kind: AttemptEnded, Action: d.Action, Plane: d.Plane, Attempt: d.Attempt, MaxAttempts: d.MaxAttempts,
		Class: d.Class, Reason: d.Reason, Delay: d.Delay,
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
	case d.Class != "" && d.Reason != policy.ReasonReducerError && d.Reason != policy.ReasonCancelled:
		n.Kind = Exhausted
		all = append(all, n)
	}
	return all
}
