package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retake-go/retake/limit"
)

// run is one simulation.
type run struct {
	*clock
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
	r := &run{clock: &clock{}, Settings: s, log: &log{}}
	r.provider = newProvider(r.clock, &r.Settings, r.log)
	processes, err := r.limiters()
	if err != nil {
		return Result{}, err
	}
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
	if r.clock.run(); r.stopped {
		return Result{}, fmt.Errorf("the fleet makes more than %d calls: give it fewer sessions, or a policy with fewer attempts", maxArrived)
	}
	return r.result(), nil
}

// limiters are the limiters of the processes.
func (r *run) limiters() ([]limiter, error) {
	all := make([]limiter, r.Processes)
	var top *machine
	var err error
	config := limit.Config{}
	if r.Limiter == "retake" {
		if r.Processes > 1 {
			config.Ahead = 50 * time.Millisecond
		}
		if top, err = newMachine(r.clock, config, nil, &r.asks); err != nil {
			return nil, err
		}
		config.Shared = true
	}
	for n := range all {
		switch {
		case r.Limiter == "none":
			all[n] = none{}
		case r.Limiter == "fixed":
			all[n] = &fixed{clock: r.clock, gap: int64(time.Second) * 1_000_000 * int64(r.Processes) / max(r.provider.rate, 1)}
		case r.Limiter == "aimd":
			all[n] = &aimd{clock: r.clock, window: 1000}
		case r.Processes == 1:
			all[n] = top
		default:
			if all[n], err = newMachine(r.clock, config, top, &r.asks); err != nil {
				return nil, err
			}
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
