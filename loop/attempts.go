package loop

import (
	"context"
	"iter"

	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

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
	ended bool
}

// End says what came of the try: nil ends the loop; an error is decided on as by [Do], and then the loop waits and goes
// round again while the policy allows. Only the first End counts, and none after the loop.
func (t *Trial) End(err error) { t.EndWith(err, message.Usage{}) }

// EndWith is End with what the try used up.
func (t *Trial) EndWith(err error, usage message.Usage) {
	if t.ended || t.of.at == nil {
		return
	}
	t.ended = true
	t.of.at.outcome.Usage = usage
	t.of.end(err)
}

// All makes the tries, and the waits between them; none of an action with an [Action].ID that has ended in the journal. It may be
// ranged over once. Leaving the loop, or going round it, without
// ending a try records that try as cancelled and ends the action.
func (t *Tries) All() iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		if t.used {
			return
		}
		t.used = true
		err := errExited // unless it returns
		defer func() { t.err = err }()
		err = t.all(yield)
	}
}

func (t *Tries) all(yield func(*Trial) bool) error {
	if t.a == nil {
		return errNoAction
	}
	s, o, err := recording(t.s, t.opts)
	if s == nil && err == nil {
		s, err = session.New(session.Config{})
	}
	if err != nil {
		return err
	}
	of := &tries{options: o, ctx: t.ctx, s: s, a: t.a}
	if err := of.begin(); err != nil {
		return err
	}
	if of.ended != nil {
		return ranOut(of.ended)
	}
	defer of.leave()
	for of.next() {
		trial := &Trial{Attempt: of.attempt(), of: of}
		more := yield(trial)
		if !trial.ended {
			of.abandon()
			_, err := of.at.runner.Result(nil)
			return err
		}
		if !more && of.err == nil && of.ask.Kind != machine.Stop {
			of.cancel()
		}
	}
	return of.err
}

// Err is nil when the action succeeded, now or as the journal has it by its [Action].ID; else a [RetryExhaustedError] as [Do] returns it. It is for after the loop.
func (t *Tries) Err() error { return t.err }
