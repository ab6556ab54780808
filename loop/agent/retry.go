package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
	"github.com/retake-go/retake/session"
)

// Timed runs an agent once. It sets the start time and duration of a result that has none.
func Timed[T any](
	ctx context.Context, c loop.Clock, run func(context.Context) result.Result[T],
) result.Result[T] {
	start := c.Now()
	r := run(ctx)
	if r.Execution.Duration == 0 {
		r.Execution.Duration = max(c.Now().Sub(start), 0)
	}
	if r.Execution.Timestamp == "" {
		r.Execution.Timestamp = start.UTC().Format(time.RFC3339Nano)
	}
	return r
}

// Retry runs a whole agent under its policy until it succeeds or the policy stops. It always returns a
// result; errors are data. The result's execution has the retry count (0 if the first run was the last) and
// the summed duration, tokens and cost of all attempts. Waits are not included. run gets the number of the
// attempt and must not retry by itself.
//
// The result is that of the last attempt. If successes were not accepted for their confidence or data, it is
// the most confident of them, with a warning. If the policy stopped, but not because the error is not
// retried, a warning says why. An invalid agent, policy or function is an error of class
// [fault.Initialization]. A panic of run is not recovered.
//
// Attempts are recorded in s, on the transport plane; s may be nil. If the agent has an [loop.Action].ID that
// has ended in the journal, it is not run again: the recorded result or error is returned.
func Retry[T any](
	ctx context.Context, s *session.Session, a *Agent,
	run func(context.Context, loop.Attempt) result.Result[T], opts ...loop.Option,
) result.Result[T] {
	if err := a.check(); err != nil {
		return result.Failure[T](fault.Initialization, err.Error())
	}
	if run == nil {
		return result.Failure[T](fault.Initialization, "the function that runs the agent is nil: give one")
	}
	var runs agentRuns[T]
	c := loop.ClockOf(opts...)
	tries := loop.Attempts(ctx, s, &a.Action, opts...)
	var encodeErr error
	for try := range tries.All() {
		at := *try
		at.Number, at.Max = at.Transport, a.Transport.MaxAttempts
		r := Timed(ctx, c, func(ctx context.Context) result.Result[T] { return run(ctx, at) })
		err := judge(a, r)
		runs.add(r, err)
		try.Usage = r.Execution.Usage.Usage
		if err == nil && try.Keeps() {
			try.Value, encodeErr = result.Encode(result.ResultEnvelope, runs.result(nil))
		}
		try.End(err)
	}
	if err := cmp.Or(tries.Err(), encodeErr); err != nil || runs.made > 0 {
		return runs.result(err)
	}
	r, err := result.Decode[T](result.ResultEnvelope, tries.Value())
	if err != nil {
		return result.Failure[T](fault.Initialization, fmt.Sprintf("loop: agent %q succeeded, but its recorded result does not fit: %v", a.ID, err))
	}
	return r
}

// agentRuns sums up the runs of an agent.
type agentRuns[T any] struct {
	made int
	last result.Result[T]
	// best is the most confident success that was not accepted, and why says what was wrong with it.
	best result.Result[T]
	why  string
	// spent is the total of all runs.
	spent result.Execution
}

func (a *agentRuns[T]) add(r result.Result[T], err error) {
	a.spent = r.Execution.Plus(a.spent)
	a.made++
	a.last = r
	if !r.IsSuccess() && !r.IsError() && !r.IsInProgress() {
		a.last = result.Failure[T](fault.InvalidResponse, err.Error())
		a.last.Error.Retryable, a.last.Meta = new(false), r.Meta
	}
	if err != nil && r.IsSuccess() && (!a.best.IsSuccess() || certainty(r) >= certainty(a.best)) {
		a.best, a.why = r, err.Error()
	}
}

// certainty returns the confidence of a result, or 0 if it is unknown.
func certainty[T any](r result.Result[T]) float64 {
	if r.Confidence == nil {
		return 0
	}
	return *r.Confidence
}

// result returns the result of all runs. err is why there is no further run.
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
	r.Execution.RetryCount = new(a.made - 1)
	return r
}

// unstarted returns the result of an agent that was never run.
func unstarted[T any](err error) result.Result[T] {
	if _, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
		return result.FromError[T](err)
	}
	return result.Failure[T](fault.Initialization, err.Error())
}

// stopped returns why there was no further attempt; empty if the result says so already.
func stopped(err error, made int) string {
	e, ok := errors.AsType[*loop.RetryExhaustedError](err)
	switch {
	case err == nil || (ok && e.Reason == policy.ReasonNotRetryable):
		return ""
	case !ok:
		return fmt.Sprintf("stopped after attempt %d: %v", made, err)
	case e.Detail.Wait > 0:
		return fmt.Sprintf("stopped after attempt %d: %v (wait %v, room %v)", made, e.Reason.Phrase(), e.Detail.Wait, e.Detail.Room)
	}
	return fmt.Sprintf("stopped after attempt %d: %v", made, e.Reason.Phrase())
}
