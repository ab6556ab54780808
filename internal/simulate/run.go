package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// run is one simulation.
type run struct {
	*Clock
	Settings
	*log
	provider *provider
	sessions []*session
	asks     int64
}

// maxArrived bounds the calls of a simulation, with all attempts.
const maxArrived = 10_000_000

// Run plays a fleet. The settings must be valid.
func Run(s Settings) (Result, error) {
	r := newRun(s)
	processes, err := r.limiters()
	if err != nil {
		return Result{}, err
	}
	return r.play(processes)
}

// RunWith plays a fleet with another limiter than that of the settings. It is made once for each process.
func RunWith(s Settings, limiter func(*Clock) Limiter) (Result, error) {
	r := newRun(s)
	processes := make([]Limiter, s.Processes)
	for n := range processes {
		processes[n] = limiter(r.Clock)
	}
	return r.play(processes)
}

func newRun(s Settings) *run {
	r := &run{Clock: &Clock{}, Settings: s, log: &log{}}
	r.provider = newProvider(r.Clock, &r.Settings, r.log)
	return r
}

// play plays the fleet with the limiters of its processes.
func (r *run) play(processes []Limiter) (Result, error) {
	s := &r.Settings
	r.sessions = make([]*session, s.Sessions)
	draw := source(s.Seed)
	for n := range r.sessions {
		r.sessions[n] = &session{run: r, arrived: draw.below(int64(s.ArriveOver) + 1)}
	}
	slices.SortStableFunc(r.sessions, func(a, b *session) int { return cmp.Compare(a.arrived, b.arrived) })
	for n, one := range r.sessions {
		one.no, one.process = n, processes[n%len(processes)]
		r.at(one.arrived, one.arrive)
	}
	if r.Clock.run(); r.stopped {
		return Result{}, fmt.Errorf("the fleet makes more than %d calls: give it fewer sessions, or a policy "+
			"with fewer attempts", maxArrived)
	}
	return r.result(), nil
}

// limiters returns the limiters of the processes.
func (r *run) limiters() ([]Limiter, error) {
	all := make([]Limiter, r.Processes)
	var top *machine
	var err error
	config := r.Limit
	if r.Limiter == "retake" {
		if top, err = newMachine(r.Clock, config, nil, &r.asks); err != nil {
			return nil, err
		}
		config.Shared = true
	}
	for n := range all {
		switch {
		case r.Limiter == "none":
			all[n] = none{}
		case r.Limiter == "fixed":
			all[n] = &fixed{Clock: r.Clock, gap: int64(time.Second) * 1_000_000 * int64(r.Processes) / max(r.provider.rate, 1)}
		case r.Limiter == "aimd":
			all[n] = &aimd{Clock: r.Clock, window: 1000}
		case r.Processes == 1:
			top.most = r.MaxWait
			all[n] = top
		default:
			own, err := newMachine(r.Clock, config, top, &r.asks)
			if err != nil {
				return nil, err
			}
			own.most = r.MaxWait
			all[n] = own
		}
	}
	return all, nil
}

// source draws numbers from a seed: splitmix64.
type source uint64

func (s *source) below(n int64) int64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int64((z ^ z>>31) % uint64(n))
}
