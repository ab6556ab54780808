package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// unrecorded is an action without a session. It counts like the core, but keeps no history. A property test
// compares the decisions of both.
type unrecorded struct {
	o *options
	a *Action
	// at is the current try.
	at Attempt
	// waited and held are the waits so far on the correction and the transport plane.
	waited, held time.Duration
	// same identifies the last failure, and repeats is how many times in a row it came again.
	same    string
	repeats int
}

// failed decides on a failed try and waits for the next. It returns an error if there is none.
func (l *unrecorded) failed(ctx context.Context, err error) error {
	f := l.at.failure(err) // no policy lists a class that is not printable
	if ctx.Err() != nil {
		return l.cancelled(ctx, f.Plane)
	}
	p, pos := l.place(ctx, &f)
	d := policy.Decide(p, &pos, &f)
	if d.Reason == policy.ReasonNotRetryable && refusalIn(err, &f) != nil {
		d.Reason = policy.ReasonReducerError
	}
	if len(l.o.observers) > 0 {
		l.tell(ctx, &f, &d, err)
	}
	if !d.Retry {
		return l.stop(&d, &f, err)
	}
	if f.Plane == fault.Transport {
		l.at.Transport, l.held = l.at.Transport+1, backoff.Sum(l.held, d.Delay)
	} else {
		l.at.Number, l.waited = l.at.Number+1, backoff.Sum(l.waited, d.Delay)
		l.at.Settings = l.a.Policy.SettingsOf(l.at.Number)
		l.at.Transport, l.held = 1, 0
		l.at.before, l.at.last = l.at.last, err
	}
	return l.wait(ctx, d.Delay)
}

// place returns the position of the action after a failure, and its policy.
func (l *unrecorded) place(ctx context.Context, f *fault.Failure) (*policy.RetryPolicy, policy.Position) {
	p, pos := &l.a.Policy, policy.Position{Attempt: l.at.Number, Waited: l.waited}
	if f.Plane == fault.Transport {
		p, pos = &l.a.Transport, policy.Position{Attempt: l.at.Transport, Waited: l.held}
	} else if p.NoProgress > 0 {
		pos.Repeats = l.again(*f)
	}
	if _, bounded := ctx.Deadline(); bounded || !l.a.Deadline.IsZero() {
		pos.Now, pos.Deadline = l.o.clock.Now(), earlier(ctx, l.a.Deadline)
	}
	if p.Draws(f) {
		l.at.seed = cmp.Or(l.at.seed, rand.Text()) // randomness is allowed here
		pos.Key = l.a.key(l.at.seed, f.Plane)
	}
	return p, pos
}

// again returns how many times in a row the same failure came before.
func (l *unrecorded) again(f fault.Failure) int {
	if same := machine.Signature(l.a.Tool, "", fault.Recordable(f, nil)); l.same != same {
		l.same, l.repeats = same, 0
	} else {
		l.repeats++
	}
	return l.repeats
}

// wait waits by the clock. It returns an error if the action was cancelled in the meantime.
func (l *unrecorded) wait(ctx context.Context, delay time.Duration) error {
	if delay <= 0 {
		return nil
	}
	select {
	case <-l.o.clock.After(delay):
		return nil
	case <-ctx.Done():
		return l.cancelled(ctx, "")
	}
}

// position returns the position of the action on a plane.
func (l *unrecorded) position(plane fault.Plane) machine.Position {
	if plane == fault.Transport {
		return machine.Position{Action: l.a.Tool, Attempt: l.at.Transport,
			MaxAttempts: l.a.Transport.MaxAttempts}
	}
	return machine.Position{Action: l.a.Tool, Attempt: l.at.Number, MaxAttempts: l.at.Max}
}

func (l *unrecorded) tell(ctx context.Context, f *fault.Failure, d *policy.Decision, err error) {
	decision := &machine.Decision{
		Position: l.position(f.Plane), Plane: f.Plane, Class: canon.UTF8(f.Class),
		Retry: d.Retry, Delay: d.Delay, Reason: d.Reason,
	}
	for _, n := range observe.DecisionNotices("", l.o.clock.Now().UTC().Round(0), decision, err) {
		n.Seed = l.at.seed
		l.o.tell(ctx, n)
	}
}

// cancelled returns the error of an action whose context has ended. The plane is empty in a wait.
func (l *unrecorded) cancelled(ctx context.Context, plane fault.Plane) error {
	cause := whyDone(ctx, false)
	reason := policy.ReasonCancelled
	if fault.FailureOf(cause).Class == fault.DeadlineExceeded {
		reason = policy.ReasonDeadline
	}
	return l.stop(&policy.Decision{Reason: reason}, &fault.Failure{Plane: plane}, cause)
}

func (l *unrecorded) stop(d *policy.Decision, said *fault.Failure, cause error) error {
	p, f := l.position(said.Plane), fault.Recordable(*said, cause)
	e := &RetryExhaustedError{
		Action: p.Action, Plane: f.Plane, Reason: d.Reason, Detail: d.Detail, Attempt: p.Attempt,
		MaxAttempts: p.MaxAttempts, Failure: f,
		Policy: l.a.Policy, Seed: l.at.seed, Cause: cause, tried: true,
		Attempts: []session.Attempt{{
			Action: p.Action, Attempt: p.Attempt, MaxAttempts: p.MaxAttempts, Plane: f.Plane, Class: f.Class,
			Issues: f.Issues, Reason: d.Reason,
		}},
	}
	if f.Plane == fault.Transport {
		e.Policy = l.a.Transport
	}
	var prev *feedback.RetryFeedback
	if l.at.last != nil {
		prev = new(l.at.feedback(l.at.Number-1, l.at.last, nil))
	}
	e.Feedback = e.lastFeedback(session.State{}, prev)
	return e
}
