package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/internal/canon"
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
	// ended is the recorded end of the action; nil where it is to be made.
	ended *journal.Ended
	// inDoubt is set where the next try began before, and has no outcome.
	inDoubt bool
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
		t.err = t.journal.tries(t)
	}
	if t.ask == nil && t.ended == nil && t.err == nil {
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

// tries goes on with the tries of an action that has not ended, or finds the end of one that has. Of one that never began it finds nothing.
func (j journaled) tries(t *tries) error {
	if t.a.ID != "" {
		end, err := j.Ended(t.a.ID)
		if err == nil && end != nil {
			err = t.is(end.Action)
		}
		if err != nil || end != nil {
			t.ended = end
			return errors.Join(err, t.at.named())
		}
	}
	if !j.Unfinished() {
		return nil
	}
	past, err := j.Past()
	if err != nil {
		return err
	}
	was := &past.Header.Config
	if !was.Single || was.ActionID != t.a.ID || (t.a.ID == "" && was.Action != t.a.Tool) {
		return nil
	}
	if err := t.is(was.Action); err != nil {
		return err
	}
	t.inDoubt = past.Asked.Kind == machine.TryAction
	ask, err := t.at.resume(func(*journal.Fold) error { return nil })
	t.ask = &ask
	return err
}

// is says that the ID of the action is that of another tool's.
func (t *tries) is(action string) error {
	if action == t.a.Tool {
		return nil
	}
	name := func(tool string) string { return strconv.Quote(cmp.Or(tool, "answer")) }
	return fmt.Errorf("loop: the ID %q is that of the action %s in the journal, and now of %s: give each action an ID of its own",
		t.a.ID, name(action), name(t.a.Tool))
}

// named gives the session of a driver that makes nothing the id of its journal, as one that does would.
func (d *driver) named() error {
	r := d.ownRunner()
	if err := r.acquire(); err != nil {
		return err
	}
	defer r.Close()
	return r.name(d.journal)
}

// endOf is what [Do] returned of an action that has ended.
func endOf[T any](end *journal.Ended) (value T, err error) {
	switch {
	case !end.Outcome.OK:
		return value, ranOut(end)
	case len(end.Outcome.Value) == 0:
		return value, fmt.Errorf("loop: action %q has succeeded, and its journal has no value of it: give its ID only where Do made it", end.ID)
	}
	if err := canon.UnmarshalKnown(end.Outcome.Value, &value); err != nil {
		var none T
		return none, fmt.Errorf("loop: action %q has succeeded, and its recorded value does not fit %T: %w", end.ID, none, err)
	}
	return value, nil
}

// ranOut is the error of an action that has ended without success; nil where it has succeeded.
func ranOut(end *journal.Ended) error {
	if end.Outcome.OK {
		return nil
	}
	st := machine.State{Config: &machine.Config{Single: true, Action: end.Action, Seed: end.Seed}, Policy: end.Policy, Outcome: &end.Outcome}
	return exhausted(st, end.Attempts, recordedCause(&end.Outcome, true))
}

// keeps reports whether the value of a good try is recorded.
func (t *tries) keeps() bool { return t.journal != nil && t.a.ID != "" }

// keep keeps the value of the good try under way, where it is to be kept. The error says that it has no JSON.
func (t *tries) keep(value func() ([]byte, error)) error {
	if !t.keeps() {
		return nil
	}
	raw, err := value()
	if err != nil {
		return fmt.Errorf("loop: action %q has succeeded, and its value cannot be recorded, for it has no JSON form: %w", t.a.ID, err)
	}
	t.at.outcome.Value = raw
	return nil
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
	a := Attempt{Number: p.Attempt, Max: p.MaxAttempts, InDoubt: t.inDoubt, of: t.a}
	t.inDoubt = false
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
		_, _ = d.runner.Cancel(d.now(), errExited)
	}
	d.release()
}
