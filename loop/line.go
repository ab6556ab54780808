package loop

import (
	"context"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// line is an action without a session: the counters of the core without its history. A property test holds both to the
// same decisions.
type line struct {
	a *Action
	// attempt and transport are those under way on the two planes.
	attempt, transport int
	waited, held       time.Duration
	before, last       error
	same               string
	repeats            int
	o                  *options
	// deadline is the end of the line's time, and timed whether there is one, once they were looked up.
	deadline      time.Time
	timed, looked bool
}

// failed decides on a try that failed. It returns nil when there is to be another, after the wait.
func (l *line) failed(ctx context.Context, err error, opts []Option) error {
	if !l.looked {
		l.deadline, l.looked = earlier(ctx, l.a.Deadline), true
		l.timed = !l.deadline.IsZero()
	}
	if l.o == nil && (len(opts) > 0 || l.timed) {
		var faulty error
		if l.o, faulty = collect(opts); faulty != nil {
			return faulty
		}
	}
	var f fault.Failure
	setSaid(&f, err) // what is told of it is made printable there; no policy lists a class that is not
	if ctx.Err() != nil {
		return l.stop(policy.Decision{Reason: policy.Cancelled}, fault.Failure{Plane: f.Plane}, context.Cause(ctx))
	}
	d := l.decide(&f)
	if l.o != nil && len(l.o.observers) > 0 {
		l.tell(ctx, printableFailure(f), d, err)
	}
	if !d.Retry {
		return l.stop(d, printableFailure(f), err)
	}
	if f.Plane == fault.Transport {
		l.transport, l.held = l.transport+1, l.held+d.Delay
	} else {
		l.attempt, l.waited = l.attempt+1, l.waited+d.Delay
		l.transport, l.held = 1, 0
		l.before, l.last = l.last, err
	}
	if d.Delay <= 0 {
		return nil
	}
	return l.wait(ctx, d.Delay)
}

func (l *line) decide(f *fault.Failure) policy.Decision {
	p, pos := &l.a.Policy, policy.Position{Attempt: l.attempt, Waited: l.waited}
	if f.Plane == fault.Transport {
		p, pos.Attempt, pos.Waited = &l.a.Transport, l.transport, l.held
	} else if p.NoProgress > 0 {
		pos.Repeats = l.repeat(printableFailure(*f))
	}
	if l.timed {
		pos.Now, pos.Deadline = l.o.clock.Now(), l.deadline
	}
	if l.a.Seed != "" {
		pos.Key = l.key(f.Plane)
	}
	return policy.Decide(p, &pos, f)
}

// key is the core's jitter key for the first action of a session without an id.
func (l *line) key(plane fault.Plane) backoff.Key {
	number := 1
	if plane == fault.Transport {
		number = 0
	}
	return machine.JitterKey(l.a.Seed, "", 1, number, l.a.Tool, plane)
}

func (l *line) repeat(f fault.Failure) int {
	same := machine.Signature(l.a.Tool, "", f)
	if same == l.same {
		l.repeats++
	} else {
		l.same, l.repeats = same, 0
	}
	return l.repeats
}

// earlier is the deadline that counts: the given one or the context's.
func earlier(ctx context.Context, deadline time.Time) time.Time {
	if d, ok := ctx.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		return d.UTC().Round(0)
	}
	return deadline
}

func (l *line) wait(ctx context.Context, delay time.Duration) error {
	if l.o == nil {
		l.o, _ = collect(nil)
	}
	timer := l.o.clock.Timer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return l.stop(policy.Decision{Reason: policy.Cancelled}, fault.Failure{}, context.Cause(ctx))
	case <-timer.C:
		return nil
	}
}

// position is where the action stands on a plane.
func (l *line) position(plane fault.Plane) machine.Position {
	if plane == fault.Transport {
		return machine.Position{Action: l.a.Tool, Attempt: l.transport, MaxAttempts: l.a.Transport.MaxAttempts}
	}
	return machine.Position{Action: l.a.Tool, Attempt: l.attempt, MaxAttempts: l.a.Policy.MaxAttempts}
}

func (l *line) tell(ctx context.Context, f fault.Failure, d policy.Decision, err error) {
	decision := &machine.Decision{Position: l.position(f.Plane), Plane: f.Plane, Class: f.Class, Retry: d.Retry, Delay: d.Delay, Reason: d.Reason}
	for _, n := range decisionNotices("", l.o.clock.Now().UTC().Round(0), decision, err) {
		for _, o := range l.o.observers {
			tell(ctx, o, n)
		}
	}
}

func (l *line) stop(d policy.Decision, f fault.Failure, cause error) error {
	p, policyOf := l.position(f.Plane), l.a.Policy
	if f.Plane == fault.Transport {
		policyOf = l.a.Transport
	}
	return &RetryExhaustedError{
		Action: p.Action, Plane: f.Plane, Reason: d.Reason, Detail: d.Detail, Attempt: p.Attempt, MaxAttempts: p.MaxAttempts, Failure: f, Policy: policyOf, Cause: cause,
		Attempts: []session.Attempt{{
			Action: p.Action, Attempt: p.Attempt, MaxAttempts: p.MaxAttempts, Plane: f.Plane, Class: f.Class, Issues: f.Issues, Reason: d.Reason,
		}},
	}
}
