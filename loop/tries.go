package loop

import (
	"context"
	"errors"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// tries makes an action in a session: the driver of the core for a single action.
type tries struct {
	*options
	ctx context.Context
	s   *session.Session
	a   *Action
	// at makes the action; nil before it begins, and once it was left.
	at *trying
	// ask is what a step asks for next.
	ask *machine.Effect
	err error
	// left is what is left of the wait that is to be made; 0 for none.
	left time.Duration
}

// trying is a driver, and the outcome of the try under way: neither the core nor a journal keeps that.
type trying struct {
	driver
	outcome machine.Try
}

// begin takes the session for the action, until it is left.
func (t *tries) begin() error {
	t.at = &trying{driver: driver{options: t.options, s: t.s, ctx: t.ctx}}
	if t.journal != nil {
		t.ask, t.err = t.journal.tries(&t.at.driver, t.a.Tool)
	}
	if t.ask == nil && t.err == nil {
		t.err = t.start()
	}
	return t.err
}

// start begins the action.
func (t *tries) start() error {
	m, err := t.a.compile()
	if err != nil {
		return err
	}
	d := &t.at.driver
	if err = startDriver(t.ctx, d, m); err != nil {
		return err
	}
	if t.fed(d.runner.Start(d.now())); t.err != nil {
		t.release()
	}
	return t.err
}

// tries goes on with the tries of an action that were not ended, by a driver: it returns what is asked for next, nil where there are none.
func (j journaled) tries(d *driver, action string) (*machine.Effect, error) {
	if !j.Unfinished() {
		return nil, nil
	}
	past, err := j.Past()
	if err != nil || !past.Header.Config.Single || past.Header.Config.Action != action {
		return nil, err
	}
	ask, err := d.resume(func(*journal.Fold) error { return nil })
	return &ask, err
}

// fed takes what a step asks for next, or why it failed.
func (t *tries) fed(effects []machine.Effect, err error) {
	if t.err = err; err == nil && len(effects) > 0 {
		t.ask = &effects[len(effects)-1]
	}
}

// next reports whether there is a try to be made, after the waits before it.
func (t *tries) next() bool {
	for t.goOn() {
		if t.left <= 0 {
			return true
		}
		t.pause()
	}
	return false
}

// goOn does what stands before the next try, or before a wait, which t.left then says; it reports false at the end.
func (t *tries) goOn() bool {
	for t.err == nil {
		switch {
		case t.ask.Kind == machine.Stop:
			_, t.err = t.at.runner.Result(t.at.cause)
			return false
		case t.ctx.Err() != nil:
			t.cancel()
		case t.ask.Kind == machine.TryAction:
			return true
		case t.ask.Kind != machine.WaitUntil:
			t.err = unknownEffect(t.ask)
		default:
			if t.left = t.ask.Wait.Until.Sub(t.at.now()); t.left > 0 {
				return true
			}
			t.fed(t.at.woke(t.ask.Wait))
		}
	}
	return false
}

// pause makes a wait by the clock.
func (t *tries) pause() {
	timer := t.clock.Timer(t.left)
	defer timer.Stop()
	t.left = 0
	select {
	case <-timer.C:
		t.fed(t.at.woke(t.ask.Wait))
	case <-t.ctx.Done():
		t.cancel()
	}
}

func (t *tries) cancel() { t.fed(t.at.cancel(t.ctx)) }

func (t *tries) attempt() Attempt {
	p := t.ask.Try
	a := Attempt{Number: p.Attempt, Max: p.MaxAttempts, of: t.a}
	if fb := t.feedback(); fb != nil {
		a.last = (*fedBack)(fb)
	}
	return a
}

// feedback is that on the try before; nil where there is none. The action is the only one.
func (t *tries) feedback() *feedback.RetryFeedback {
	if open := t.at.runner.st.Actions; len(open) > 0 {
		return open[0].Last
	}
	return nil
}

// known is feedback whose issues may be those of the try, too: that on the try before, or the newest of the session; nil for none.
func (t *tries) known() *feedback.RetryFeedback {
	fb, told := t.feedback(), t.at.runner.st.Session.Feedback()
	if n := told.Len(); fb == nil && n > 0 {
		return &told.Slice(n-1, n)[0]
	}
	return fb
}

// end feeds the outcome of a try.
func (t *tries) end(err error) {
	if err != nil && t.ctx.Err() != nil {
		t.cancel()
		return
	}
	d, o := &t.at.driver, &t.at.outcome
	d.err, d.cause = err, nil
	if err != nil {
		setFailure(&o.Failure, err, t.known())
	}
	if adjust := d.adjustPolicy(); adjust != nil {
		t.err = adjust
		return
	}
	t.fed(d.runner.Step(machine.Event{Kind: machine.Tried, At: d.now(), Try: o}))
	*o = machine.Try{}
}

// abandon records the open try as cancelled and ends the action.
func (t *tries) abandon() {
	d := &t.at.driver
	t.fed(d.runner.Step(machine.Event{Kind: machine.Tried, At: d.now(), Try: &machine.Try{Abandoned: true}}))
}

// leave lets the session go. A try or a wait that is still open is recorded as cancelled.
func (t *tries) leave() {
	t.release()
	t.at = nil
}

func (t *tries) release() {
	d := &t.at.driver
	if d.runner.st.Phase != machine.Stopped && !errors.Is(t.err, ErrSuspended) {
		_, _ = d.runner.Cancel(d.now())
	}
	d.release()
}
