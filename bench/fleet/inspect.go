package fleet

import (
	"time"

	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// The defaults of inspect_ai's adaptive connections.
const (
	inspectStart    = 20
	inspectLeast    = 4
	inspectMost     = 100
	inspectCooldown = 15 * time.Second
)

// inspect is the adaptive connections of inspect_ai, a controller for each process:
// https://inspect.aisi.org.uk/models-concurrency.html, with the change of
// https://github.com/UKGovernmentBEIS/inspect_ai/pull/5138, by which Retry-After does not lengthen the
// cooldown. It bounds the connections, each of which a call keeps until its last attempt. The bound doubles
// after each round of clean calls until a call is refused; from then on it rises by a twentieth, and each
// episode of refusals takes a fifth of it.
type inspect struct {
	clock       *simulate.Clock
	bound, kept int
	// clean are calls of this round that were served at the first attempt, and full is whether the round used
	// all of the bound.
	clean   int
	full    bool
	refused bool
	cooled  time.Time
	waiting []func()
}

func newInspect(c *simulate.Clock) simulate.Limiter { return &inspect{clock: c, bound: inspectStart} }

// Ask implements [simulate.Limiter].
func (i *inspect) Ask(c *simulate.Call, grant func()) {
	if c.Attempt > 1 {
		grant()
		return
	}
	i.waiting = append(i.waiting, grant)
	i.serve()
}

func (i *inspect) serve() {
	for len(i.waiting) > 0 && i.kept < i.bound {
		next := i.waiting[0]
		i.waiting = i.waiting[1:]
		i.kept++
		i.full = i.full || i.kept == i.bound
		next()
	}
}

// Settle implements [simulate.Limiter].
func (i *inspect) Settle(c *simulate.Call, o limit.Outcome, _ *ratelimit.State) bool {
	if c.Last {
		i.kept--
	}
	if now := i.clock.Now(); !now.Before(i.cooled) {
		switch {
		case o == limit.Refused:
			i.bound, i.clean, i.full, i.refused = max(i.bound*4/5, inspectLeast), 0, false, true
			i.cooled = now.Add(inspectCooldown)
		case o == limit.Served && c.Attempt == 1:
			if i.clean++; i.clean >= i.bound {
				i.grow()
			}
		}
	}
	i.serve()
	return true
}

// grow ends a round of clean calls.
func (i *inspect) grow() {
	switch {
	case !i.full:
	case i.refused:
		i.bound = min(i.bound+max(i.bound/20, 1), inspectMost)
	default:
		i.bound = min(2*i.bound, inspectMost)
	}
	i.clean, i.full = 0, false
}
