package loop

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/journal/inbox"
)

// post brings the mail to the runs of a pool that is driven: one look into each inbox a second, whatever the
// number of runs.
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

// look wakes the runs whose sessions have something in their inbox. What cannot be read is left to the next
// look.
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
				p.wake(t, b.inbox)
			}
		}
	}
}

// wake makes a run that rests ready, so that it takes its mail. One that a worker has takes it in its turn,
// and leaves a model call for a message that stops it; in is where that is, or nil.
func (p *Pool) wake(t *PoolRun, in journal.Inbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.over || t.run == nil {
		return
	}
	run := t.run
	if run.poke(); t.place < 0 && in != nil {
		leave := run.ear.leaver()
		go func() { // the store may take long, and the pool goes on
			if items, _ := in.Items(context.Background(), run.journal.Session()); slices.ContainsFunc(items, inbox.Stops) {
				leave()
			}
		}()
	}
	t.readyNow()
}

// wake makes a run ready that rests.
func (t *PoolRun) wake() {
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	t.readyNow()
}

// readyNow makes a run ready that rests. The pool's mu is held.
func (t *PoolRun) readyNow() {
	if p := t.pool; t.place >= 0 && !t.ready {
		p.queue.remove(t)
		p.add(t, time.Time{})
	}
}
