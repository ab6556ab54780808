package after

import (
	"slices"
	"sync"
	"time"
)

// Alarms call functions at times by a clock, which may be a [Steady] time. They keep an After for the next
// time and use it for all later ones: what is set and taken back does not add up. They have a goroutine while
// an alarm is set. Safe for concurrent use; the zero value needs a Clock.
type Alarms struct {
	Clock Clock

	mu sync.Mutex
	// set are the alarms that are set, the next first.
	set []*Alarm
	// changed wakes the goroutine; nil while there is none.
	changed chan struct{}
	// pending belongs to the goroutine.
	pending Pending
}

// Alarm calls a function.
type Alarm struct {
	call func()
	// at is when; zero while it is not set. The mu of the alarms guards it.
	at time.Time
}

// NewAlarm returns an alarm that calls f.
func NewAlarm(f func()) *Alarm { return &Alarm{call: f} }

// Set sets when an alarm calls its function, on the goroutine of the alarms, in place of what was set before;
// zero is never.
func (a *Alarms) Set(x *Alarm, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if x.at.Equal(at) {
		return
	}
	a.drop(x)
	if x.at = at; !at.IsZero() {
		place, _ := slices.BinarySearchFunc(a.set, at, func(y *Alarm, at time.Time) int {
			if y.at.After(at) {
				return 1
			}
			return -1
		})
		a.set = slices.Insert(a.set, place, x)
	}
	switch {
	case a.changed == nil && len(a.set) > 0:
		a.changed = make(chan struct{}, 1)
		go a.watch(a.changed)
	case a.changed != nil && (len(a.set) == 0 || a.set[0] == x):
		select {
		case a.changed <- struct{}{}:
		default:
		}
	}
}

// drop takes an alarm out, if it is set. a.mu is held.
func (a *Alarms) drop(x *Alarm) {
	if place := slices.Index(a.set, x); place >= 0 {
		a.set = slices.Delete(a.set, place, place+1)
	}
	x.at = time.Time{}
}

// Next returns when the next function is called. It returns false if no alarm is set.
func (a *Alarms) Next() (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next()
}

// next is Next. a.mu is held.
func (a *Alarms) next() (at time.Time, set bool) {
	if set = len(a.set) > 0; set {
		at = a.set[0].at
	}
	return at, set
}

// Tick calls the functions that are due now. The goroutine does it by itself, a moment later.
func (a *Alarms) Tick() { a.reach(a.Clock.Now()) }

// reach calls the functions that are due at a time.
func (a *Alarms) reach(now time.Time) {
	for x := a.due(now); x != nil; x = a.due(now) {
		x.call()
	}
}

// due takes out the next alarm if it is due, or returns nil.
func (a *Alarms) due(now time.Time) *Alarm {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, set := a.next(); !set || at.After(now) {
		return nil
	}
	x := a.set[0]
	a.drop(x)
	return x
}

// watch calls the functions that are due until no alarm is set. It uses the clock without the lock: see
// [Steady]. A clock may have been set back: what an After was made for is due when it fires, all the same.
func (a *Alarms) watch(changed <-chan struct{}) {
	for {
		a.mu.Lock()
		at, set := a.next()
		if !set {
			a.changed = nil
		}
		a.mu.Unlock()
		if !set {
			return
		}
		next := a.pending.Until(at, a.Clock)
		select {
		case <-next.Fired:
			a.pending.Fired(next)
			if s, is := a.Clock.(*Steady); is {
				s.Reached(next.At)
			}
			a.reach(next.At)
		case <-changed:
		}
	}
}
