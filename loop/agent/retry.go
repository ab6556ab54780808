package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/benbjohnson/clock"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// Timed runs an agent once and fills in when it began and how long it took, by the clock, where the result
// does not say so itself.
func Timed[T any](ctx context.Context, c clock.Clock, run func(context.Context) result.Result[T]) result.Result[T] {
	start := c.Now()
	r := run(ctx)
	return stamped(r, start, c.Now())
}

// Retry runs a whole agent under its policy until it succeeds, or until the policy allows no further attempt.
// Errors are data here: whatever happens, a result comes back. Its execution has the retry count (0 for a
// first try that was the last), and the duration, tokens and cost of all attempts, failed ones too; waits are
// not counted in. run is told the number of the attempt; it must not retry on its own account.
//
// The result is the last attempt's. Where successes were not accepted for their confidence or data, it is the
// most confident of them instead, with a warning. Where the policy stopped for another reason than that the
// error is not retried, a warning says so. An agent, policy or function that cannot be is an error of class
// [fault.Initialization]. A panic of run is its caller's.
//
// Attempts are recorded in s, on the transport plane; s may be nil. An agent with an [loop.Action].ID that
// has ended in the journal is not run again: the result that was accepted is given, or the error that there
// was no further attempt.
func Retry[T any](ctx context.Context, s *session.Session, a *Agent, run func(context.Context, loop.Attempt) result.Result[T], opts ...loop.Option) result.Result[T] {
	if err := a.Validate(); err != nil {
		return result.Failure[T](fault.Initialization, err.Error())
	}
	if run == nil {
		return result.Failure[T](fault.Initialization, "the function that runs the agent is nil: give one")
	}
	var runs agentRuns[T]
	c := loop.ClockOf(opts...)
	tries := loop.Attempts(ctx, s, &a.Action, opts...)
	var lost error
	for try := range tries.All() {
		at := try.Attempt
		at.Number, at.Max = at.Transport, a.Transport.MaxAttempts
		r := Timed(ctx, c, func(ctx context.Context) result.Result[T] { return run(ctx, at) })
		err := judge(a, r)
		runs.add(r, err)
		ended := loop.Tried{Err: err, Usage: r.Execution.Usage.Usage}
		if err == nil && try.Keeps() {
			ended.Value, lost = result.Encode(result.ResultEnvelope, runs.result(nil))
		}
		try.EndWith(ended)
	}
	if err := cmp.Or(tries.Err(), lost); err != nil || runs.made > 0 {
		return runs.result(err)
	}
	r, err := result.Decode[T](result.ResultEnvelope, tries.Value())
	if err != nil {
		return result.Failure[T](fault.Initialization, fmt.Sprintf("loop: agent %q has succeeded, and its recorded result does not fit: %v", a.ID, err))
	}
	return r
}

// agentRuns sums up the runs of an agent.
type agentRuns[T any] struct {
	made int
	last result.Result[T]
	// best is the most confident success that was not accepted, why what was wrong with it.
	best result.Result[T]
	why  string
	// spent is what all of them took.
	spent result.Execution
}

func (a *agentRuns[T]) add(r result.Result[T], err error) {
	a.spent = r.Execution.Plus(a.spent)
	a.made++
	a.last = r
	if !r.IsSuccess() && !r.IsError() && !r.IsInProgress() {
		a.last = result.Failure[T](fault.InvalidResponse, err.Error())
		a.last.Meta = r.Meta
	}
	if err != nil && r.IsSuccess() && (!a.best.IsSuccess() || r.Confidence.Value >= a.best.Confidence.Value) {
		a.best, a.why = r, err.Error()
	}
}

// result is what the runs came to, where err says why there is no further one.
func (a *agentRuns[T]) result(err error) result.Result[T] {
	if a.made == 0 {
		return unstarted[T](err)
	}
	r := a.last
	if err != nil && a.best.IsSuccess() {
		r = a.best
		r.Meta = r.Warn(a.why)
	}
	if why := stopped(err, a.made); why != "" {
		r.Meta = r.Warn(why)
	}
	model, provider := r.Execution.Model, r.Execution.Provider
	r.Execution = a.spent
	if model != "" || provider != "" {
		r.Execution.Model, r.Execution.Provider = model, provider
	}
	r.Execution.RetryCount = result.Some(a.made - 1)
	return r
}

// unstarted is the result of an agent that was never run.
func unstarted[T any](err error) result.Result[T] {
	if _, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		return result.FromError[T](err)
	}
	return result.Failure[T](fault.Initialization, err.Error())
}

// stopped says for people why there was no further attempt; empty where the result says it.
func stopped(err error, made int) string {
	e, ok := errors.AsType[*loop.RetryExhaustedError](err)
	switch {
	case err == nil || (ok && e.Reason == policy.NotRetryable):
		return ""
	case !ok:
		return fmt.Sprintf("stopped after attempt %d: %v", made, err)
	case e.Detail.Wait > 0:
		return fmt.Sprintf("stopped after attempt %d: %v (wait %v, room %v)", made, e.Reason.Phrase(), e.Detail.Wait, e.Detail.Room)
	}
	return fmt.Sprintf("stopped after attempt %d: %v", made, e.Reason.Phrase())
}
