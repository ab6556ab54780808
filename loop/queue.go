package loop

import (
	"container/heap"
	"time"
)

// seats are the runs that nobody works on, as a heap: by when they are to be gone on with, and then in the order in which they lay down.
type seats []*Seat

func (s seats) Len() int { return len(s) }

func (s seats) Less(i, j int) bool {
	if s[i].until.Equal(s[j].until) {
		return s[i].order < s[j].order
	}
	return s[i].until.Before(s[j].until)
}

func (s seats) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = int32(i), int32(j)
}

// Push is for package heap.
func (s *seats) Push(x any) {
	t := x.(*Seat)
	t.place = int32(len(*s))
	*s = append(*s, t)
}

// Pop is for package heap.
func (s *seats) Pop() any {
	last := len(*s) - 1
	t := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	t.place = -1
	return t
}

// ready reports whether the first is to be gone on with at once.
func (s seats) ready() bool { return len(s) > 0 && s[0].until.IsZero() }

// enqueue lets a run wait until it is to be gone on with; false where the pool is closed.
func (p *Pool) enqueue(t *Seat, until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.add(t, until)
	}
	return !p.closed
}

// add puts a run into the queue. p.mu is held.
func (p *Pool) add(t *Seat, until time.Time) {
	p.added++
	t.until, t.order = until, p.added
	heap.Push(&p.seats, t)
	p.signal()
}

// rest lets go of a run that was worked on; false where it was cancelled meanwhile, and is to be ended instead.
func (p *Pool) rest(t *Seat, until time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.gone != nil {
		return false
	}
	t.stop = nil
	p.add(t, until)
	p.free()
	return true
}

// putBack undoes take; false where the run was cancelled meanwhile, and is to be ended instead.
func (p *Pool) putBack(t *Seat) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.gone != nil {
		return false
	}
	heap.Push(&p.seats, t)
	p.signal()
	p.free()
	return true
}

// ended lets go of a run that is over.
func (p *Pool) ended(t *Seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.stop, t.parked, t.over = nil, nil, true
	p.signal()
	p.free()
}

// free says that somebody works no more. p.mu is held.
func (p *Pool) free() {
	p.working--
	p.idle.Broadcast()
}

func (p *Pool) closing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take takes the next run that is due, to be worked on; nil where there is none.
func (p *Pool) take(now time.Time) *Seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.seats) == 0 || p.seats[0].until.After(now) {
		return nil
	}
	p.working++
	return heap.Pop(&p.seats).(*Seat)
}
