package limit

import (
	"cmp"
	"fmt"
	"time"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

// EventKind names an event.
type EventKind string

// The events, and the fields of [Event] that each uses beside At.
const (
	// Ask asks for a call, or for several at once (ID, Calls, Tokens, Turn, Priority, Retry, Deadline,
	// Shared, Place).
	Ask EventKind = "ask"
	// Leave takes asks back that were not answered (IDs). It looks at all that wait. If nobody does, a shared
	// limiter gives back what it was lent.
	Leave EventKind = "leave"
	// Settle says how calls that were granted ended (ID, Calls, Tokens, Outcome, Limits).
	Settle EventKind = "settle"
	// Lent answers a borrow effect (Share). If there is nothing to be had because the provider has been down
	// for too long (Why), all that wait are denied.
	Lent EventKind = "lent"
	// Tick says that the time of [State.Next] has come.
	Tick EventKind = "tick"
)

// Outcome is how a call ended, as far as a limiter must know.
type Outcome string

// The outcomes.
const (
	// Served is a reply, good or bad, and also an error that says nothing about limits and outages.
	Served Outcome = "served"
	// Refused is a refusal for a limit: a status 429.
	Refused Outcome = "refused"
	// Down is a provider that cannot be reached or is broken: a status 503, a connection that failed.
	Down Outcome = "down"
	// Unused is a call that was granted and not made, or that nobody waited for. It teaches nothing.
	Unused Outcome = "unused"
)

// OutcomeOf returns the outcome of a call that failed with an error of the class; "" is one that did not
// fail.
func OutcomeOf(c fault.Class) Outcome {
	switch c {
	case fault.RateLimit:
		return Refused
	case fault.Unavailable, fault.Overloaded, fault.Network, fault.Timeout, fault.EventUnavailable, fault.EventTimeout:
		return Down
	case fault.Cancelled, fault.DeadlineExceeded:
		return Unused
	}
	return Served
}

// Event is one input. At is the driver's time and never runs backwards; an earlier time counts as the one
// before it. An event of an unknown kind only tells the time. Step reads Limits and does not keep it.
type Event struct {
	Kind EventKind
	At   time.Time
	// ID is the driver's number for an ask, and for the calls that were granted to it. No two that wait or
	// are out may have the same.
	ID int64
	// IDs are the numbers of the asks that leave.
	IDs []int64
	// Calls is how many calls are asked for or settled. 0 means 1.
	Calls int64
	// Tokens is, for each call, an estimate when it is asked for, and the real usage when it is settled. A
	// usage of 0 means unknown: the estimate stands.
	Tokens int64
	// Turn is what the last grant of the same session said; 0 for a session's first call. It is all that
	// fairness needs to know of a session, so that a limiter keeps nothing of it.
	Turn int64
	// Priority goes before lower ones, as if it had waited longer. It never starves them: see [Config].
	Priority int
	// Shared marks the ask of a limiter that shares this one, for calls that wait there. Place is that of
	// their first one in the queue, as a time before or after At.
	Shared bool
	Place  time.Duration
	// Retry marks a call that failed before, also as a probe. It has waited, and goes first; a share of all
	// calls may be retries.
	Retry bool
	// Deadline is when the answer is of no use anymore. Zero means never.
	Deadline time.Time
	Outcome  Outcome
	// Limits are what the response said; nil for nothing.
	Limits *ratelimit.State
	Share  Share
	// Why is DownTooLong if nothing was lent for that reason.
	Why Why
}

// Share is what one grant allows: Calls calls, the first at From and each later one Every after the one
// before.
type Share struct {
	ID    int64         `json:"id"`
	From  time.Time     `json:"from"`
	Every time.Duration `json:"every_ns"`
	Calls int64         `json:"calls"`
	// Probe marks the one call that finds out whether the provider is back. Its failure is charged to nobody.
	Probe bool `json:"probe,omitempty"`
	// Excused marks a call whose refusal is charged to nobody: others wait, so it is the pace that was wrong.
	// A call is excused once: not if it is made again.
	Excused bool `json:"excused,omitempty"`
	// Seeking reports that the pace is still doubling in search of the limit.
	Seeking bool `json:"seeking,omitempty"`
	// Trying reports that the pace is near the one at which calls were refused.
	Trying bool `json:"trying,omitempty"`
	// Queue is how long those that wait will probably take, for a limiter that shares this one.
	Queue time.Duration `json:"queue_ns,omitempty"`
	// Turn belongs into the session's next ask.
	Turn int64 `json:"turn"`
}

// EffectKind names an effect.
type EffectKind string

// The effects.
const (
	// Grant lets an ask make its calls (Share).
	Grant EffectKind = "grant"
	// Deny refuses an ask (Share.ID, Wait, Why). Nothing was reserved.
	Deny EffectKind = "deny"
	// Borrow asks the limiter that this one shares for calls (Event is the ask for it, without its ID and
	// time) in place of what it asked for before and was not answered. A Lent event answers it, with no calls
	// if there are none to be had.
	Borrow EffectKind = "borrow"
	// Return gives back calls that were lent and will not be made (Share.ID, Share.Calls).
	Return EffectKind = "return"
)

// Why says why an ask was denied.
type Why string

// The reasons.
const (
	// TooLate is a wait beyond the deadline.
	TooLate Why = "deadline"
	// TooMany is a queue that is full.
	TooMany Why = "queue_full"
	// NotUp is a provider that is down, for an ask that would rather go elsewhere. A driver says it.
	NotUp Why = "provider_down"
	// DownTooLong is a provider that has been down for longer than [Config].GiveUp.
	DownTooLong Why = "down_too_long"
	// Twice is the ID of an ask that waits or is out already.
	Twice Why = "id_in_use"
)

var sentences = map[Why]string{
	TooLate: "no grant came in time", TooMany: "too many calls wait already", NotUp: "the provider is down",
	DownTooLong: "the provider has been down for too long", Twice: "its number is in use",
}

// Explain returns the reason as a sentence: wait is how long the call would have waited, if that is known,
// and left the time that it had.
func (w Why) Explain(wait, left time.Duration) string {
	if w == TooLate && wait > 0 {
		return fmt.Sprintf("the call would wait %v, and %v are left", wait, left)
	}
	return cmp.Or(sentences[w], string(w))
}

// Effect is one thing that the driver has to do.
type Effect struct {
	Kind  EffectKind
	Share Share
	// Wait is how long the ask would have waited, as far as can be told.
	Wait time.Duration
	Why  Why
	// Borrow is set for a borrow effect only.
	Borrow *Event
}
