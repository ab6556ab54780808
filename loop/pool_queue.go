package loop

import (
	"container/heap"
	"time"
)

// runHeap is a heap of runs: by when they are due, then in the order in which they were queued.
type runHeap []*PoolRun

func (s runHeap) Len() int { return len(s) }

func (s runHeap) Less(i, j int) bool { return s[i].before(s[j]) }

func (t *PoolRun) before(u *PoolRun) bool {
	if t.until.Equal(u.until) {
		return t.order < u.order
	}
	return t.until.Before(u.until)
}

func (s runHeap) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = int32(i), int32(j)
}

// Push implements heap.Interface.
func (s *runHeap) Push(x any) {
	t := x.(*PoolRun)
	t.place = int32(len(*s))
	*s = append(*s, t)
}

// Pop implements heap.Interface.
func (s *runHeap) Pop() any {
	last := len(*s) - 1
	t := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	t.place = -1
	return t
}

// queue has the runs that no worker has: those that are ready, and those that wait.
type queue struct {
	ready, waits runHeap
	// added counts the runs that were queued.
	added int64
}

func (q *queue) len() int { return len(q.ready) + len(q.waits) }

// half returns the heap of a run.
func (q *queue) half(t *PoolRun) *runHeap {
	if t.ready {
		return &q.ready
	}
	return &q.waits
}

// add queues a run: ready since then, or waiting until then.
func (q *queue) add(t *PoolRun, ready bool, then time.Time) {
	q.added++
	t.ready, t.until, t.order = ready, then, q.added
	heap.Push(q.half(t), t)
}

func (q *queue) remove(t *PoolRun) { heap.Remove(q.half(t), int(t.place)) }

// take returns the run that was due first, or nil if none is due. A ready run is always due.
func (q *queue) take(now time.Time) *PoolRun {
	waited := len(q.waits) > 0 && !q.waits[0].until.After(now)
	switch {
	case waited && (len(q.ready) == 0 || q.waits[0].before(q.ready[0])):
		return heap.Pop(&q.waits).(*PoolRun)
	case len(q.ready) > 0:
		return heap.Pop(&q.ready).(*PoolRun)
	}
	return nil
}

// all takes all runs, in order, the ready ones first.
func (q *queue) all() []*PoolRun {
	all := make([]*PoolRun, 0, q.len())
	for _, half := range []*runHeap{&q.ready, &q.waits} {
		for len(*half) > 0 {
			all = append(all, heap.Pop(half).(*PoolRun))
		}
	}
	return all
}

// enqueue queues a run until a time, or as ready if that is zero. It returns false if the pool is closed.
func (p *Pool) enqueue(t *PoolRun, until time.Time) bool {
	shift := p.shift(t, until)
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.shift = shift; !p.closed {
		p.add(t, until)
		p.watchInbox(t)
	}
	return !p.closed
}

// add queues a run. p.mu is held.
func (p *Pool) add(t *PoolRun, until time.Time) {
	if until.IsZero() {
		p.queue.add(t, true, p.time.Now())
	} else {
		p.queue.add(t, false, until.Add(t.shift))
	}
	p.signal()
}

// shift returns how far the pool's time is ahead of that of a run which waits until a time. A run's time
// stands still while the clock is behind it. A pool that is not driven has the time of its engine, and its
// clock may be behind.
func (p *Pool) shift(t *PoolRun, until time.Time) time.Duration {
	if until.IsZero() || until.Equal(forever) {
		return 0
	}
	shift := p.time.Ahead()
	if p.drives.Load() > 0 {
		shift -= max(t.run.last.Sub(p.o.clock.Now()), 0)
	}
	return shift
}

// rest puts back a run. It returns false if the run was cancelled in the meantime and has to be ended
// instead.
func (p *Pool) rest(t *PoolRun, until time.Time) bool {
	shift := p.shift(t, until)
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.cancelled() {
		return false
	}
	t.shift = shift
	if t.run.mustWake() {
		until = time.Time{} // whoever woke it came before it rested
	}
	t.cut = nil
	t.run.rest()
	p.working--
	p.add(t, until)
	return true
}

// ended removes a run that is over.
func (p *Pool) ended(t *PoolRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unwatchInbox(t)
	t.cut, t.run, t.over = nil, nil, true
	p.working--
	p.signal()
}

// take takes the next run that is due, or returns nil. p.mu is held.
func (p *Pool) take(now time.Time) *PoolRun {
	if p.closed {
		return nil
	}
	t := p.queue.take(now)
	if t != nil {
		p.working++
	}
	return t
}

// change returns a channel that is closed at the next change. p.mu is held.
func (p *Pool) change() <-chan struct{} {
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// signal wakes everybody who waits for a change. p.mu is held.
func (p *Pool) signal() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}
