package limiter

import (
	"container/list"
	"time"

	"github.com/retake-go/retake/internal/after"
	"github.com/retake-go/retake/limit"
)

type scope struct {
	name    string
	state   limit.State
	waiting map[int64]waiter
	// gone are asks that were taken back; the state is told of several at once.
	gone []int64
	// lender is what it borrows from; nil if there is no store.
	lender *lender
	// used is when it was last used, and recent its place among the scopes by that.
	used   time.Time
	recent *list.Element
	// alarm is for when it has something to do by itself.
	alarm *after.Alarm
}

// waiter is who waits for an answer.
type waiter struct {
	answer   func(Answer)
	deadline time.Time
}

// Scopes that nobody used for idle are forgotten with all that they learned, and sooner if there are more
// than most.
const (
	idle = 10 * time.Minute
	most = 10_000
)

// scope returns the scope of that name, which is used now.
func (l *Limiter) scope(name string, now time.Time) *scope {
	s := l.scopes[name]
	if s == nil {
		s = l.open(name)
		l.scopes[name], s.recent = s, l.recent.PushBack(s)
	}
	s.used = now
	l.recent.MoveToBack(s.recent)
	for {
		first := l.recent.Front().Value.(*scope)
		if first == s || !first.forgettable() || len(l.scopes) <= most && now.Sub(first.used) <= idle {
			return s
		}
		l.recent.Remove(first.recent)
		l.alarms.Set(first.alarm, time.Time{})
		delete(l.scopes, first.name)
	}
}

// open makes a scope. Its config was checked.
func (l *Limiter) open(name string) *scope {
	config, own := l.cfg.Scopes[name]
	if !own {
		config = l.cfg.Limit
	}
	s := &scope{name: name, waiting: map[int64]waiter{}}
	s.alarm = after.NewAlarm(func() { l.tick(s) })
	config.Shared = false
	if l.cfg.Store != nil {
		s.lender = &lender{l: l, s: s, config: config}
		config.Shared, config.Concurrency = true, 0
	}
	s.state, _ = limit.New(config)
	return s
}

// forgettable reports whether nothing waits, nothing is out, and nothing is left to tell.
func (s *scope) forgettable() bool {
	return len(s.waiting) == 0 && len(s.state.Out) == 0 && (s.lender == nil || s.lender.quiet())
}

// down reports whether the provider is known to be down, and a probe has to wait.
func (s *scope) down(now time.Time) bool {
	b := &s.state.Breaker
	if s.lender != nil {
		b, now = s.lender.breaker(now)
	}
	return b.Open && (len(s.waiting) > 0 || now.UnixNano() < max(b.Next, b.Lost))
}

// step tells the limiter of an event, and does what it says. It returns the answer to an ask of the event, if
// it is known.
func (l *Limiter) step(s *scope, ev *limit.Event) (answer Answer, known bool) {
	open := s.state.Breaker.Open
	var effects []limit.Effect
	s.state, effects = limit.Step(s.state, *ev)
	for n := range effects {
		e := &effects[n]
		switch {
		case e.Kind == limit.Borrow:
			s.lender.borrow(e.Borrow)
		case e.Kind == limit.Return:
			s.lender.settle(limit.Event{Kind: limit.Settle, Calls: e.Share.Calls, Outcome: limit.Unused}, e.Share.ID)
		case ev.Kind == limit.Ask && e.Share.ID == ev.ID:
			answer, known = l.answer(s, e, ev.Deadline), true
		default:
			l.reply(s, e)
		}
	}
	l.breaker(s, open, s.state.Breaker.Open)
	l.plan(s)
	return answer, known
}

// breaker tells that the breaker has opened or closed, if it has.
func (l *Limiter) breaker(s *scope, was, is bool) {
	kind := BreakerClosed
	if is {
		kind = BreakerOpened
	}
	if was != is {
		l.notice(Notice{Kind: kind, Scope: s.name})
	}
}

// reply answers an ask that waits. If it was taken back, nobody uses the grant.
func (l *Limiter) reply(s *scope, e *limit.Effect) {
	w, waits := s.waiting[e.Share.ID]
	if !waits {
		if e.Kind == limit.Grant {
			l.settle(s, limit.Event{Kind: limit.Settle, At: l.time.Now(), ID: e.Share.ID, Outcome: limit.Unused})
		}
		return
	}
	delete(s.waiting, e.Share.ID)
	got := l.answer(s, e, w.deadline)
	l.later = append(l.later, func() { w.answer(got) })
}

// settle passes on how a call ended.
func (l *Limiter) settle(s *scope, ev limit.Event) {
	lender, out := s.state.Lender(ev.ID)
	if !out {
		lender = 0
	}
	if l.step(s, &ev); s.lender != nil {
		s.lender.settle(ev, lender)
		l.plan(s)
	}
}

// answer returns what a grant or a denial says.
func (l *Limiter) answer(s *scope, e *limit.Effect, deadline time.Time) Answer {
	a := Answer{Grant: Grant{Scope: s.name, ID: e.Share.ID, Turn: e.Share.Turn, Probe: e.Share.Probe, Excused: e.Share.Excused}}
	if e.Kind == limit.Deny {
		denied := &DeniedError{Scope: s.name, Why: e.Why, Wait: e.Wait}
		if !deadline.IsZero() {
			denied.Left = max(deadline.Sub(l.time.Now()), 0)
		}
		a.Err = denied
	}
	return a
}

// plan sets when the scope has something to do by itself. l.mu is held.
func (l *Limiter) plan(s *scope) {
	at, waits := s.state.Next()
	if !waits {
		at = time.Time{}
	}
	if s.lender != nil {
		at = after.Sooner(at, s.lender.next())
	}
	l.alarms.Set(s.alarm, at)
}

// tick does what a scope has to do by itself, unless it was forgotten just now.
func (l *Limiter) tick(s *scope) {
	l.mu.Lock()
	defer l.tell()
	if l.scopes[s.name] != s {
		return
	}
	now := l.time.Now()
	l.step(s, &limit.Event{Kind: limit.Tick, At: now})
	if s.lender != nil {
		s.lender.tick(now)
		l.plan(s)
	}
}
