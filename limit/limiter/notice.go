package limiter

import (
	"fmt"
	"time"
)

// NoticeKind names what a [Notice] is about.
type NoticeKind string

// The notices.
const (
	// BreakerOpened says that a provider is down: calls wait, but for a probe now and then.
	BreakerOpened NoticeKind = "breaker_opened"
	// BreakerClosed says that it is back.
	BreakerClosed NoticeKind = "breaker_closed"
	// StoreLost says that the store cannot be reached (Err), and that this process keeps to one of Parts parts
	// of the last known limits.
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
