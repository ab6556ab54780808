package loop

import (
	"context"
	"sync"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// deferred are the tries of an action without a session that each failed and were made again at once. Nobody
// has read a record of them, so that only their outcomes are kept. The action begins when somebody asks for
// feedback, or when anything but such a failure follows: then its steps are fed these outcomes, and its
// records are those of any other action. A nil deferred defers nothing. An [Attempt] may ask from any
// goroutine; the other methods are for that of [Do].
type deferred struct {
	ctx      context.Context
	o        *options
	a        *Action
	m        *machine.Compiled
	deadline time.Time

	mu     sync.Mutex
	failed []failedTry
	room   [2]failedTry // the default policy has three attempts
	// begun is the action with these tries in its records, told the feedback on each, and err why it could
	// not begin; all nil as long as nobody asks.
	begun *tries
	told  []feedback.RetryFeedback
	err   error
}

// failedTry is the outcome of a try and when it ended.
type failedTry struct {
	at      time.Time
	outcome machine.Try
}

// deferred returns what defers the records of the action's tries. It is nil if somebody has to see each try,
// or if the action is invalid.
func (a *Action) deferred(ctx context.Context, o *options) *deferred {
	if o.classify != nil || o.adjust != nil {
		return nil
	}
	m, err := a.compile(o)
	if err != nil {
		return nil
	}
	d := &deferred{ctx: ctx, o: o, a: a, m: m, deadline: earlier(ctx, time.Time{})}
	d.failed = d.room[:0]
	return d
}

// again notes that the last try failed with err, if the next is made at once and the record can wait. It
// reports whether it does.
func (d *deferred) again(err error) bool {
	if d == nil {
		return false
	}
	f := failedTry{}
	f.outcome.Failure, f.outcome.RateLimit = d.a.failure(d.o, d.a.Transport.ClassifyWords, chain.Bounded(err))
	n := len(d.failed)
	if n > 0 {
		f.at = d.failed[n-1].at
	}
	f.at = d.o.since(f.at)
	if d.ctx.Err() != nil || !d.m.AtOnce(n+1, &f.outcome.Failure, f.at, d.deadline) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun != nil || d.err != nil {
		return false
	}
	d.failed = append(d.failed, f)
	return true
}

// attempt returns the next try.
func (d *deferred) attempt() Attempt {
	n := len(d.failed) + 1
	return Attempt{
		Number: n, Transport: 1, Max: d.a.Policy.MaxAttempts, Settings: d.a.Policy.SettingsOf(n), later: d,
	}
}

// feedback returns the feedback that an attempt has; nil if there is none.
func (d *deferred) feedback(attempt int) *feedback.RetryFeedback {
	_, _ = d.records() // an error is that of the action, too
	if n := attempt - 2; n < len(d.told) {
		return &d.told[n]
	}
	return nil
}

// records returns the action with the tries in its records.
func (d *deferred) records() (*tries, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun == nil && d.err == nil {
		d.begun, d.err = d.begin()
	}
	return d.begun, d.err
}

func (d *deferred) begin() (*tries, error) {
	s, err := session.New(session.Config{})
	if err != nil {
		return nil, err
	}
	var began time.Time
	if len(d.failed) > 0 {
		began = d.failed[0].at
	}
	t, _, err := beginTries(d.ctx, d.o, s, d.a, began)
	if err != nil {
		return nil, err
	}
	for n := range d.failed {
		f := &d.failed[n]
		t.fed(t.runner.Step(machine.Event{Kind: machine.Tried, At: f.at, Try: &f.outcome}))
	}
	d.told = s.State().Feedback()
	return t, t.broke
}
