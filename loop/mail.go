package loop

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/internal/chain"
	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop/engine"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/session"
)

// mailEvery is how often a live run or a pool looks into the inboxes of its stores. It is time of the machine
// and not of the run's clock, because others put items by theirs.
const mailEvery = time.Second

// every calls look every mailEvery, one call at a time, until stop is called. stop does not wait for a call
// in progress.
func every(look func()) (stop func()) {
	var stopped atomic.Bool
	var again func()
	again = func() {
		if look(); !stopped.Load() {
			time.AfterFunc(mailEvery, again)
		}
	}
	first := time.AfterFunc(mailEvery, again)
	return func() {
		stopped.Store(true)
		first.Stop()
	}
}

// takesMail makes the run take what others put into the inbox of its session, and what is said to the
// session. pooled is the run in its pool; nil outside one.
func (p *process) takesMail(pooled *PoolRun) {
	if p.pooled = pooled; pooled == nil {
		p.woken = make(chan struct{}, 1)
	}
	if p.inbox = p.journal.Inbox(); p.inbox != nil {
		p.dropTaken()
		p.signalMail()
	}
}

// dropTaken removes what the last run of the session has taken: its process died before it removed it.
func (p *process) dropTaken() {
	items, _ := p.inbox.Items(p.ctx, p.journal.Session()) // what cannot be read is told once the run has begun
	for _, i := range items {
		if p.journal.Took(i) {
			_ = p.inbox.Remove(p.ctx, p.journal.Session(), i)
		}
	}
}

// hear takes what is said to the session in this process: into the inbox, as from other processes, so that a
// crash does not lose it, and at once to the run.
func (p *process) hear(w session.Words) error {
	if w.ID == "" {
		w.ID = rand.Text()
	}
	if w.At.IsZero() {
		w.At = p.clock.Now()
	}
	w.At = w.At.UTC().Round(0)
	if p.remembers() {
		item, err := mail.ItemOf(w)
		if err == nil {
			err = chain.Bounded(p.inbox.Put(context.Background(), p.journal.Session(), item))
		}
		if err != nil && !errors.Is(err, journal.ErrAnswered) {
			return err
		}
	}
	p.words.add(w, p.signalMail)
	p.pooled.wake()
	return nil
}

// remembers reports whether what is said in this process is kept in the inbox until the run has taken it. The
// inbox has it in clear, so that of a redacted journal does not.
func (p *process) remembers() bool { return p.inbox != nil && !p.journal.Redacts() }

// unrecordedWords are what was said to the session and not recorded yet. They are safe for concurrent use.
type unrecordedWords struct {
	mu    sync.Mutex
	words []session.Words
	// end ends the model call that is under way; nil without one.
	end context.CancelCauseFunc
}

// errSpokenTo is the cause of the end of a model call that a message stopped.
var errSpokenTo = errors.New("loop: the call was left, because the user has said something")

// add takes what is said, and signals it to the run. A message that stops ends the model call that is under
// way, but none that is made after the run has taken the message; and the run, once it has left the call,
// knows of it.
func (u *unrecordedWords) add(w session.Words, signal func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.words = append(u.words, w)
	if signal(); w.Stop && u.end != nil {
		u.end(errSpokenTo)
	}
}

// canceller returns what ends the model call that is under way now, and no later one.
func (u *unrecordedWords) canceller() func() {
	u.mu.Lock()
	defer u.mu.Unlock()
	end := u.end
	return func() {
		if end != nil {
			end(errSpokenTo)
		}
	}
}

// setCall says how to end the model call that is under way; nil ends none. A message that stops and was not
// taken before the call began ends it at once.
func (u *unrecordedWords) setCall(end context.CancelCauseFunc) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.end = end
	if end != nil && slices.ContainsFunc(u.words, func(w session.Words) bool { return w.Stop }) {
		end(errSpokenTo)
	}
}

// take returns what was said, and forgets it.
func (u *unrecordedWords) take() []session.Words {
	u.mu.Lock()
	defer u.mu.Unlock()
	words := u.words
	u.words = nil
	return words
}

// takeWords records what was said in this process.
func (p *process) takeWords(late bool) {
	for _, w := range p.words.take() {
		if p.broke != nil {
			return // the inbox has it
		}
		if p.said(w, late); p.broke == nil && p.remembers() {
			p.remove(journal.Item{Kind: journal.MessageItem, Key: w.ID, By: w.By, At: w.At})
		}
	}
}

// remove removes an item that is taken. If that fails, the next look removes it.
func (p *process) remove(i journal.Item) {
	_ = p.inbox.Remove(context.WithoutCancel(p.ctx), p.journal.Session(), i)
}

// said feeds a message to the run.
func (p *process) said(w session.Words, late bool) {
	if p.runner.State().Phase == machine.Stopped {
		p.broke = p.undelivered(fmt.Sprintf("a message%s came after the run had ended", byWhom(w.By)))
		return
	}
	ev := engine.Spoken(p.runner.State(), p.now(), w, late)
	if ev == nil {
		return
	}
	ev.Usage, ev.Left = p.owed.take()
	if effects, err := p.runner.Step(*ev); err != nil || len(effects) > 0 {
		p.fed(effects, err)
	}
}

// byWhom names who said something, if anybody is named.
func byWhom(by string) string {
	if by == "" {
		return ""
	}
	return " by " + by
}

// signalMail says that there may be something in the inbox. It does not block.
func (p *process) signalMail() {
	p.mail.Store(true)
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// watchMail signals to the run when its inbox has something, until stop is called.
func (p *process) watchMail() (stop func()) {
	if p.inbox == nil {
		return func() {}
	}
	return every(func() {
		leave := p.words.canceller() // the run may take the message meanwhile, and call with it
		if items, err := p.inbox.Items(context.Background(), p.journal.Session()); len(items) > 0 || err != nil {
			p.signalMail()
			if slices.ContainsFunc(items, mail.Stops) {
				leave()
			}
		}
	})
}

// hasMail reports whether mail was signalled, and forgets it.
func (p *process) hasMail() bool {
	select {
	case <-p.woken:
	default:
	}
	return p.mail.Swap(false)
}

// mustWake reports whether the run has something to do before its wait is over: mail, or an answer of the
// limiter.
func (p *process) mustWake() bool { return p.mail.Load() || p.granting.answered() }

// takeMail takes what is in the inbox: it records each item as an event and then removes it. After a crash in
// between the item is found in the record, and only removed. An item that fits nothing is removed with a
// warning. late reports that a model call is under way.
func (p *process) takeMail(late bool) {
	if p.takeWords(late); p.inbox == nil || p.broke != nil {
		return
	}
	ctx := context.WithoutCancel(p.ctx)
	items, err := p.inbox.Items(ctx, p.journal.Session())
	if err != nil && err.Error() != p.unread {
		p.unread = err.Error()
		_ = p.undelivered("the inbox cannot be read: " + p.unread) // the next step says what broke
	}
	for _, i := range items {
		if p.takeItem(i, late); p.broke != nil {
			return
		}
		p.remove(i)
	}
}

// takeItem feeds an item to the run.
func (p *process) takeItem(i journal.Item, late bool) {
	if p.journal.Took(i) {
		return // a process has died before it removed the item
	}
	var answer *machine.Response
	var err error
	if i.Kind == journal.MessageItem {
		var w *session.Words
		if w, err = mail.WordsIn(i); err == nil {
			p.said(*w, late)
			return
		}
	} else if answer, err = mail.ResponseIn(i); err == nil {
		var effects []machine.Effect
		if effects, err = p.respond(p.now(), *answer); err == nil || !misfits(err) {
			p.fed(effects, err)
			return
		}
	}
	// A process may have died before it removed the item. A redacted journal does not say why.
	untaken := fmt.Sprintf("what was put into the inbox%s at %s was not taken", byWhom(i.By),
		i.At.Format(time.RFC3339))
	text := untaken + ": " + err.Error()
	told := p.runner.End().Changed
	if !slices.Contains(told, text) && !slices.Contains(told, untaken) {
		p.broke = p.undelivered(text)
	}
}

// misfits reports whether an error is of an answer that the run did not take.
func misfits(err error) bool {
	_, ok := errors.AsType[*machine.AnswerError](err)
	return ok
}

// undelivered says what was not taken: in the journal, in the warnings of the result, and to observers.
// The error is that of the journal.
func (p *process) undelivered(text string) error {
	at := p.now()
	err := p.runner.Undelivered(at, text)
	p.tell(p.ctx, observe.Notice{Kind: observe.Warned, CorrelationID: p.s.ID(), At: at, Text: text})
	return err
}

// tooLate ends the questions whose deadline is over, unless the run goes on with what is in the inbox.
func (p *process) tooLate(until time.Time) ([]machine.Effect, error) {
	if p.wentOn() {
		return nil, errCallLeft
	}
	return p.woke(until)
}

// waitsInInbox reports whether an answer to a question waits in the inbox.
func (p *process) waitsInInbox(question string) bool {
	if p.inbox == nil {
		return false
	}
	items, _ := p.inbox.Items(context.WithoutCancel(p.ctx), p.journal.Session()) // takeMail says what is wrong
	return slices.ContainsFunc(items, func(i journal.Item) bool {
		return i.Kind == journal.AnswerItem && i.Key == question
	})
}

// wentOn takes what is in the inbox, and reports whether a question was answered or taken back with it, or
// the run cannot go on.
func (p *process) wentOn() bool {
	if p.inbox == nil {
		return false
	}
	given := len(p.runner.State().Given())
	p.takeMail(false)
	st := p.runner.State()
	return p.broke != nil || st.Phase != machine.Asking || len(st.Given()) > given
}

// clearMail removes what came too late for a run that has ended.
func (p *process) clearMail() {
	if p.runner.State().Phase == machine.Stopped {
		p.takeMail(false)
	}
}
