package loop

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/internal/mail"
	"github.com/retake-go/retake/journal"
)

// inboxes are those of the runs of a pool. While it is driven, it looks into each once a second, whatever the
// number of runs.
type inboxes struct {
	mu sync.Mutex
	by map[any]watchedInbox
}

// watchedInbox has the runs whose sessions have their items in one inbox, by session.
type watchedInbox struct {
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

// watchInbox begins to look into the inbox of a run.
func (p *Pool) watchInbox(t *PoolRun) {
	in, o := t.run.inbox, &p.inboxes
	if in == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[any]watchedInbox{}
	}
	at := t.key()
	if o.by[at].runs == nil {
		o.by[at] = watchedInbox{in, map[string]*PoolRun{}}
	}
	o.by[at].runs[t.run.journal.Session()] = t
}

// unwatchInbox ends the looks into the inbox of a run.
func (p *Pool) unwatchInbox(t *PoolRun) {
	o := &p.inboxes
	if t.run.inbox == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at, id := t.key(), t.run.journal.Session()
	if o.by[at].runs[id] == t {
		delete(o.by[at].runs, id)
	}
	if len(o.by[at].runs) == 0 {
		delete(o.by, at)
	}
}

// look wakes the runs whose sessions have something in their inbox. What cannot be read is left to the next
// look.
func (p *Pool) look() {
	p.inboxes.mu.Lock()
	boxes := slices.Collect(maps.Values(p.inboxes.by))
	p.inboxes.mu.Unlock()
	for _, b := range boxes {
		ids, _ := b.inbox.WithItems(context.Background())
		for _, id := range ids {
			p.inboxes.mu.Lock()
			t := b.runs[id]
			p.inboxes.mu.Unlock()
			if t != nil {
				p.wake(t, b.inbox)
			}
		}
		for t, j := range p.someWaiting(b) {
			if j.Lost() {
				p.wake(t, b.inbox)
			}
		}
	}
}

// mostLooks is how many journals of runs that wait a look compares, whatever the number of runs.
const mostLooks = 10

// someWaiting returns some runs that wait, by chance, and their journals: another process may have taken one
// over, and nothing may ever wake it here.
func (p *Pool) someWaiting(b watchedInbox) map[*PoolRun]*journal.Journal {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inboxes.mu.Lock()
	defer p.inboxes.mu.Unlock()
	some := map[*PoolRun]*journal.Journal{}
	for _, t := range b.runs {
		if len(some) < mostLooks && t.place >= 0 {
			some[t] = t.run.journal
		}
	}
	return some
}

// wake makes a run that rests ready, so that it takes its mail. One that a worker has takes it in its turn,
// and leaves a model call for a message that stops it.
func (p *Pool) wake(t *PoolRun, in journal.Inbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.over || t.run == nil {
		return
	}
	run := t.run
	if run.signalMail(); t.place < 0 {
		leave := run.words.canceller()
		go func() { // the store may take long, and the pool goes on
			if items, _ := in.Items(context.Background(), run.journal.Session()); slices.ContainsFunc(items, mail.Stops) {
				leave()
			}
		}()
	}
	t.makeReady()
}

// wake makes a run ready that rests: it has mail, or the limiter has answered. It does nothing for a nil run.
func (t *PoolRun) wake() {
	if t == nil {
		return
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.makeReady()
}

// makeReady makes a run that waits ready. The pool's mu is held.
func (t *PoolRun) makeReady() {
	if p := t.pool; t.place >= 0 && !t.ready {
		p.queue.remove(t)
		p.add(t, time.Time{})
	}
}
