package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// PersonQuestion is what the function of [WithApprover] is asked.
type PersonQuestion struct {
	machine.Ask
	// Session is the id of the session, and View its state; see [View].
	Session string
	View    session.State
}

// WithApprover sets who answers the questions of runs to people in this process, about calls that need
// approval and about calls in doubt. The Question of its answer may be left empty. It may block; its context
// ends with the run, and with the question's deadline. The zero answer leaves the question to others. In a
// pool a call that blocks keeps a worker. An error, or an answer that does not fit, ends the run. After a
// crash the question is asked again. It must be safe for concurrent use if several runs share it. Without
// one, and for questions that it leaves, a run waits for [Loop.Answer] or [Pool.Answer], or until the
// question's deadline.
func WithApprover(f func(ctx context.Context, q PersonQuestion) (machine.Response, error)) Option {
	return func(o *options) { o.approver = f }
}

// ErrNobodyAsks is the error of an answer for a session that no run in this process waits for.
var ErrNobodyAsks = errors.New("loop: no run of the session asks a person here")

// forever is until when a run rests whose questions have no deadline.
var forever = time.Unix(1<<40, 0)

// ownAsk returns a question that shares nothing with the state: the approver may write into it.
func ownAsk(a machine.Ask) machine.Ask {
	a.Arguments = slices.Clone(a.Arguments)
	if a.Failure != nil {
		f := *a.Failure
		f.Issues = slices.Clone(f.Issues)
		a.Failure = &f
	}
	return a
}

// askedUntil returns when the first of the run's questions takes its default.
func (p *process) askedUntil() time.Time {
	if at := machine.AskedUntil(p.asked.Asks); !at.IsZero() {
		return at
	}
	return forever
}

// waitsForPeople reports whether there is nothing to do until somebody answers. Deadlines until now are over,
// whatever the clock says.
func (p *process) waitsForPeople(now time.Time) bool {
	until := p.askedUntil()
	return p.asked.Kind == machine.AskPerson && until.After(now) && until.After(p.now()) &&
		(p.approver == nil || p.nextAsk() == nil)
}

// asksTooLong reports that the time of a run that asks people is up. Its context may end a moment later, and
// then a call that was approved before could still be made.
func (p *process) asksTooLong() bool {
	if p.asked.Kind != machine.AskPerson {
		return false
	}
	c := p.runner.State().Config
	return c != nil && !c.Deadline.IsZero() && !p.now().Before(c.Deadline)
}

// nextAsk returns the first question that the approver has not left to others, or nil.
func (p *process) nextAsk() *machine.Ask {
	for n := range p.asked.Asks {
		if a := &p.asked.Asks[n]; !slices.Contains(p.leftToOthers, a.ID) {
			return a
		}
	}
	return nil
}

// askPeople asks the approver the next question, or ends those whose deadline is over.
func (p *process) askPeople(now time.Time) ([]machine.Effect, error) {
	p.stopAsking()
	until := p.askedUntil()
	if !until.After(now) || !until.After(p.now()) {
		return p.tooLate(until)
	}
	a := *p.nextAsk()
	ctx, free := p.alarms.bounded(p.ctx, a.Deadline)
	defer free()
	q := PersonQuestion{Ask: ownAsk(a), Session: p.s.ID(), View: p.runner.State().Session}
	answer, left, err := ask(ctx, p, engine.Limits{},
		func(ctx context.Context, _ engine.Tell) (machine.Response, error) { return p.approver(ctx, q) })
	switch {
	case left:
		return nil, errCallLeft
	case p.ctx.Err() != nil:
		return p.cancel()
	case !a.Deadline.IsZero() && !p.now().Before(a.Deadline):
		return p.tooLate(p.askedUntil())
	case err != nil:
		return nil, fmt.Errorf("asking the approver: %w", err)
	case answer.Verdict == "":
		p.leftToOthers = append(p.leftToOthers, a.ID)
		return nil, errCallLeft
	case answer.Question == "":
		answer.Question = a.ID
	}
	at, given := p.now(), answer
	item, err := p.putFirst(at, &given)
	if errors.Is(err, machine.ErrAnswered) {
		if p.wentOn() { // somebody elsewhere was faster
			return nil, errCallLeft
		}
		item, err = journal.Item{}, nil // what is there fits nothing
	}
	if err != nil {
		return nil, err
	}
	effects, err := p.respond(at, answer)
	if item.Key != "" {
		p.remove(item)
	}
	return effects, err
}

// putFirst puts an answer that was given here into the inbox, if that keeps it: at, or at its At. It is the
// first there, or the error is of [machine.ErrAnswered]. Other errors are those of an answer that does not
// fit, and of the inbox. An inbox that does not keep it is only looked into.
func (p *process) putFirst(at time.Time, answer *machine.Response) (item journal.Item, err error) {
	if !p.remembers() {
		if p.waitsInInbox(answer.Question) {
			p.signalMail() // the run takes it
			err = &machine.AnswerError{Question: answer.Question, Err: machine.ErrAnswered}
		}
		return item, err
	}
	if err := p.runner.State().ResponseFault(answer, at); err != nil {
		return item, err
	}
	if answer.At.IsZero() {
		answer.At = at
	}
	answer.At = answer.At.UTC().Round(0)
	item, err = mail.PutAnswer(context.WithoutCancel(p.ctx), p.inbox, p.journal.Session(), *answer)
	if err != nil {
		p.signalMail() // the run takes the answer that is there
	}
	return item, err
}

// respond feeds an answer. An [machine.AnswerError] changes nothing.
func (p *process) respond(at time.Time, answer machine.Response) ([]machine.Effect, error) {
	if err := p.adjustPolicy(); err != nil {
		return nil, err
	}
	if adjusted := p.runner.State().At; at.Before(adjusted) {
		at = adjusted
	}
	return p.runner.Respond(at, answer)
}

// answered feeds an answer that was given in this process, and returns an error if it was not taken.
// Another error of the run than that ends it, and is its own. The answer goes through the inbox, as from
// other processes: it is the first there or is not taken, and a crash does not lose it.
func (p *process) answered(answer machine.Response) error {
	item, err := p.putFirst(p.now(), &answer)
	if err != nil {
		return err
	}
	effects, err := p.respond(p.now(), answer)
	misfit := misfits(err)
	if !misfit {
		p.fed(effects, err)
	}
	if item.Key != "" && (misfit || err == nil) {
		p.remove(item)
	}
	return err
}

// lostEvery is how often a run that waits for people looks whether another process has its journal, as after
// a lease that has ended. It is time of the machine, as that of leases.
const lostEvery = 10 * time.Second

// pausePeople waits for an answer, by the clock until the first deadline. If the context ends,
// [process.advance] cancels the run.
func (p *process) pausePeople() {
	var over <-chan time.Time
	if until := p.askedUntil(); until != forever {
		over = p.clock.After(until.Sub(p.now()))
	}
	taken, asker := make(chan struct{}, 1), p.askers.of(p.s.ID())
	// From here on who answers has the run.
	asker.set(func(answer machine.Response) (err error) {
		defer func() {
			if misfits(err) {
				return // the run still waits
			}
			select {
			case taken <- struct{}{}:
			default:
			}
		}()
		return p.answered(answer)
	})
	p.startAsking()
	look := time.NewTimer(lostEvery)
	defer look.Stop()
	looks := false
	select {
	case <-taken:
	case <-over:
	case <-p.woken:
	case <-look.C:
		looks = true
	case <-p.ctx.Done():
	case <-p.leaving():
	}
	if asker.set(nil); looks && p.journal.Lost() {
		p.fed(nil, p.journal.Wake())
	}
}

// startAsking says that the run waits for people.
func (p *process) startAsking() {
	p.asking = true
	p.askers.setAsking(p.s.ID(), true)
}

// stopAsking says that the run no longer waits for people, if it did.
func (p *process) stopAsking() {
	if p.asking {
		p.asking = false
		p.askers.setAsking(p.s.ID(), false)
	}
}

// restAsking puts back a run that waits for people. It returns false as [Pool.rest] does.
func (p *Pool) restAsking(t *PoolRun) bool {
	s := p.o.askers.of(t.run.s.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take = t.respond
	t.run.startAsking()
	return t.rest(t.run.askedUntil())
}

// respond gives an answer to a run that rests.
func (t *PoolRun) respond(answer machine.Response) error {
	p := t.pool
	p.mu.Lock()
	ready, rests, closed := t.ready, t.place >= 0, p.closed
	asks := rests && !closed && t.run.asked.Kind == machine.AskPerson
	if asks {
		p.queue.remove(t)
		p.working++
	}
	p.mu.Unlock()
	switch {
	case closed:
		return ErrPoolClosed
	case !rests:
		return errNotWaiting // a worker has it
	case !asks:
		return &machine.AnswerError{Question: answer.Question, Err: machine.ErrMovedOn}
	}
	t.run.live(context.Background())
	err := t.run.answered(answer)
	until := time.Time{} // a worker goes on
	if misfits(err) && !ready && !t.run.mustWake() {
		until = t.run.askedUntil()
	}
	if !t.rest(until) {
		t.work(context.Background(), time.Time{})
	}
	return err
}
