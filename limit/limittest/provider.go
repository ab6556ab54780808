package limittest

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// rateOfProvider is the calls that the provider of a fleet serves in any second.
const rateOfProvider = 100

// provider serves so many calls in any second, wherever it begins, refuses others at once, and tells its
// limit with each response.
type provider struct {
	mu              sync.Mutex
	arrived, served []time.Time
	refused         []time.Time
}

// ServeHTTP implements [http.Handler].
func (p *provider) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.arrived = append(p.arrived, now)
	left := rateOfProvider - p.lastSecond(now)
	w.Header().Set("X-Ratelimit-Limit-Requests-Second", strconv.Itoa(rateOfProvider))
	w.Header().Set("X-Ratelimit-Remaining-Requests-Second", strconv.Itoa(max(left-1, 0)))
	if left > 0 {
		p.served = append(p.served, now)
		return
	}
	p.refused = append(p.refused, now)
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusTooManyRequests)
}

// lastSecond returns how many calls were served in the last second.
func (p *provider) lastSecond(now time.Time) (n int) {
	for n < len(p.served) && now.Sub(p.served[len(p.served)-1-n]) < time.Second {
		n++
	}
	return n
}

// overshoot returns by how many calls the worst second was above the limit.
func (p *provider) overshoot() (most int) {
	first := 0
	for n, at := range p.arrived {
		for at.Sub(p.arrived[first]) >= time.Second {
			first++
		}
		most = max(most, n-first+1-rateOfProvider)
	}
	return most
}

// utilisation returns the calls served as a part of what the limit allows from the first call to the last.
func (p *provider) utilisation() float64 {
	span := p.arrived[len(p.arrived)-1].Sub(p.arrived[0])
	return float64(len(p.served)) / (span.Seconds()*rateOfProvider + 1)
}

// refusedOutside counts the refusals that are not between the two times.
func (p *provider) refusedOutside(from, to time.Time) (n int) {
	for _, at := range p.refused {
		if at.Before(from) || at.After(to) {
			n++
		}
	}
	return n
}
