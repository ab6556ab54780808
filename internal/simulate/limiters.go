package simulate

import (
	"time"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// none lets every call through.
type none struct{}

func (none) Ask(_ *Call, grant func())                          { grant() }
func (none) Settle(*Call, limit.Outcome, *ratelimit.State) bool { return true }

// fixed is a token bucket of one process. It was told its part of the provider's rate, and holds what comes
// in a second.
type fixed struct {
	none
	*Clock
	gap, full int64
}

func (f *fixed) Ask(_ *Call, grant func()) {
	f.full = max(f.full, f.now) + f.gap
	f.at(f.full-max(int64(time.Second), f.gap), grant)
}

// aimd bounds the calls in flight of one process: one more after each round of served calls, half of them
// after a refusal.
type aimd struct {
	*Clock
	window, inFlight, cut int64 // window in thousandths
	waiting               []func()
}

func (a *aimd) Ask(c *Call, grant func()) {
	a.waiting = append(a.waiting, func() { c.granted = a.now; grant() })
	a.serve()
}

func (a *aimd) serve() {
	for len(a.waiting) > 0 && (a.inFlight+1)*1000 <= a.window {
		next := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.inFlight++
		next()
	}
}

func (a *aimd) Settle(c *Call, o limit.Outcome, _ *ratelimit.State) bool {
	a.inFlight--
	switch {
	case o == limit.Served:
		a.window += 1_000_000 / a.window
	case c.granted >= a.cut:
		a.window, a.cut = max(a.window/2, 1000), a.now
	}
	a.serve()
	return true
}

// storeTime is the time of a message to the store, and of one back.
const storeTime = time.Millisecond

// machine drives a limiter of package limit.
type machine struct {
	*Clock
	state limit.State
	asked map[int64]answer
	wake  int64
	// above is the limiter whose calls this one shares; nil for none.
	above *machine
	asks  *int64
	// ask is the last ask at that limiter.
	ask int64
	// most is how long a call waits; 0 means for ever.
	most time.Duration
}

// answer takes what was granted, or why nothing is.
type answer func(granted limit.Share, denied limit.Why)

func newMachine(c *Clock, config limit.Config, above *machine, asks *int64) (*machine, error) {
	state, err := limit.New(config)
	return &machine{Clock: c, state: state, asked: map[int64]answer{}, above: above, asks: asks}, err
}

func (m *machine) Ask(c *Call, grant func()) {
	m.asked[c.id] = func(s limit.Share, denied limit.Why) {
		if denied != "" {
			c.deny()
			return
		}
		c.turn, c.probe, c.excused = s.Turn, s.Probe, s.Excused
		grant()
	}
	ev := limit.Event{Kind: limit.Ask, ID: c.id, Tokens: c.tokens + c.tokens/4, Turn: c.turn, Retry: c.again}
	if m.most > 0 {
		ev.Deadline = m.Now().Add(m.most)
	}
	m.step(ev)
}

func (m *machine) Settle(c *Call, o limit.Outcome, limits *ratelimit.State) bool {
	ev := limit.Event{Kind: limit.Settle, ID: c.id, Tokens: c.tokens, Outcome: o, Limits: limits}
	lender, _ := m.state.Lender(c.id)
	m.step(ev)
	if m.above != nil {
		ev.ID = lender
		m.After(storeTime, func() { m.above.step(ev) })
	}
	return true
}

// step passes an event to the limiter, and carries out its effects.
func (m *machine) step(ev limit.Event) {
	ev.At = m.Now()
	var effects []limit.Effect
	m.state, effects = limit.Step(m.state, ev)
	for _, e := range effects {
		switch e.Kind {
		case limit.Grant, limit.Deny:
			tell := m.asked[e.Share.ID]
			delete(m.asked, e.Share.ID)
			m.After(0, func() { tell(e.Share, e.Why) })
		case limit.Borrow:
			m.After(storeTime, func() { m.borrow(*e.Borrow) })
		case limit.Return:
			back := limit.Event{Kind: limit.Settle, ID: e.Share.ID, Calls: e.Share.Calls, Outcome: limit.Unused}
			m.After(storeTime, func() { m.above.step(back) })
		}
	}
	m.sleep()
}

// borrow asks the limiter above.
func (m *machine) borrow(ask limit.Event) {
	*m.asks++
	m.above.step(limit.Event{Kind: limit.Leave, IDs: []int64{m.ask}})
	delete(m.above.asked, m.ask)
	ask.ID, m.ask = *m.asks, *m.asks
	m.above.asked[ask.ID] = func(s limit.Share, denied limit.Why) {
		if denied != "" && denied != limit.DownTooLong {
			m.After(time.Second, func() { m.borrow(ask) })
			return
		}
		m.After(storeTime, func() { m.step(limit.Event{Kind: limit.Lent, Share: s, Why: denied}) })
	}
	m.above.step(ask)
}

// sleep sets the next tick.
func (m *machine) sleep() {
	next, is := m.state.Next()
	if !is {
		return
	}
	if at := next.UnixNano(); m.wake <= m.now || at < m.wake {
		m.wake = max(at, m.now+1)
		m.at(m.wake, func() {
			if m.now >= m.wake {
				m.wake = 0
				m.step(limit.Event{Kind: limit.Tick})
			}
		})
	}
}
