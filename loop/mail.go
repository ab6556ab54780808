package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/observe"
)

// mailEvery is how often a live run or a pool looks into the inboxes of its stores. It is time of the machine and not
// of the run's clock, because others put items by theirs.
const mailEvery = time.Second

// every calls look every mailEvery, one call at a time, until stop is called. stop does not wait for a call in progress.
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

// takesMail makes the run take what others put into the inbox of its session.
func (p *process) takesMail() {
	if p.inbox = p.journal.Inbox(); p.inbox != nil {
		p.mail = make(chan struct{}, 1)
		p.poke()
	}
}

// poke says that there may be something in the inbox. It does not block.
func (p *process) poke() {
	select {
	case p.mail <- struct{}{}:
	default:
	}
}

// watchMail pokes the run when its inbox has something, until stop is called.
func (p *process) watchMail() (stop func()) {
	if p.inbox == nil {
		return func() {}
	}
	return every(func() {
		if items, err := p.inbox.Items(context.Background(), p.journal.Session()); len(items) > 0 || err != nil {
			p.poke()
		}
	})
}

// hasMail reports whether the run was poked, and forgets it.
func (p *process) hasMail() bool {
	select {
	case <-p.mail:
		return true
	default:
		return false
	}
}

// takeMail takes what is in the inbox: it records each item as an event and then removes it. After a crash in between
// the item is found in the record, and only removed. An item that fits nothing is removed with a warning.
func (p *process) takeMail() {
	ctx := context.WithoutCancel(p.ctx)
	items, err := p.inbox.Items(ctx, p.journal.Session())
	if err != nil && err.Error() != p.unread {
		p.unread = err.Error()
		p.undelivered("the inbox cannot be read: " + p.unread)
	}
	for _, i := range items {
		if p.takeItem(i); p.broke != nil {
			return
		}
		_ = p.inbox.Remove(ctx, p.journal.Session(), i) // it is taken: the next look removes it
	}
}

// takeItem feeds an item to the run.
func (p *process) takeItem(i journal.Item) {
	answer, err := inbox.ResponseIn(i)
	if err == nil {
		answer.Question = p.journal.QuestionOf(answer.Question)
		if st := p.runner.State(); st.Gave(answer) {
			return // a process has died before it removed the item
		}
		var effects []machine.Effect
		if effects, err = p.respond(*answer); err == nil || !misfits(err) {
			p.fed(effects, err)
			return
		}
	}
	by := ""
	if i.By != "" {
		by = " by " + i.By
	}
	p.undelivered(fmt.Sprintf("what was put into the inbox%s at %s was not taken: %v", by, i.At.Format(time.RFC3339), err))
}

// misfits reports whether an error is of an answer that the run did not take.
func misfits(err error) bool {
	_, ok := errors.AsType[*machine.AnswerError](err)
	return ok
}

// undelivered says what was not taken: in the journal, in the warnings of the result, and to observers.
func (p *process) undelivered(text string) {
	at := p.now()
	p.runner.Undelivered(at, text)
	p.tell(p.ctx, observe.Notice{Kind: observe.Warned, CorrelationID: p.s.ID(), At: at, Text: text})
}

// tooLate ends the questions whose deadline is over, unless an answer that was given in time is in the inbox.
func (p *process) tooLate(until time.Time) ([]machine.Effect, error) {
	if p.inbox != nil {
		given := len(p.runner.State().Given)
		if p.takeMail(); p.broke != nil || len(p.runner.State().Given) > given {
			return nil, errCallLeft
		}
	}
	return p.nobodyAnswered(until)
}

// clearMail removes what came too late for a run that has ended.
func (p *process) clearMail() {
	if p.inbox != nil && p.runner.State().Phase == machine.Stopped && p.runner.End().Recorded.IsZero() {
		p.takeMail()
	}
}

// post brings the mail to the runs of a pool that is driven: one look into each inbox a second, whatever the number
// of runs.
type post struct {
	mu    sync.Mutex
	boxes map[any]box
	// drives counts the drives of the pool, and stop ends the looks; nil if there are none.
	drives int
	stop   func()
}

// box are the runs whose sessions have their items in one inbox, by session.
type box struct {
	inbox journal.Inbox
	runs  map[string]*PoolRun
}

// key tells inboxes apart.
func (t *PoolRun) key() any {
	if in := t.run.inbox; reflect.TypeOf(in).Comparable() {
		return in
	}
	return t
}

// deliver begins to bring mail to a run.
func (p *Pool) deliver(t *PoolRun) {
	in, o := t.run.inbox, &p.post
	if in == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.boxes == nil {
		o.boxes = map[any]box{}
	}
	at := t.key()
	if o.boxes[at].runs == nil {
		o.boxes[at] = box{in, map[string]*PoolRun{}}
	}
	o.boxes[at].runs[t.run.journal.Session()] = t
	p.tend()
}

// deliverNoMore forgets a run.
func (p *Pool) deliverNoMore(t *PoolRun) {
	o := &p.post
	if t.run.inbox == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at, id := t.key(), t.run.journal.Session()
	if o.boxes[at].runs[id] == t {
		delete(o.boxes[at].runs, id)
	}
	if len(o.boxes[at].runs) == 0 {
		delete(o.boxes, at)
	}
	p.tend()
}

// driven counts a drive that begins (1) or ends (-1).
func (p *Pool) driven(more int) {
	p.post.mu.Lock()
	defer p.post.mu.Unlock()
	p.post.drives += more
	p.tend()
}

// tend begins or ends the looks. p.post.mu is held.
func (p *Pool) tend() {
	o := &p.post
	switch needed := o.drives > 0 && len(o.boxes) > 0; {
	case needed && o.stop == nil:
		o.stop = every(p.look)
	case !needed && o.stop != nil:
		o.stop()
		o.stop = nil
	}
}

// look wakes the runs whose sessions have something in their inbox. What cannot be read is left to the next look.
func (p *Pool) look() {
	p.post.mu.Lock()
	boxes := slices.Collect(maps.Values(p.post.boxes))
	p.post.mu.Unlock()
	for _, b := range boxes {
		ids, _ := b.inbox.WithItems(context.Background())
		for _, id := range ids {
			p.post.mu.Lock()
			t := b.runs[id]
			p.post.mu.Unlock()
			if t != nil {
				p.wake(t)
			}
		}
	}
}

// wake makes a run that rests ready, so that it takes its mail. One that a worker has takes it in its turn.
func (p *Pool) wake(t *PoolRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.over || t.run == nil {
		return
	}
	if t.run.poke(); t.place >= 0 && !t.ready {
		p.queue.remove(t)
		p.add(t, time.Time{})
	}
}
