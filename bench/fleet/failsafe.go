package fleet

import (
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// failsafe is the adaptive limiter of failsafe-go with its defaults, one for each process:
// https://failsafe-go.dev/adaptive-limiter/. It learns from the times of calls alone. Calls that it has no
// place for wait in a queue here, because the library's own drops some at random.
//
// The library has the clock of the machine. In a bubble of testing/synctest, and only there, that clock is
// moved to the time of the simulation.
type failsafe struct {
	clock   *simulate.Clock
	began   time.Time
	limiter adaptivelimiter.AdaptiveLimiter[any]
	permits map[*simulate.Call]adaptivelimiter.Permit
	waiting []waiter
}

type waiter struct {
	call  *simulate.Call
	grant func()
}

func newFailsafe(c *simulate.Clock) simulate.Limiter {
	return &failsafe{
		clock: c, began: time.Now().Add(-time.Duration(c.Now().UnixNano())), limiter: adaptivelimiter.NewWithDefaults[any](),
		permits: map[*simulate.Call]adaptivelimiter.Permit{},
	}
}

// Ask implements [simulate.Limiter].
func (f *failsafe) Ask(c *simulate.Call, grant func()) {
	f.waiting = append(f.waiting, waiter{c, grant})
	f.serve()
}

func (f *failsafe) serve() {
	f.moveClock()
	for len(f.waiting) > 0 {
		permit, free := f.limiter.TryAcquirePermit()
		if !free {
			return
		}
		next := f.waiting[0]
		f.waiting = f.waiting[1:]
		f.permits[next.call] = permit
		next.grant()
	}
}

// Settle implements [simulate.Limiter].
func (f *failsafe) Settle(c *simulate.Call, _ limit.Outcome, _ *ratelimit.State) bool {
	f.moveClock()
	f.permits[c].Record()
	delete(f.permits, c)
	f.serve()
	return true
}

func (f *failsafe) moveClock() {
	time.Sleep(time.Until(f.began.Add(time.Duration(f.clock.Now().UnixNano()))))
}
