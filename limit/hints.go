package limit

import (
	"cmp"
	"time"

	"github.com/retake-go/retake/ratelimit"
)

// longest is the longest window that is kept by pacing, and the length of one that does not tell its own.
// Calls are not spread over an hour or a day: what is left of such a window is counted down.
const longest = time.Minute

// learn takes over what a response says of windows, and reports whether a limit is new. If the call is known,
// given is all that had been granted with it.
func (s *step) learn(limits *ratelimit.State, known bool, given amount) (changed bool) {
	for n := range limits.Windows {
		w := &limits.Windows[n]
		period := cmp.Or(w.Length(), longest)
		if w.ResetsIn.Known && w.ResetsIn.Duration > longest {
			period = max(period, w.ResetsIn.Duration)
		}
		switch {
		case !counted(w.Resource):
		case period > longest:
			s.countDown(w)
		case w.Limit.Known && w.Limit.N > 0 && w.Limit.N <= 1<<40:
			p, is := s.paced(w.Resource, w.Limit.N, int64(period))
			changed = changed || is
			if p != nil && known && w.Remaining.Known { // of the calls granted later the response may not know
				later := s.Given.of(p.Resource) - given.of(p.Resource)
				p.Left, p.Told = min(w.Remaining.N, p.Limit)/s.Config.Parts-later, s.Now
			}
		}
	}
	if top := s.ceiling(); changed && top > 0 {
		s.close()
		s.Pace, s.Seeking, s.Knee = top, false, top
	}
	return changed
}

// paced keeps a window by pacing, and reports whether that or its limit is new. It returns nil if there are
// too many windows.
func (s *step) paced(resource string, limit, period int64) (p *Paced, changed bool) {
	for n := range s.Windows {
		if w := &s.Windows[n]; w.Resource == resource && w.Period == period {
			changed, w.Limit = w.Limit != limit, limit
			return w, changed
		}
	}
	if len(s.Windows) == maxWindows {
		return nil, false
	}
	w := Paced{Resource: resource, Limit: limit, Period: period, spending: spending{Next: s.Now}}
	cost := s.cost(&w, 1)
	if s.Waiting() > 0 { // the last call may have been made just now
		w.Next += cost
	}
	w.spend(s.Now, limit)
	if given := s.Given.of(resource); s.Now-s.Since < period { // all of it took from the window
		free := s.Now + scaled(period, 100, 99) // the window is at most used up
		w.Spent, w.Next = [quarters]int64{}, min(max(w.Next, s.Since+scaled(given, cost, 1)), free)
		w.spend(s.Now, given)
	}
	s.Windows = append(s.Windows, w)
	return &s.Windows[len(s.Windows)-1], true
}

// countDown notes what is left of a long window, less the calls in flight, which the response may not have
// seen.
func (s *step) countDown(w *ratelimit.Window) {
	if !w.Remaining.Known || !w.ResetsIn.Known {
		return
	}
	left := w.Remaining.N/s.Config.Parts - amount{s.InFlight, s.Reserved}.of(w.Resource)
	reset := s.Now + min(int64(max(w.ResetsIn.Duration, 0)), int64(31*maxTime))
	for n := range s.Quotas {
		if q := &s.Quotas[n]; q.Name == w.Name {
			q.Left, q.Reset = left, reset
			return
		}
	}
	if len(s.Quotas) < maxWindows {
		s.Quotas = append(s.Quotas, Quota{cmp.Or(w.Name, w.Resource), w.Resource, left, reset})
	}
}
