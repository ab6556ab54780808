package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/stack"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// errNotEnded is in the chain of [ActionRun.Err] if the loop was left or continued without ending its try.
var errNotEnded = errors.New("loop: Attempt.End was not called: call it with the error of each try, or nil " +
	"for success")

// ActionRun makes the attempts of one action in a loop that you already have:
//
//	attempts := loop.Attempts(ctx, s, loop.ToolCall("book_room"))
//	for a := range attempts.All() {
//		reply := ask(prompt, a.Feedback())
//		a.End(book.Check(reply))
//	}
//	err := attempts.Err()
type ActionRun struct {
	ctx context.Context
	s   *session.Session
	a   *Action
	o   *options
	err error
	// used reports that the tries were asked for, and began that there is a first.
	used, began bool
	// ended is the recorded end of an action that has ended in the journal.
	ended *journal.Ended
	// before has the tries that [Do] made before; nil if it made none.
	before *deferred
}

// Attempts prepares the attempts of an action in s. If s is nil, they have their own session. See
// [ActionRun]. It is for one goroutine.
func Attempts(ctx context.Context, s *session.Session, a *Action, opts ...Option) *ActionRun {
	o, err := collect(opts)
	return &ActionRun{ctx: ctx, s: s, a: a, o: o, err: err}
}

// End ends an attempt of [Attempts]. Nil ends the loop. An error is decided on as in [Do]; then the loop
// waits and continues while the policy allows. Only the first call counts, on the attempt or a copy of it,
// and none after the loop, nor one from a reducer or an observer of the attempt. [Do] ends its attempts
// itself; there End has no effect.
func (a *Attempt) End(err error) {
	if value, invalid := canon.JSON(a.Value); invalid == nil {
		a.Value = value
	}
	a.end(err)
}

// Keeps reports whether the Value of a successful attempt is used: if the journal records it, because the
// [Action] has an ID, or if a reducer receives it.
func (a *Attempt) Keeps() bool {
	return a.in != nil &&
		(a.in.keeps() || len(engine.TryEvents(session.DriverOf(a.in.s).Hears, a.in.a.Tool, nil)) > 0)
}

// end is End for a value in canonical form.
func (a *Attempt) end(err error) {
	t := a.in
	if t == nil {
		return
	}
	_ = t.step(func() { // a function that a step calls does not end the try
		if a.nth != t.nth || t.ended || t.left {
			return
		}
		t.ended, t.open = true, false
		t.feed(a, err)
		t.refusals = nil
	})
}

// All makes the tries and the waits between them. It makes none for an action whose [Action].ID has ended in
// the journal. It can be ranged over once. If the loop is left or continued without ending a try, that try is
// recorded as cancelled and the action ends with an error that says so.
func (t *ActionRun) All() iter.Seq[*Attempt] {
	return func(yield func(*Attempt) bool) {
		if t.used {
			return
		}
		t.used = true
		if t.err != nil {
			return
		}
		err := errExited // unless it returns
		defer func() { t.err = err }()
		err = t.all(yield)
	}
}

func (t *ActionRun) all(yield func(*Attempt) bool) error {
	of, end, err := t.begins()
	if err != nil {
		return err
	}
	if end != nil {
		t.ended = end
		_, err = recordedEnd(end)
		return err
	}
	defer of.leave()
	t.began = true
	made := false
	for of.next() {
		made = true
		at := of.attempt()
		of.opens(true)
		more := yield(&at)
		if of.opens(false); !of.ended {
			of.ending = errNotEnded
			of.fed(of.runner.Step(machine.Event{
				Kind: machine.Tried, At: of.now(), Try: &machine.Try{Abandoned: true, Usage: at.Usage},
				Failure: new(fault.FailureOf(of.ending)),
			}))
			return of.err()
		}
		if !more && of.broke == nil && of.asked.Kind != machine.Stop {
			of.fed(of.cancel())
		}
	}
	if o := of.runner.State().Outcome; o != nil && !made { // its last try was made before a crash
		t.ended = &journal.Ended{ID: t.a.ID, Action: t.a.Tool, Outcome: *o}
	}
	return of.err()
}

// begins begins or continues the action, in a session of its own if it was given none. It returns the end of
// one that has ended in the journal.
func (t *ActionRun) begins() (*tries, *journal.Ended, error) {
	switch {
	case t.before != nil:
		of, err := t.before.records()
		return of, nil, err
	case t.s != nil:
		return beginTries(t.ctx, t.o, t.s, t.a, time.Time{})
	}
	s, err := session.New(session.Config{})
	if err != nil {
		return nil, nil, err
	}
	return beginTries(t.ctx, t.o, s, t.a, time.Time{})
}

// Err returns nil if the action succeeded, now or in the journal under its [Action].ID, else a
// [RetryExhaustedError] as returned by [Do]. Call it after the loop.
func (t *ActionRun) Err() error { return t.err }

// Value returns the recorded value of an action that has ended in the journal. It is nil if the tries were
// made now, or if no value was recorded. Call it after the loop.
func (t *ActionRun) Value() json.RawMessage {
	if t.ended == nil {
		return nil
	}
	return t.ended.Outcome.Value
}

// Recorded returns when the action ended, if its end is that of the journal and no try was made now; else the
// zero time. Call it after the loop.
func (t *ActionRun) Recorded() time.Time {
	if t.ended == nil {
		return time.Time{}
	}
	return t.ended.At
}

// tries makes an action in a session.
type tries struct {
	*process
	a *Action
	// trying is the context of the current try, and settle tells the limiter how it ended.
	trying context.Context
	settle func(limit.Outcome, int64, error)
	// inDoubt reports that the next try began before and has no outcome.
	inDoubt bool
	// nth is the number of the current try in this process, from 1, and ended reports that it was ended. left
	// reports that no try can be ended any more. stepping guards them.
	nth         int
	ended, left bool
	// open reports that the caller makes a try, during which other goroutines may dispatch events. refusals
	// are the errors of reducers for events of the try. stepping guards both and is held by whoever steps the
	// run.
	open     bool
	refusals []error
	stepping sync.Mutex
}

// beginTries takes the session for an action, and begins or continues it. If the action has ended in the
// journal, it returns the end. began is when it began; zero means now.
func beginTries(
	ctx context.Context, o *options, s *session.Session, a *Action, began time.Time,
) (*tries, *journal.Ended, error) {
	if a == nil {
		return nil, nil, errNoAction
	}
	p, err := newProcess(ctx, o, s, &Config{}, &Input{Deadline: a.Deadline})
	if err != nil {
		return nil, nil, err
	}
	t := &tries{process: p, a: a}
	if p.action = a; p.teller != nil {
		p.teller.Single = true
	}
	isLast, err := t.find(t.wanted)
	switch {
	case err != nil:
		return nil, nil, err
	case t.recorded != nil:
		return nil, t.recorded, t.isAnswered()
	case isLast:
		if err := t.resume(t.plans); err != nil {
			return nil, nil, err
		}
		t.inDoubt = t.asked.Kind == machine.TryAction
		session.DriverOf(s).Through(t.dispatch)
		return t, nil, nil
	}
	m, err := a.compile(o)
	if err != nil {
		return nil, nil, err
	}
	if err := t.beginRun(m); err != nil {
		return nil, nil, err
	}
	session.DriverOf(s).Through(t.dispatch)
	if t.fed(t.runner.Start(cmp.Or(began, t.now()))); t.broke != nil {
		t.leave()
		return nil, nil, t.broke
	}
	return t, nil, nil
}

// wanted returns the action. Its ID ends it for ever; without one, only an unfinished action is the same.
func (t *tries) wanted() wanted {
	return wanted{id: t.a.ID, is: func(past *journal.Fold) (bool, error) {
		was := &past.Header.Config
		if !was.Single || was.ActionID != t.a.ID || t.a.ID == "" && was.Action != t.a.Tool {
			return false, nil
		}
		return true, t.is(was.Action)
	}, end: func(id string) (*journal.Ended, error) { return t.journal.Ended(id) }}
}

// isAnswered takes the session for an action that has ended in the journal, and releases it.
func (t *tries) isAnswered() error {
	err := t.is(t.recorded.Action)
	if err == nil {
		err = t.adopt()
	}
	if err == nil {
		t.close()
	}
	return err
}

// is returns an error if the ID of the action belongs to another tool.
func (t *tries) is(action string) error {
	if action == t.a.Tool {
		return nil
	}
	name := func(tool string) string { return strconv.Quote(cmp.Or(tool, "answer")) }
	return fmt.Errorf("loop: the ID %q belongs to the action %s in the journal, but now to %s: give each "+
		"action its own ID",
		t.a.ID, name(action), name(t.a.Tool))
}

// keeps reports whether the journal records the value of the action.
func (t *tries) keeps() bool { return t.journal != nil && t.a.ID != "" }

// opens records that a try begins or ends.
func (t *tries) opens(open bool) {
	t.stepping.Lock()
	defer t.stepping.Unlock()
	t.open = open
}

// dispatch handles an event that the program dispatches during a try.
func (t *tries) dispatch(ev session.Event) error {
	err := session.ErrBusy
	if refused := t.step(func() {
		if t.open {
			if _, err = t.runner.Dispatch(t.now(), ev); err != nil {
				t.refusals = append(t.refusals, err)
			}
		}
	}); refused != nil {
		return refused
	}
	return err
}

// step makes a step of the run, once no other goroutine makes one. A function that a step calls cannot make
// another.
func (t *tries) step(f func()) error {
	if !t.stepping.TryLock() {
		if stack.Holds((*tries).alone, t) {
			return session.ErrReentrant
		}
		t.stepping.Lock()
	}
	defer t.stepping.Unlock()
	t.alone(f)
	return nil
}

// alone calls f while stepping is held. [tries.step] looks for it on the stack.
//
//go:noinline
func (t *tries) alone(f func()) {
	f()
	stack.Keep(t)
}

// next reports whether there is another try, after waiting for it.
func (t *tries) next() bool {
	for {
		switch t.advance(time.Time{}) {
		case machine.WaitUntil:
			t.pause()
		case machine.AskGrant:
			t.pauseGrant()
		case machine.TryAction:
			t.trying, t.settle = t.settles(t.ctx)
			return true
		default:
			return false
		}
	}
}

// err returns how the action ended; nil for success.
func (t *tries) err() error {
	_, err := t.result()
	return err
}

// attempt begins the next try.
func (t *tries) attempt() Attempt {
	t.stepping.Lock()
	t.nth, t.ended = t.nth+1, false
	t.stepping.Unlock()
	at := t.asked.Try
	a := Attempt{Number: at.Attempt, Max: at.MaxAttempts, Settings: at.Settings, Transport: at.Transport,
		Timeout: at.Timeout, InDoubt: t.inDoubt, in: t, nth: t.nth}
	t.inDoubt = false
	if open := t.runner.State().Actions; len(open) > 0 {
		a.told = open[0].Last // the action is the only one
	}
	return a
}

// feed handles the outcome of a try.
func (t *tries) feed(a *Attempt, err error) {
	if err != nil && t.ctx.Err() != nil {
		t.settle(limit.Unused, 0, nil)
		t.owed.add(a.Usage)
		if t.fed(t.cancel()); errors.Is(t.broke, ErrSuspended) {
			_ = tool.AddUsage(t.life, a.Usage) // there is no event that has it
		}
		return
	}
	err = chain.Bounded(err)
	t.process.err = err
	outcome := machine.Try{Usage: a.Usage}
	if err != nil {
		st := t.runner.State()
		words := st.PolicyOf(policy.Target{Plane: fault.Transport}).ClassifyWords
		outcome.Failure, outcome.RateLimit = t.a.failure(t.options, words, err)
		t.refuse(&outcome, err)
	} else {
		if t.keeps() {
			outcome.Value = a.Value
		}
		outcome.Reduced = engine.Reduce(t.s, t.runner.State().Session,
			engine.TryEvents(session.DriverOf(t.s).Hears, t.a.Tool, a.Value))
	}
	t.settle(limit.OutcomeOf(outcome.Failure.Class), a.Usage.Total(), err)
	if err := t.adjustPolicy(); err != nil {
		t.broke = err
		return
	}
	t.fed(t.runner.Step(machine.Event{Kind: machine.Tried, At: t.now(), Try: &outcome}))
}

// failure returns the failure behind the error of a try, and what the error says of rate limits. words is
// what the policy says.
func (a *Action) failure(o *options, words bool, err error) (fault.Failure, *ratelimit.State) {
	rules := fault.TryRules{Tool: a.Tool, Classify: o.classify, Words: words && a.Tool == ""}
	return fault.Recordable(rules.Failure(err), err), engine.RateLimit(err)
}

// refuse makes a failed try one that a reducer refused, if its error is that of a reducer.
func (t *tries) refuse(outcome *machine.Try, err error) {
	by := refusalIn(err, &outcome.Failure)
	if by == nil {
		return
	}
	outcome.Failure = fault.Failure{}
	if slices.Contains(t.refusals, error(by)) { // the session has it
		outcome.Failure = fault.Failure{Plane: fault.Correction, Class: fault.Reducer}
	}
	outcome.Reduced = &machine.Reduced{Error: &fault.ReducerError{
		Reducer: by.Reducer, Payload: by.Payload, Message: fault.Scrub(by.Message), Panicked: by.Panicked,
	}}
}

// refusalIn returns the error of a reducer behind a failure, or nil.
func refusalIn(err error, f *fault.Failure) *fault.ReducerError {
	if f.Class != fault.Reducer {
		return nil
	}
	by, _ := errors.AsType[*fault.ReducerError](err)
	return by
}

// leave releases the session. An open try or wait is recorded as cancelled, but after a panic the action is
// left as it is in its journal, to be resumed.
func (t *tries) leave() {
	t.stepping.Lock()
	t.left, t.open = true, false
	t.stepping.Unlock()
	if panicked := recover(); panicked != nil {
		defer panic(panicked)
		if t.journal != nil {
			t.close()
			return
		}
	}
	if t.runner.State().Phase != machine.Stopped && !errors.Is(t.broke, ErrSuspended) {
		t.ending = errExited
		_, _ = t.cancelled()
	}
	t.close()
}
