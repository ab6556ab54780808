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
			changed = s.pace(w.Resource, w.Limit.N, int64(period)) || changed
			if known && w.Remaining.Known {
				s.told(w, int64(period), given)
			}
		}
	}
	if top := s.ceiling(); changed && top > 0 {
		s.close()
		s.Pace, s.Seeking, s.Knee = top, false, top
	}
	return changed
}

// pace keeps a window by pacing, and reports whether that is new.
func (s *step) pace(resource string, limit, period int64) bool {
	for n := range s.Windows {
		if w := &s.Windows[n]; w.Resource == resource && w.Period == period {
			changed := w.Limit != limit
			w.Limit = limit
			return changed
		}
	}
	if len(s.Windows) == maxWindows {
		return false
	}
	w := Paced{Resource: resource, Limit: limit, Period: period, Next: s.Now}
	cost := s.cost(&w, 1)
	if s.Waiting() > 0 { // the last call may have been made just now
		w.Next += cost
	}
	w.spend(s.Now, limit)
	if given := s.Given.of(resource); s.Now-s.Since < period { // all of it took from the window
		free := s.Now + scaled(period, 100, 99) // the window is at most used up
		w.Spent, w.Next = [5]int64{}, min(max(w.Next, s.Since+scaled(given, cost, 1)), free)
		w.spend(s.Now, given)
	}
	s.Windows = append(s.Windows, w)
	return true
}

// told notes what is left of a window, less the calls that were granted later, of which the response may not
// know.
func (s *step) told(told *ratelimit.Window, period int64, given amount) {
	for n := range s.Windows {
		if w := &s.Windows[n]; w.Resource == told.Resource && w.Period == period {
			later := s.Given.of(w.Resource) - given.of(w.Resource)
			w.Left, w.Told = min(told.Remaining.N, w.Limit)/s.Config.Parts-later, s.Now
		}
	}
}

// countDown notes what is left of a long window, less the calls in flight, which the response may not have seen.
func (s *step) countDown(w *ratelimit.Window) {
	if !w.Remaining.Known || !w.ResetsIn.Known {
		return
	}
	left := w.Remaining.N/s.Config.Parts - s.InFlight
	if w.Resource != "requests" {
		left += s.InFlight - s.Reserved
	}
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
