package console

import (
	"cmp"
	"slices"
	"time"

	"github.com/retake-go/retake/journal"
)

// states are all states, in the order of the filters.
var states = picks[statePick].known

// columns sort the list flat.
var columns = map[string]func(a, b *watched) int{
	"state": func(a, b *watched) int {
		return cmp.Compare(slices.Index(states, string(a.State)), slices.Index(states, string(b.State)))
	},
	"session": func(a, b *watched) int { return cmp.Compare(a.Session, b.Session) },
	"attempt": func(a, b *watched) int { return cmp.Compare(b.Attempt.Attempt, a.Attempt.Attempt) },
	"spent":   func(a, b *watched) int { return cmp.Compare(b.spent, a.spent) },
	"last":    func(a, b *watched) int { return b.Last.Compare(a.Last) },
	"began":   func(a, b *watched) int { return b.Since.Compare(a.Since) },
}

// deployment is how long a session may be without a process until a person is needed.
const deployment = time.Minute

// The sections of the list.
const (
	needsPerson = iota
	underWay
	over
)

var sectionNames = []string{"Needs a person", "Under way", "Ended"}

// section returns the section of a row.
func (s *watched) section(now time.Time) int {
	switch s.State {
	case journal.SessionAsks:
		return needsPerson
	case journal.SessionInterrupted:
		if now.Sub(s.Last) > deployment {
			return needsPerson
		}
	case journal.SessionFailed, journal.SessionDone:
		return over
	}
	return underWay
}

// order sorts rows by need: calls in doubt, then questions by deadline, then what no process has; then what
// is overdue, waits by their end, and runs by age; then what has ended, the newest first.
func order(rows []*watched, sort string, now time.Time) {
	by := columns[sort]
	rank := func(r *watched) int {
		switch {
		case r.State == journal.SessionAsks && r.InDoubt > 0:
			return 0
		case r.State == journal.SessionAsks:
			return 1
		case r.State == journal.SessionWaits:
			return 2
		case r.State == journal.SessionRuns:
			return 3
		}
		return 4
	}
	slices.SortStableFunc(rows, func(a, b *watched) int {
		if by != nil {
			return cmp.Or(by(a, b), cmp.Compare(a.Key, b.Key))
		}
		sa, sb := a.section(now), b.section(now)
		var in int
		switch {
		case sa != sb:
		case sa == over:
			in = b.Last.Compare(a.Last)
		case rank(a) > 2:
			in = a.Last.Compare(b.Last)
		default:
			in = orNever(a.Until).Compare(orNever(b.Until))
		}
		return cmp.Or(sa-sb, rank(a)-rank(b), in, cmp.Compare(a.Key, b.Key))
	})
}

// never is later than any time of a journal.
var never = time.Unix(1<<40, 0)

// orNever returns the time when something ends; far away if it does not.
func orNever(end time.Time) time.Time {
	if end.IsZero() {
		return never
	}
	return end
}
