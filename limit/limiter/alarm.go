package limiter

import (
	"container/heap"
	"time"

	"github.com/retake-go/retake/internal/after"
)

// alarm is a heap of the scopes that have something to do by themselves, by its time.
type alarm struct {
	scopes []*scope
	// changed wakes the goroutine when another scope is the first; nil while there is no goroutine.
	changed chan struct{}
	// pending belongs to the goroutine.
	pending after.Pending
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (a *alarm) Len() int           { return len(a.scopes) }
func (a *alarm) Less(i, j int) bool { return a.scopes[i].wake.Before(a.scopes[j].wake) }
func (a *alarm) Swap(i, j int) {
	a.scopes[i], a.scopes[j] = a.scopes[j], a.scopes[i]
	a.scopes[i].place, a.scopes[j].place = i, j
}

func (a *alarm) Push(x any) {
	s := x.(*scope)
	s.place = len(a.scopes)
	a.scopes = append(a.scopes, s)
}

func (a *alarm) Pop() any {
	last := len(a.scopes) - 1
	s := a.scopes[last]
	a.scopes[last], a.scopes = nil, a.scopes[:last]
	s.place = -1
	return s
}

// set sets when a scope has something to do; zero is never.
func (a *alarm) set(s *scope, at time.Time) {
	switch s.wake = at; {
	case at.IsZero() && s.place >= 0:
		heap.Remove(a, s.place)
	case at.IsZero():
	case s.place >= 0:
		heap.Fix(a, s.place)
	default:
		heap.Push(a, s)
	}
}

// due returns a scope that has something to do now; nil if there is none.
func (a *alarm) due(now time.Time) *scope {
	if len(a.scopes) == 0 || a.scopes[0].wake.After(now) {
		return nil
	}
	return a.scopes[0]
}

func (a *alarm) next() (time.Time, bool) {
	if len(a.scopes) == 0 {
		return time.Time{}, false
	}
	return a.scopes[0].wake, true
}

// plan sets when the scope has something to do by itself. l.mu is held.
func (l *Limiter) plan(s *scope) {
	at, waits := s.state.Next()
	if !waits {
		at = time.Time{}
	}
	if s.lender != nil {
		at = sooner(at, s.lender.next())
	}
	if at.Equal(s.wake) {
		return
	}
	l.alarm.set(s, at)
	if l.alarm.changed == nil && len(l.alarm.scopes) > 0 {
		l.alarm.changed = make(chan struct{}, 1)
		go l.watch(l.alarm.changed)
	} else if s.place <= 0 { // it is the first now, or may have been
		select {
		case l.alarm.changed <- struct{}{}:
		default:
		}
	}
}

// watch does what is due until nothing is left.
func (l *Limiter) watch(changed <-chan struct{}) {
	for {
		l.mu.Lock()
		at, waits := l.alarm.next()
		if !waits {
			l.alarm.changed = nil
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		next := l.alarm.pending.Until(at, l.time.Now, l.clock.After)
		select {
		case <-next.Fired:
			l.alarm.pending.Fired(next)
			l.time.Reached(next.At)
			l.Tick()
		case <-changed:
		}
	}
}
