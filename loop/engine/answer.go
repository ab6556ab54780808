package engine

import (
	"time"

	"github.com/retake-go/retake/loop/machine"
)

// Answer returns the event that answers an effect for which nobody has to be asked: an estimate, or a plan
// for a shorter prompt. ok is false for other effects.
func (on Offer) Answer(st machine.State, e machine.Effect, at time.Time) (ev machine.Event, ok bool) {
	switch e.Kind {
	case machine.EstimateCall:
		return machine.Event{Kind: machine.Estimated, At: at, Tokens: on.estimate(&st, e.Model)}, true
	case machine.Shorten:
		return machine.Event{Kind: machine.Shortened, At: at, Cut: new(st.PlanCuts())}, true
	}
	return ev, false
}

// Woke returns the event that a wait until a time is over, or a question's deadline. now may be earlier if
// the clock was set back meanwhile.
func Woke(now, until time.Time) machine.Event {
	if now.Before(until) {
		now = until
	}
	return machine.Event{Kind: machine.Woke, At: now}
}
