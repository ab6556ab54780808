package loop

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

// tries makes an action in a session: the driver of the core for a single action.
type tries struct {
	d driver
	a *Action
	// ask is what a step asks for next.
	ask *machine.Effect
	err error
	// until is the end of the wait that is to be made, and left what is left of it; 0 for none.
	until time.Time
	left  time.Duration
	// outcome is that of the try under way: neither the core nor a journal keeps it.
	outcome machine.Try
}

func newTries(ctx context.Context, s *session.Session, a *Action, o *options) (*tries, error) {
	t := &tries{d: driver{options: o, s: s, ctx: ctx}, a: a}
	if o.journal != nil {
		going, err := t.resume()
		if going || err != nil {
			return t, err
		}
	}
	m, err := a.compile()
	if err != nil {
		return nil, err
	}
	if _, err = startDriver(ctx, &t.d, m); err != nil {
		return nil, err
	}
	if t.fed(t.d.runner.Start(t.d.now())); t.err != nil {
		t.leave()
	}
	return t, t.err
}

// resume goes on with the tries that the journal holds; it reports false where there are none that were not ended.
func (t *tries) resume() (bool, error) {
	if !t.d.journal.Unfinished() {
		return false, nil
	}
	past, err := t.d.journal.Past()
	if err != nil || !past.Header.Config.Single || past.Header.Config.Action != t.a.Tool {
		return false, err
	}
	ask, err := t.d.resume(func(*journal.Fold) error { return nil })
	t.ask = &ask
	return true, err
}

// fed takes what a step asks for next, or why it failed.
func (t *tries) fed(effects []machine.Effect, err error) {
	if t.err = err; err == nil && len(effects) > 0 {
		t.ask = &effects[len(effects)-1]
	}
}

// next reports whether there is something to be done: a wait to be made ([tries.pause]), or else a try. It does what stands
// before them.
func (t *tries) next(ctx context.Context) bool {
	for t.err == nil {
		switch {
		case t.ask.Kind == machine.Stop:
			_, t.err = t.d.runner.Result(t.d.cause)
			return false
		case ctx.Err() != nil:
			t.cancel(ctx)
		case t.ask.Kind == machine.TryAction:
			return true
		case t.ask.Kind != machine.WaitUntil:
			t.fed(t.d.carry(ctx, *t.ask))
		default:
			t.until = t.ask.Wait.Until
			if t.left = t.until.Sub(t.d.now()); t.left > 0 {
				return true
			}
			t.woke()
		}
	}
	return false
}

// waits reports whether what next found is a wait.
func (t *tries) waits() bool { return t.left > 0 }

// pause makes a wait by the clock. It is called from where little lies on the stack, which the goroutine keeps all the while, as it
// does what asked for the wait if nobody lets go of it.
func (t *tries) pause(ctx context.Context) {
	timer := t.d.clock.Timer(t.left)
	t.left, t.ask = 0, nil
	select {
	case <-timer.C:
		t.woke()
	case <-ctx.Done():
		timer.Stop()
		t.cancel(ctx)
	}
}

func (t *tries) cancel(ctx context.Context) { t.fed(t.d.cancel(ctx)) }

func (t *tries) woke() { t.fed(t.d.woke(&machine.Wait{Until: t.until})) }

func (t *tries) attempt() Attempt {
	p := t.ask.Try
	a := Attempt{Number: p.Attempt, Max: p.MaxAttempts, of: t.a}
	if fb := t.d.runner.st.Feedback(t.a.Tool); fb != nil {
		a.last = (*fedBack)(fb)
	}
	return a
}

// end feeds the outcome of a try.
func (t *tries) end(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		t.cancel(ctx)
		return
	}
	t.d.err, t.d.cause = err, nil
	if err != nil {
		setFailure(&t.outcome.Failure, err)
	}
	if adjust := t.d.adjustPolicy(); adjust != nil {
		t.err = adjust
		return
	}
	t.fed(t.d.runner.Step(machine.Event{Kind: machine.Tried, At: t.d.now(), Try: &t.outcome}))
	t.outcome = machine.Try{}
}

// abandon records the open try as cancelled and ends the action.
func (t *tries) abandon() {
	t.fed(t.d.runner.Step(machine.Event{Kind: machine.Tried, At: t.d.now(), Try: &machine.Try{Abandoned: true}}))
}

// leave lets the session go; a try that is still open is recorded as cancelled.
func (t *tries) leave() {
	if t.d.runner.st.Phase != machine.Stopped && !errors.Is(t.err, ErrSuspended) {
		_, _ = t.d.runner.Cancel(t.d.now())
	}
	t.d.release()
}

// Tries are the tries of one action, for a loop that the caller already has:
//
//	tries := loop.Attempts(ctx, s, loop.ToolCall("book_room"))
//	for try := range tries.All() {
//		reply := ask(prompt, try.Feedback())
//		try.End(book.Check(reply))
//	}
//	err := tries.Err()
type Tries struct {
	ctx  context.Context
	s    *session.Session
	a    *Action
	opts []Option
	err  error
	used bool
}

// Attempts prepares the tries of an action in s; nil for a session of their own. See [Tries]. They are for one goroutine.
func Attempts(ctx context.Context, s *session.Session, a *Action, opts ...Option) *Tries {
	return &Tries{ctx: ctx, s: s, a: a, opts: opts}
}

// Trial is one try of [Tries]. It is over when End was called.
type Trial struct {
	Attempt
	of    *tries
	ctx   context.Context
	ended bool
}

// End says what came of the try: nil ends the loop; an error is decided on as by [Do], and then the loop waits and goes
// round again while the policy allows. Only the first End counts.
func (t *Trial) End(err error) { t.EndWith(err, message.Usage{}) }

// EndWith is End with what the try used up.
func (t *Trial) EndWith(err error, usage message.Usage) {
	if t.ended {
		return
	}
	t.ended = true
	t.of.outcome.Usage = usage
	t.of.end(t.ctx, err)
}

// All makes the tries, and the waits between them. It may be ranged over once. Leaving the loop, or going round it, without
// ending a try records that try as cancelled and ends the action.
func (t *Tries) All() iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		if t.used {
			return
		}
		t.used = true
		t.err = t.all(yield)
	}
}

func (t *Tries) all(yield func(*Trial) bool) error {
	s, o, err := recording(t.s, t.opts)
	if s == nil && err == nil {
		s, err = session.New(session.Config{})
	}
	if err != nil {
		return err
	}
	of, err := newTries(t.ctx, s, t.a, o)
	if err != nil {
		return err
	}
	defer of.leave()
	for of.next(t.ctx) {
		if of.waits() {
			of.pause(t.ctx)
			continue
		}
		trial := &Trial{Attempt: of.attempt(), of: of, ctx: t.ctx}
		more := yield(trial)
		if !trial.ended {
			of.abandon()
			_, err := of.d.runner.Result(nil)
			return err
		}
		if !more && of.err == nil && of.ask.Kind != machine.Stop {
			of.cancel(t.ctx)
		}
	}
	return of.err
}

// Err is nil when the action succeeded, else a [RetryExhaustedError] as [Do] returns it. It is for after the loop.
func (t *Tries) Err() error { return t.err }
