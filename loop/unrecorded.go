package loop

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// line is an action without a session: the counters of the core without its history. A property test holds both to the
// same decisions.
type line struct {
	// next is the try that is under way.
	next Attempt
	// transport is its attempt on the transport plane.
	transport    int
	waited, held time.Duration
	// seen is nil until a failure is looked at for being the same again.
	seen *seen
	o    *options
}

// seen is what a failure was, and how many times in a row it came again.
type seen struct {
	same    string
	repeats int
}

// begin sets a line that is zero at the first try of an action. A literal would be made elsewhere, and then copied.
func (l *line) begin(a *Action, o *options) {
	l.next.Number, l.next.Max, l.next.of, l.next.seed = 1, a.Policy.MaxAttempts, a, a.Seed
	l.transport, l.o = 1, o
}

// failed decides on a try that failed. Without an error there is to be another, after the wait that it returns.
func (l *line) failed(ctx context.Context, err error) (time.Duration, error) {
	var f fault.Failure
	setSaid(&f, err) // what is told of it is made printable there; no policy lists a class that is not
	if ctx.Err() != nil {
		return 0, l.cancelled(ctx, f.Plane)
	}
	var pos policy.Position
	p := l.place(ctx, &f, &pos)
	var d policy.Decision
	d.Settle(p, &pos, &f)
	if len(l.o.observers) > 0 {
		l.tell(ctx, &f, &d, err)
	}
	if !d.Retry {
		return 0, l.stop(&d, &f, err)
	}
	if f.Plane == fault.Transport {
		l.transport, l.held = l.transport+1, backoff.Sum(l.held, d.Delay)
	} else {
		l.next.Number, l.waited = l.next.Number+1, backoff.Sum(l.waited, d.Delay)
		l.transport, l.held = 1, 0
		l.next.before, l.next.last = l.next.last, err
	}
	return d.Delay, nil
}

// place says where the action stands with a failure, and the policy that it is under.
func (l *line) place(ctx context.Context, f *fault.Failure, pos *policy.Position) *policy.RetryPolicy {
	a := l.next.of
	if _, bounded := ctx.Deadline(); bounded || !a.Deadline.IsZero() {
		pos.Now, pos.Deadline = l.o.clock.Now(), earlier(ctx, a.Deadline)
	}
	p := &a.Policy
	if f.Plane == fault.Transport {
		p, pos.Attempt, pos.Waited = &a.Transport, l.transport, l.held
	} else if pos.Attempt, pos.Waited = l.next.Number, l.waited; p.NoProgress > 0 {
		pos.Repeats = l.repeats(f)
	}
	if p.Draws(f) {
		l.next.seed = cmp.Or(l.next.seed, rand.Text()) // at this edge randomness is allowed
		pos.Key = a.key(l.next.seed, f.Plane)
	}
	return p
}

// repeats is how many times in a row the very same failure came before this one.
func (l *line) repeats(f *fault.Failure) int {
	said := *f
	mend(&said)
	same := machine.Signature(l.next.of.Tool, "", said)
	if l.seen == nil || l.seen.same != same {
		l.seen = &seen{same: same}
		return 0
	}
	l.seen.repeats++
	return l.seen.repeats
}

// earlier is the deadline that counts: the given one or the context's.
func earlier(ctx context.Context, deadline time.Time) time.Time {
	if d, ok := ctx.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		return d.UTC().Round(0)
	}
	return deadline
}

// wait waits by the clock. Its error says that the action was cancelled meanwhile.
func (l *line) wait(ctx context.Context, delay time.Duration) error {
	timer := l.o.clock.Timer(delay)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		timer.Stop()
	}
	return l.cancelled(ctx, "")
}

// position is where the action stands on a plane.
func (l *line) position(plane fault.Plane) machine.Position {
	if plane == fault.Transport {
		return machine.Position{Action: l.next.of.Tool, Attempt: l.transport, MaxAttempts: l.next.of.Transport.MaxAttempts}
	}
	return machine.Position{Action: l.next.of.Tool, Attempt: l.next.Number, MaxAttempts: l.next.Max}
}

func (l *line) tell(ctx context.Context, f *fault.Failure, d *policy.Decision, err error) {
	decision := &machine.Decision{
		Position: l.position(f.Plane), Plane: f.Plane, Class: canon.UTF8(f.Class),
		Retry: d.Retry, Delay: d.Delay, Reason: d.Reason,
	}
	for _, n := range decisionNotices("", l.o.clock.Now().UTC().Round(0), decision, err) {
		n.Seed = l.next.seed
		for _, o := range l.o.observers {
			tell(ctx, o, n)
		}
	}
}

// cancelled is the error of an action whose context has ended: in a wait on no plane.
func (l *line) cancelled(ctx context.Context, plane fault.Plane) error {
	return l.stop(&policy.Decision{Reason: policy.Cancelled}, &fault.Failure{Plane: plane}, context.Cause(ctx))
}

func (l *line) stop(d *policy.Decision, said *fault.Failure, cause error) error {
	p, f := l.position(said.Plane), *said
	mend(&f)
	keepText(&f, cause)
	e := &RetryExhaustedError{
		Action: p.Action, Plane: f.Plane, Reason: d.Reason, Detail: d.Detail, Attempt: p.Attempt, MaxAttempts: p.MaxAttempts, Failure: f,
		Policy: l.next.of.Policy, Seed: l.next.seed, Cause: cause,
		Attempts: []session.Attempt{{
			Action: p.Action, Attempt: p.Attempt, MaxAttempts: p.MaxAttempts, Plane: f.Plane, Class: f.Class, Issues: f.Issues, Reason: d.Reason,
		}},
	}
	if f.Plane == fault.Transport {
		e.Policy = l.next.of.Transport
	}
	return e
}
