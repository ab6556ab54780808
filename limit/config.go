package limit

import (
	"errors"
	"fmt"
	"time"
)

// Window is a limit that is known beforehand. The limits that responses tell need not be given.
type Window struct {
	// Resource is what is counted: "requests" or "tokens", or "input_tokens" if tokens are counted on the way
	// in.
	Resource string `json:"resource"`
	// Limit is how many of them are allowed in each Period; both are more than 0.
	Limit  int64         `json:"limit"`
	Period time.Duration `json:"period_ns"`
}

// Config is what a limiter starts with. The zero value is a limiter that learns all it needs.
type Config struct {
	// Windows are known limits. None need be given.
	Windows []Window `json:"windows,omitempty"`
	// Concurrency is how many calls may be in flight at once. 0 means any number.
	Concurrency int64 `json:"concurrency,omitempty"`
	// Shared marks a limiter that spends the shares of another one, and decides no pace of its own.
	Shared bool `json:"shared,omitempty"`
	// Parts is how many limiters there are that know nothing of each other: each keeps to its part of all
	// limits. 0 means 1, this one.
	Parts int64 `json:"parts,omitempty"`
	// Start is the first pace, in calls a second, while nothing is known of the limits. 0 means 1.
	Start int64 `json:"start,omitempty"`
	// Ramp is the time in which the pace may double while the limit is unknown, and after an outage. 0 means
	// 500 ms.
	Ramp time.Duration `json:"ramp_ns,omitempty"`
	// MaxWaiting bounds how many calls wait; one more is refused. 0 means 1,000,000.
	MaxWaiting int `json:"max_waiting,omitempty"`
	// Hold is the time after which a call that was granted and not settled counts as lost. 0 means 10
	// minutes.
	Hold time.Duration `json:"hold_ns,omitempty"`
	// Lease bounds the time that one grant of several calls covers. 0 means 100 ms.
	Lease time.Duration `json:"lease_ns,omitempty"`
	// Ahead is how long before its time a grant may be given, so that it reaches another process. 0 means at
	// its time.
	Ahead time.Duration `json:"ahead_ns,omitempty"`
	// Head is how much longer a call seems to have waited for each step of its priority. 0 means 10 s.
	Head time.Duration `json:"head_ns,omitempty"`
	// Yield is how much a session's call goes back in the queue for each call that it made before, of which
	// ten count at most. So sessions that came late catch up, and all of a crowd end at about the same time.
	// 0 means 1 s.
	Yield time.Duration `json:"yield_ns,omitempty"`
	// Failures is how many calls in a row find the provider down before the breaker opens. 0 means 3.
	Failures int64 `json:"failures,omitempty"`
	// ProbeEvery is the time between probes while the breaker is open, and ProbeFor the time after which a
	// probe that was not settled is lost, and another one may be made. 0 means 1 s and 30 s.
	ProbeEvery time.Duration `json:"probe_every_ns,omitempty"`
	ProbeFor   time.Duration `json:"probe_for_ns,omitempty"`
	// RetryShare is how much of a retry one success pays for, in thousandths. 0 means 200.
	RetryShare int64 `json:"retry_share,omitempty"`
}

// New returns a limiter for one scope that nothing has used yet. It returns all faults of the config at once.
func New(c Config) (State, error) {
	if err := c.Validate(); err != nil {
		return State{}, err
	}
	c = c.filled()
	st := State{Config: c, Out: map[int64]Outstanding{}, Pace: c.Start * milli, Seeking: true, Budget: fullBudget, Usage: whole}
	for _, w := range c.Windows {
		st.Windows = append(st.Windows, Paced{Resource: w.Resource, Limit: w.Limit, Period: int64(w.Period)})
	}
	if top := st.ceiling(); top > 0 {
		st.Pace, st.Seeking = top, false
	}
	return st, nil
}

// filled returns the config with the defaults in place of zeros.
func (c Config) filled() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	count := func(n *int64, v int64) {
		if *n == 0 {
			*n = v
		}
	}
	or(&c.Ramp, 500*time.Millisecond)
	or(&c.Hold, 10*time.Minute)
	or(&c.Lease, 100*time.Millisecond)
	or(&c.Head, 10*time.Second)
	or(&c.Yield, time.Second)
	or(&c.ProbeEvery, time.Second)
	or(&c.ProbeFor, 30*time.Second)
	count(&c.Parts, 1)
	count(&c.Start, 1)
	count(&c.Failures, 3)
	count(&c.RetryShare, 200)
	if c.MaxWaiting == 0 {
		c.MaxWaiting = 1_000_000
	}
	return c
}

// The bounds of a config. They keep every product of the arithmetic within 64 bits, or 128 where it says so.
const (
	maxWindows = 8
	maxParts   = 1000
	maxRate    = 1_000_000
	maxTime    = 24 * time.Hour
)

// Validate reports every fault of the config, joined. It returns nil if there is none.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	for n, w := range c.Windows {
		if w.Limit < 1 || w.Limit > 1<<40 {
			fault("windows[%d].limit is %d; write 1 to 2^40", n, w.Limit)
		}
		if w.Period < time.Millisecond || w.Period > 31*24*time.Hour {
			fault("windows[%d].period is %v; write 1ms to 744h", n, w.Period)
		}
		if !counted(w.Resource) {
			fault("windows[%d].resource is %q; write requests, tokens or input_tokens", n, w.Resource)
		}
	}
	if len(c.Windows) > maxWindows {
		fault("there are %d windows; write at most %d", len(c.Windows), maxWindows)
	}
	if c.Start < 0 || c.Start > maxRate {
		fault("start is %d; write 1 to %d, or 0 for the default", c.Start, maxRate)
	}
	if c.Parts < 0 || c.Parts > maxParts {
		fault("parts is %d; write 1 to %d, or 0 for 1", c.Parts, maxParts)
	}
	for _, d := range []struct {
		name string
		v    time.Duration
	}{
		{"ramp", c.Ramp}, {"hold", c.Hold}, {"lease", c.Lease}, {"ahead", c.Ahead}, {"head", c.Head},
		{"yield", c.Yield}, {"probe_every", c.ProbeEvery}, {"probe_for", c.ProbeFor},
	} {
		if d.v < 0 || d.v > maxTime {
			fault("%s is %v; write 0s to %v", d.name, d.v, maxTime)
		}
	}
	for _, n := range []struct {
		name string
		v    int64
	}{
		{"concurrency", c.Concurrency}, {"max_waiting", int64(c.MaxWaiting)}, {"failures", c.Failures},
		{"retry_share", c.RetryShare},
	} {
		if n.v < 0 || n.v > 1<<31-1 {
			fault("%s is %d; write 0 to %d", n.name, n.v, 1<<31-1)
		}
	}
	return errors.Join(faults...)
}

// counted reports whether a call's estimate says how much of a resource it takes.
func counted(resource string) bool {
	return resource == "requests" || resource == "tokens" || resource == "input_tokens"
}
