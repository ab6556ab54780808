package limiter

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/retake-go/retake/limit"
)

// NoticeKind names what a [Notice] is about.
type NoticeKind string

// The notices.
const (
	// BreakerOpened says that a provider is down: calls wait, but for a probe now and then.
	BreakerOpened NoticeKind = "breaker_opened"
	// BreakerClosed says that it is back.
	BreakerClosed NoticeKind = "breaker_closed"
	// StoreLost says that the store cannot be reached (Err), and that this process keeps to one of Parts
	// parts of the last known limits.
	StoreLost NoticeKind = "store_lost"
	// StoreBack says that the store can be reached again.
	StoreBack NoticeKind = "store_back"
)

// Notice is something that people should know of a limiter.
type Notice struct {
	Kind  NoticeKind
	Scope string
	At    time.Time
	Err   error
	Parts int64
}

// String returns the notice as one sentence.
func (n Notice) String() string {
	switch n.Kind {
	case BreakerOpened:
		return n.Scope + ": the provider is down; calls wait, but for probes"
	case BreakerClosed:
		return n.Scope + ": the provider is back"
	case StoreLost:
		return fmt.Sprintf("%s: the store of the limiter cannot be reached; this process keeps to 1/%d of the last known limits: %v",
			n.Scope, n.Parts, n.Err)
	default:
		return n.Scope + ": the store of the limiter is back"
	}
}

// notice tells a notice. l.mu is held.
func (l *Limiter) notice(n Notice) {
	if tell := l.cfg.Notice; tell != nil {
		n.At = l.clock.Now()
		l.later = append(l.later, func() { tell(n) })
	}
}

// Scopes returns the names of the scopes that are known, with the state of each, sorted by name. It copies
// all of them. A nil limiter has none.
func (l *Limiter) Scopes() []Status {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Status, 0, len(l.scopes))
	for _, name := range slices.Sorted(maps.Keys(l.scopes)) {
		s := l.scopes[name]
		st := Status{Scope: name, Waiting: len(s.waiting), State: s.state.Clone()}
		if s.lender != nil {
			st.Above, st.Processes = s.lender.last.Clone(), s.lender.alive
			if own := s.lender.own; own != nil {
				st.Above, st.StoreLost = own.State.Clone(), true
			}
		}
		all = append(all, st)
	}
	return all
}

// Status is how a scope is: its windows, leases, waiting calls and breaker.
type Status struct {
	Scope   string      `json:"scope"`
	Waiting int         `json:"waiting"`
	State   limit.State `json:"state"`
	// Above is what was last known of the state in the store. StoreLost reports that the store cannot be
	// reached: Above is the part of it that this process keeps to then.
	Above     limit.State `json:"above,omitzero"`
	StoreLost bool        `json:"store_lost,omitempty"`
	// Processes is how many processes used the scope when the store was last heard of; 0 without a store.
	Processes int64 `json:"processes,omitempty"`
}
