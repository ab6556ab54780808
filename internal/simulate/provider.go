package simulate

import (
	"maps"
	"math/bits"
	"slices"
	"sort"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// answerTime is how long a refusal takes, and a failure while the provider is down.
const answerTime = 20 * time.Millisecond

// provider serves calls within its limits.
type provider struct {
	*Clock
	Provider
	// requests and tokens are the limits, in calls, because all calls have the same size.
	requests, tokens window
	// rate is the calls that both allow in a second, in millionths, and each the tokens of a call.
	rate, each int64

	// up is when the outages that have begun are over.
	up       int64
	inFlight map[int64]func(limit.Outcome)
	calls    int64
	log      *log
}

func newProvider(c *Clock, s *Settings, l *log) *provider {
	p := &provider{Clock: c, Provider: s.Provider, inFlight: map[int64]func(limit.Outcome){}, log: l,
		each: int64(s.TokensPerCall)}
	p.requests = windowOf(int64(s.Provider.RequestsPerSecond), int64(backoff.One))
	p.tokens = windowOf(s.Provider.TokensPerMinute, 60*int64(s.TokensPerCall))
	p.rate = p.tightest().rate()
	for _, o := range s.Provider.Outages {
		c.at(int64(o.At), func() { p.fail(o) })
	}
	return p
}

// tightest returns the lower of the two limits.
func (p *provider) tightest() *window {
	if r := p.tokens.rate(); r > 0 && (p.requests.limit == 0 || r < p.requests.rate()) {
		return &p.tokens
	}
	return &p.requests
}

// window allows a number of calls in any span of time, wherever it begins. The zero value allows all.
type window struct {
	span  time.Duration
	limit int64
	// accepted are the times of the last calls that were accepted, as a ring, of which next is the oldest.
	accepted []int64
	next     int
}

// windowOf returns a window that allows n calls in every per seconds. It holds as many whole calls as a
// second allows, at least one, and spans the time that these take.
func windowOf(n, per int64) (w window) {
	if n == 0 || per == 0 || n/per > maxRate { // no call meets such a limit
		return w
	}
	w.limit = max(n/per, 1)
	hi, lo := bits.Mul64(uint64(w.limit*per), uint64(time.Second))
	span, rest := bits.Div64(hi, lo, uint64(n))
	if rest > 0 {
		span++
	}
	w.span = time.Duration(span)
	w.accepted = make([]int64, w.limit)
	for k := range w.accepted {
		w.accepted[k] = -int64(w.span)
	}
	return w
}

// rate returns the calls in a second, in millionths.
func (w *window) rate() int64 {
	if w.limit == 0 {
		return 0
	}
	return w.limit * 1e12 / w.span.Microseconds()
}

// free returns the time when the window has room.
func (w *window) free() int64 {
	if w.limit == 0 {
		return 0
	}
	return w.accepted[w.next] + int64(w.span)
}

func (w *window) take(now int64) {
	if w.limit > 0 {
		w.accepted[w.next] = now
		w.next = (w.next + 1) % len(w.accepted)
	}
}

// remaining returns how many more calls there is room for.
func (w *window) remaining(now int64) int64 {
	return int64(sort.Search(len(w.accepted), func(n int) bool {
		return w.accepted[(w.next+n)%len(w.accepted)] > now-int64(w.span)
	}))
}

// down reports whether there is an outage.
func (p *provider) down() bool { return p.now < p.up }

// fail begins an outage: what is in flight fails.
func (p *provider) fail(o Outage) {
	p.up = max(p.up, int64(o.At+o.For))
	p.log.inOutage += int64(len(p.inFlight))
	for _, id := range slices.Sorted(maps.Keys(p.inFlight)) {
		end := p.inFlight[id]
		delete(p.inFlight, id)
		end(limit.Down)
	}
}

// call makes a call, and calls end with its outcome.
func (p *provider) call(end func(limit.Outcome, *ratelimit.State)) {
	p.log.call(p.now, p.down())
	switch {
	case p.down():
		p.After(answerTime, func() { end(limit.Down, nil) })
	case !p.accept():
		p.log.refused(p.now)
		state := p.state()
		if state == nil {
			state = &ratelimit.State{}
		}
		if p.RetryAfter > 0 {
			state.RetryAfter = ratelimit.In(p.RetryAfter)
		}
		p.After(min(answerTime, max(p.Latency, time.Millisecond)), func() { end(limit.Refused, state) })
	default:
		id := p.calls
		p.calls++
		p.inFlight[id] = func(o limit.Outcome) { end(o, nil) }
		p.After(p.Latency, func() {
			if _, is := p.inFlight[id]; is {
				delete(p.inFlight, id)
				p.log.serve(p.now)
				end(limit.Served, p.state())
			}
		})
	}
}

// accept takes a call from the limits, if they allow it.
func (p *provider) accept() bool {
	if p.now < p.requests.free() || p.now < p.tokens.free() {
		return false
	}
	p.requests.take(p.now)
	p.tokens.take(p.now)
	return true
}

// state returns what the headers of a response say; nil if there are none.
func (p *provider) state() *ratelimit.State {
	if !p.Headers {
		return nil
	}
	s := &ratelimit.State{}
	tell := func(w *window, resource, name string, limit, each int64) {
		if w.limit == 0 {
			return
		}
		left := w.remaining(p.now)
		s.Limited = s.Limited || left == 0
		s.Windows = append(s.Windows, ratelimit.Window{
			Name: resource + name, Resource: resource, Limit: ratelimit.Of(limit),
			Remaining: ratelimit.Of(left * each),
			ResetsIn:  ratelimit.In(max(time.Duration(w.free()-p.now), 0)),
		})
	}
	if whole := int64(p.RequestsPerSecond); whole%int64(backoff.One) == 0 {
		tell(&p.requests, "requests", "_per_second", whole/int64(backoff.One), 1)
	} else {
		tell(&p.requests, "requests", "_per_minute", whole*60/int64(backoff.One), 1)
	}
	tell(&p.tokens, "tokens", "_per_minute", p.TokensPerMinute, p.each)
	return s
}
