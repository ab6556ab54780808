package limit

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fields"
)

// Window is a limit that is known beforehand. The limits that responses tell need not be given.
type Window struct {
	// Resource (resource) is what is counted: "requests" or "tokens", or "input_tokens" if tokens are counted
	// on the way in.
	Resource string `json:"resource" policy:"resource,words=requests|tokens|input_tokens"`
	// Limit (limit) is how many of them are allowed in each Period (period); both are more than 0.
	Limit  int64         `json:"limit" policy:"limit"`
	Period time.Duration `json:"period_ns" policy:"period"`
}

// Config is what a limiter starts with. The zero value is a limiter that learns all it needs.
type Config struct {
	// Windows (windows) are known limits. None need be given.
	Windows []Window `json:"windows,omitempty" policy:"windows"`
	// Concurrency (concurrency) is how many calls may be in flight at once. 0 means any number.
	Concurrency int64 `json:"concurrency,omitempty" policy:"concurrency,absent,least=1,most=2147483647"`
	// Parts (parts) is how many limiters there are that know nothing of each other: each keeps to its part of
	// all limits. 0 means 1, this one.
	Parts int64 `json:"parts,omitempty" policy:"parts,absent,least=1,most=1000"`
	// Start (start) is the first pace, in calls a second, while nothing is known of the limits. 0 means 1.
	Start int64 `json:"start,omitempty" policy:"start,absent,least=1,most=1000000"`
	// Open (open) lets all calls pass until one that failed before is refused, the provider is found down by
	// such calls, or a response tells a limit. Only then the pace begins, at Start.
	Open bool `json:"open,omitempty" policy:"open,absent"`
	// Ramp (ramp) is the time in which the pace may double while the limit is unknown, also after an outage.
	// 0 means 500 ms.
	Ramp time.Duration `json:"ramp_ns,omitempty" policy:"ramp,absent,most=24h"`
	// MaxWaiting (max_waiting) bounds how many calls wait; one more is refused. 0 means 1,000,000.
	MaxWaiting int `json:"max_waiting,omitempty" policy:"max_waiting,absent,least=1"`
	// Hold (hold) is the time after which a call that was granted and not settled counts as lost. 0 means 10
	// minutes.
	Hold time.Duration `json:"hold_ns,omitempty" policy:"hold,absent,most=24h"`
	// Yield (yield) is how much a session's call goes back in the queue for each call that it made before, of
	// which ten count at most. So sessions that came late catch up, and all of a crowd end at about the same
	// time. A call with a deadline goes back by a quarter of the time that it has, at most. A step of
	// priority is worth as much as ten such calls. 0 means 1 minute.
	Yield time.Duration `json:"yield_ns,omitempty" policy:"yield,absent,most=24h"`
	// Failures (failures) is how many calls in a row find the provider down before the breaker opens. 0 means
	// 3.
	Failures int64 `json:"failures,omitempty" policy:"failures,absent,least=1,most=2147483647"`
	// ProbeEvery (probe_every) is the time between probes while the breaker is open. 0 means 1 s. A probe
	// that was not settled within 30 s is lost, and another one may be made.
	ProbeEvery time.Duration `json:"probe_every_ns,omitempty" policy:"probe_every,absent,most=24h"`
	// GiveUp (give_up) is how long the breaker may be open before asks are denied. 0 means 1 h.
	GiveUp time.Duration `json:"give_up_ns,omitempty" policy:"give_up,absent,most=24h"`

	// Shared marks a limiter that spends the shares of another one, and decides no pace of its own.
	Shared bool `json:"shared,omitempty"`
}

// New returns a limiter for one scope that nothing has used yet. It returns all faults of the config at once.
func New(c Config) (State, error) {
	if err := c.Validate(); err != nil {
		return State{}, err
	}
	c = c.filled()
	st := State{Config: c, Out: map[int64]outstanding{}, Pace: c.Start * milli}
	st.Open, st.Seeking, st.Budget, st.Usage = c.Open, true, fullBudget, whole
	for _, w := range c.Windows {
		st.Windows = append(st.Windows, Paced{Resource: w.Resource, Limit: w.Limit, Period: int64(w.Period)})
	}
	if top := st.ceiling(); top > 0 {
		st.Open, st.Pace, st.Knee, st.Seeking = false, top, top, false
	}
	return st, nil
}

// Configure gives the limiter another config, by which it learns the limits anew. What waits, is out, and was
// granted of windows that stay is kept. The config that it has changes nothing. The error is that of [New].
func (st *State) Configure(c Config) error {
	anew, err := New(c)
	if err != nil || st.Config.equal(anew.Config) {
		return err
	}
	for n := range anew.Windows {
		w := &anew.Windows[n]
		same := func(old Paced) bool { return old.Resource == w.Resource && old.Period == w.Period }
		if k := slices.IndexFunc(st.Windows, same); k >= 0 {
			w.spending = st.Windows[k].spending
			w.Told = 0
		}
	}
	st.Config, st.Windows, st.Pace, st.Open = anew.Config, anew.Windows, anew.Pace, anew.Open
	st.Seeking, st.Knee, st.Headroom, st.Cut, st.Accepted, st.From = anew.Seeking, anew.Knee, 0, 0, 0, st.Now
	return nil
}

// equal reports whether two configs say the same.
func (c Config) equal(o Config) bool {
	windows := slices.Equal(c.Windows, o.Windows)
	c.Windows, o.Windows = nil, nil
	return windows && reflect.DeepEqual(c, o)
}

// filled returns the config with the defaults in place of zeros.
func (c Config) filled() Config {
	c.Parts, c.Start = cmp.Or(c.Parts, 1), cmp.Or(c.Start, 1)
	c.Ramp = cmp.Or(c.Ramp, 500*time.Millisecond)
	c.MaxWaiting = cmp.Or(c.MaxWaiting, 1_000_000)
	c.Hold = cmp.Or(c.Hold, 10*time.Minute)
	c.Yield = cmp.Or(c.Yield, time.Minute)
	c.Failures = cmp.Or(c.Failures, 3)
	c.ProbeEvery = cmp.Or(c.ProbeEvery, time.Second)
	c.GiveUp = cmp.Or(c.GiveUp, time.Hour)
	return c
}

// The bounds of a config, some of which its tags say, too. They keep every product of the arithmetic within
// 64 bits, or 128 where it says so.
const (
	maxWindows = 8
	maxParts   = 1000
	maxRate    = 1_000_000
	maxTime    = 24 * time.Hour
	maxPeriod  = 31 * maxTime
)

// Validate reports every fault of the config, each as a [*backoff.FieldError], joined. It returns nil if
// there is none.
func (c Config) Validate() error {
	f := fields.Collect()
	fields.Checks{}.Check(&c, f)
	for n, w := range c.Windows {
		at := f.At("windows").Item(n)
		if w.Limit < 1 || w.Limit > 1<<40 {
			at.At("limit").Add("%d is out of range; write 1 to %d", w.Limit, int64(1)<<40)
		}
		if w.Period < time.Millisecond || w.Period > maxPeriod {
			at.At("period").Add("%v is out of range; write 1ms to %v", w.Period, maxPeriod)
		}
		if w.Resource == "" {
			at.At("resource").Add("is missing; write requests, tokens or input_tokens")
		}
	}
	if len(c.Windows) > maxWindows {
		f.At("windows").Add("%d are too many; the most is %d", len(c.Windows), maxWindows)
	}
	return fields.Err[backoff.FieldError](f)
}

// counted reports whether a call's estimate says how much of a resource it takes.
func counted(resource string) bool {
	return resource == "requests" || resource == "tokens" || resource == "input_tokens"
}
