package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/session"
)

// PersonQuestion is what an [ApproverFunc] is asked.
type PersonQuestion struct {
	machine.Ask
	// Session is the id of the session, and View its state; see [View].
	Session string
	View    session.State
}

// ApproverFunc answers the questions of a run about calls that need a person's approval, and about calls in
// doubt. The Question of its answer may be left empty. It may block; its context ends with the run, and with
// the question's deadline. The zero answer leaves the question to others: [Loop.Answer] and [Pool.Answer]. In
// a pool a call that blocks keeps a worker. An error, or an answer that does not fit, ends the run. After a
// crash the question is asked again. It must be safe for concurrent use if several runs share it.
type ApproverFunc func(ctx context.Context, q PersonQuestion) (machine.Response, error)

// WithApprover sets who answers the questions of runs to people in this process. Without one, and for
// questions that it leaves, a run waits for [Loop.Answer] or [Pool.Answer], or until the question's deadline.
func WithApprover(f ApproverFunc) Option { return func(o *options) { o.approver = f } }

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
	p.movedOn()
	until := p.askedUntil()
	if !until.After(now) || !until.After(p.now()) {
		return p.tooLate(until)
	}
	a := *p.nextAsk()
	ctx, free := p.limits.bounded(p.ctx, a.Deadline)
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

// putFirst puts an answer that was given here into the inbox, if that keeps it: at, or at its At. It is the first
// there, or the error is of [machine.ErrAnswered]. Other errors are those of an answer that does not fit, and
// of the inbox. An inbox that does not keep it is only looked into.
func (p *process) putFirst(at time.Time, answer *machine.Response) (item journal.Item, err error) {
	if !p.remembers() {
		if p.waitsInInbox(answer.Question) {
			p.poke() // the run takes it
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
	item, err = inbox.PutAnswer(context.WithoutCancel(p.ctx), p.inbox, p.journal.Session(), *answer)
	if err != nil {
		p.poke() // the run takes the answer that is there
	}
	return item, err
}

// respond feeds an answer. An [machine.AnswerError] changes nothing.
func (p *process) respond(at time.Time, answer machine.Response) ([]machine.Effect, error) {
	if err := p.adjustPolicy(); err != nil {
		return nil, err
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

// desk takes answers for the runs of a [Loop] or [Pool] that have asked people, by session.
type desk struct {
	mu    sync.Mutex
	seats map[string]*seat
}

// seat is where a run takes answers.
type seat struct {
	mu sync.Mutex
	// take feeds an answer to the run; nil while the run does not wait for people.
	take func(machine.Response) error
	// answered are the questions that were answered here.
	answered []string

	// asks reports that the run waits for people, even if it is away for a look into its inbox. back is
	// closed when it sits again or has moved on; nil if no answer waits for that. The desk's mu guards both.
	asks bool
	back chan struct{}
}

// errAway is the error of an answer for a run that is not in its seat.
var errAway = errors.New("loop: the run does something else")

// sit gives a run a seat, unless it has one.
func (d *desk) sit(id string) *seat {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seats == nil {
		d.seats = map[string]*seat{}
	}
	s := d.seats[id]
	if s == nil {
		s = new(seat)
		d.seats[id] = s
	}
	return s
}

// set sets what takes answers, after one that is being taken; nil takes none.
func (s *seat) set(take func(machine.Response) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take = take
}

// asks says that a run waits for people in its seat, or that it has moved on.
func (d *desk) asks(id string, still bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.seats[id]; s != nil {
		if s.asks = still; s.back != nil {
			close(s.back)
			s.back = nil
		}
	}
}

// leave forgets a run that is over, or left to be resumed.
func (d *desk) leave(id string) {
	if d == nil {
		return
	}
	d.asks(id, false)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seats, id)
}

// find returns the seat of a run, or nil, and what to wait for if the run is away but still asks.
func (d *desk) find(id string) (s *seat, back <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s = d.seats[id]; s == nil || !s.asks {
		return s, nil
	}
	if s.back == nil {
		s.back = make(chan struct{})
	}
	return s, s.back
}

// answer gives an answer to the run of a session. While the run looks into its inbox, the answer waits.
func (d *desk) answer(id string, answer machine.Response) error {
	for {
		s, back := d.find(id)
		if s == nil {
			return fmt.Errorf("%w: %q", ErrNobodyAsks, id)
		}
		err := s.answer(answer)
		switch {
		case err != errAway:
			return err
		case back == nil:
			return &machine.AnswerError{Question: answer.Question, Err: machine.ErrMovedOn}
		}
		<-back
	}
}

// answer gives an answer to the run in the seat.
func (s *seat) answer(answer machine.Response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slices.Contains(s.answered, answer.Question):
		return &machine.AnswerError{Question: answer.Question, Err: machine.ErrAnswered}
	case s.take == nil:
		return errAway
	}
	err := s.take(answer)
	if err == nil {
		s.answered = append(s.answered, answer.Question)
	}
	return err
}

// Answer gives a person's answer to a run of the session with an id that this Loop makes. It returns once
// the answer is recorded. Errors are a [*machine.AnswerError] for an answer that the run does not take,
// also because another one waits in the inbox of its store, [ErrNobodyAsks], and those of an inbox or a
// journal that cannot be written. It is safe for concurrent use, but an observer of the run must not call it:
// it waits for the run, which waits for the observer.
func (l *Loop) Answer(session string, answer machine.Response) error {
	return l.desk.answer(session, answer)
}

// Answer is [Loop.Answer] for the runs of the pool. It is also [ErrPoolClosed] if the pool is closed; an
// answer that was taken before that is in the run that [Pool.Close] returns.
func (p *Pool) Answer(session string, answer machine.Response) error {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return ErrPoolClosed
	}
	return p.o.desk.answer(session, answer)
}

// pausePeople waits for an answer, by the clock until the first deadline. If the context ends,
// [process.advance] cancels the run.
func (p *process) pausePeople() {
	var over <-chan time.Time
	if until := p.askedUntil(); until != forever {
		over = p.clock.After(until.Sub(p.now()))
	}
	taken, seat := make(chan struct{}, 1), p.desk.sit(p.s.ID())
	// From here on who answers has the run.
	seat.set(func(answer machine.Response) (err error) {
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
	p.sits()
	defer seat.set(nil)
	select {
	case <-taken:
	case <-over:
	case <-p.mail:
		p.poke()
	case <-p.ctx.Done():
	}
}

// sits says that the run waits for people in its seat.
func (p *process) sits() {
	p.sat = true
	p.desk.asks(p.s.ID(), true)
}

// movedOn says that the run no longer waits for people, if it did.
func (p *process) movedOn() {
	if p.sat {
		p.sat = false
		p.desk.asks(p.s.ID(), false)
	}
}

// restAsking puts back a run that waits for people. It returns false as [Pool.rest] does.
func (p *Pool) restAsking(t *PoolRun) bool {
	s := p.o.desk.sit(t.run.s.ID())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take = func(answer machine.Response) error { return p.respond(t, answer) }
	t.run.sits()
	return t.rest(t.run.askedUntil())
}

// respond gives an answer to a run that rests.
func (p *Pool) respond(t *PoolRun, answer machine.Response) error {
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
		return errAway // a worker has it
	case !asks:
		return &machine.AnswerError{Question: answer.Question, Err: machine.ErrMovedOn}
	}
	t.run.live(context.Background())
	err := t.run.answered(answer)
	until := time.Time{} // a worker goes on
	if misfits(err) && !ready && !t.run.stirred() {
		until = t.run.askedUntil()
	}
	if !t.rest(until) {
		t.work(context.Background(), time.Time{})
	}
	return err
}
