package loop

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-go/retake/loop/machine"
)

// askers are the runs of a [Loop] or [Pool] that have asked people, by session. They take answers.
type askers struct {
	mu sync.Mutex
	by map[string]*asker
}

// asker takes the answers to the questions of a run.
type asker struct {
	mu sync.Mutex
	// take feeds an answer to the run; nil while the run does not wait for people.
	take func(machine.Response) error
	// answered are the questions that were answered here.
	answered []string

	// asking reports that the run waits for people, even while it looks into its inbox. returned is closed
	// when it has looked or has gone on; nil if no answer waits for that. The mu of askers guards both.
	asking   bool
	returned chan struct{}
}

// errNotWaiting is the error of an answer for a run that takes none now.
var errNotWaiting = errors.New("loop: the run does something else")

// of returns the asker of a run that waits for people from now on, and makes it if there is none.
func (a *askers) of(id string) *asker {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]*asker{}
	}
	of := a.by[id]
	if of == nil {
		of = new(asker)
		a.by[id] = of
	}
	of.asking = true // an answer that comes before the run takes any waits for that
	return of
}

// set sets what takes answers, after one that is being taken; nil takes none.
func (a *asker) set(take func(machine.Response) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.take = take
}

// setAsking says that a run waits for people, or that it has gone on.
func (a *askers) setAsking(id string, still bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if of := a.by[id]; of != nil {
		if of.asking = still; of.returned != nil {
			close(of.returned)
			of.returned = nil
		}
	}
}

// remove forgets a run that is over, or left to be resumed.
func (a *askers) remove(id string) {
	if a == nil {
		return
	}
	a.setAsking(id, false)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.by, id)
}

// find returns the asker of a run, or nil, and what to wait for if the run looks into its inbox and still
// asks.
func (a *askers) find(id string) (of *asker, returned <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if of = a.by[id]; of == nil || !of.asking {
		return of, nil
	}
	if of.returned == nil {
		of.returned = make(chan struct{})
	}
	return of, of.returned
}

// answer gives an answer to the run of a session. While the run looks into its inbox, the answer waits.
func (a *askers) answer(id string, answer machine.Response) error {
	for {
		of, returned := a.find(id)
		if of == nil {
			return fmt.Errorf("%w: %q", ErrNobodyAsks, id)
		}
		err := of.answer(answer)
		switch {
		case err != errNotWaiting:
			return err
		case returned == nil:
			return &machine.AnswerError{Question: answer.Question, Err: machine.ErrMovedOn}
		}
		<-returned
	}
}

// answer gives an answer to the run.
func (a *asker) answer(answer machine.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case slices.Contains(a.answered, answer.Question):
		return &machine.AnswerError{Question: answer.Question, Err: machine.ErrAnswered}
	case a.take == nil:
		return errNotWaiting
	}
	err := a.take(answer)
	if err == nil {
		a.answered = append(a.answered, answer.Question)
	}
	return err
}

// Answer gives a person's answer to a run of the session with an id that this Loop makes. It returns once
// the answer is recorded. Errors are a [*machine.AnswerError] for an answer that the run does not take,
// also because another one waits in the inbox of its store, [ErrNobodyAsks], and those of an inbox or a
// journal that cannot be written. It is safe for concurrent use, but an observer of the run must not call it:
// it waits for the run, which waits for the observer.
func (l *Loop) Answer(session string, answer machine.Response) error {
	if err := l.unmade(); err != nil {
		return err
	}
	return l.askers.answer(session, answer)
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
	return p.o.askers.answer(session, answer)
}
