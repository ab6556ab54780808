package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/policy/file"
)

var simulateCommand = command{
	name:    "simulate",
	summary: "plays a fleet of sessions against a provider with limits and outages",
	example: "retake simulate -compare fleet.yaml",
	usage:   []string{"simulate [-compare] [-svg OUT] [-json] FILE"},
	about: `
FILE is YAML or JSON:

  seed: 1                     # decides when sessions arrive, and the jitter of retries
  processes: 8
  sessions: 1000
  arrive_over: 10s
  calls_per_session: 10
  tokens_per_call: 1000
  provider:
    requests_per_second: 50   # may be a fraction
    tokens_per_minute: 6000000
    latency: 1s
    retry_after: 1s           # what a refusal asks for; 0s for nothing
    headers: true             # whether responses tell the limits
    outages: [{at: 30s, for: 60s}]
  limiter: retake             # none, fixed, aimd or retake
  policy: policy.yaml         # of failed calls, and the fleet; beside FILE; or preset:NAME

sessions, calls_per_session and a limit of the provider are needed. Without the others there are 1 process,
1000 tokens, a latency of 1s, headers, the limiter retake, and the default policy.

A provider allows its limits in any second, wherever it begins; where that is no whole number of calls, as
many whole ones, or one, in the time that these take. Refusals come back at once, and so do failures while
it is down; what was in flight then fails. The clock is not that of this machine: the same file always gives
the same result. Limiters: "none" makes every call at once, "fixed" is a token bucket in each process that
was told its part of the rate, "aimd" bounds the calls in flight of each process by additive increase and
multiplicative decrease, and "retake" is that of package limit, whose processes share it by leases. It is
told nothing but what the policy says under fleet.limit.

JSON: {"calls", "rejected", "rejected_share", "sessions_lost", "makespan_ms", "utilisation", "overshoot",
"calls_in_outage", "peak_rate_after_outage", "unfairness"}. "utilisation" is the calls served as a part of
what the limits allow from the first arrival to the last end, without outages. "overshoot" is by how many
calls the worst window was above the limit. "calls_in_outage" were in flight when one began, or made in it.
"peak_rate_after_outage" is the worst second after the first one, as a part of the limit; 0 without any.
"unfairness" is the longest time of a session as a multiple of the shortest one, among those that arrived in
the same tenth of arrive_over and were not lost; 0 if all were. With -compare each line is {"limiter",
"result"}.`,
	task: newTask[simulation],
}

type simulation struct {
	jsonAnswer
	Compare bool   `flag:"compare" help:"play all limiters, one after the other"`
	SVG     string `flag:"svg OUT" help:"also draw what the provider saw each second, into the file OUT"`
	file    string
}

func (s *simulation) take(args []string) error {
	if len(args) != 1 {
		return misused("give one file with a fleet and its provider")
	}
	s.file = args[0]
	return nil
}

func (s *simulation) run(e *env) error {
	settings, err := s.read()
	if err != nil {
		return err
	}
	limiters := []string{settings.Limiter}
	if s.Compare {
		limiters = simulate.Limiters()
	}
	var all []simulate.Played
	for _, settings.Limiter = range limiters {
		result, err := simulate.Run(settings)
		if err != nil {
			return err
		}
		all = append(all, simulate.Played{Limiter: settings.Limiter, Result: result})
	}
	if s.SVG != "" {
		if isSame(s.SVG, s.file) {
			return misused("-svg: %s is the file with the fleet: give another", s.SVG)
		}
		if err := os.WriteFile(s.SVG, []byte(simulate.Plot(all)), 0o644); err != nil {
			return misused("-svg: %w: give a file that can be written", err)
		}
	}
	switch {
	case !s.JSON:
		e.print(simulate.Table(all))
	case s.Compare:
		for _, one := range all {
			err = errors.Join(err, e.json(one))
		}
	default:
		err = e.json(all[0].Result)
	}
	return err
}

// read reads the file, and the policy that it names.
func (s *simulation) read() (settings simulate.Settings, err error) {
	data, err := readPlaced("FILE", s.file)
	if err != nil {
		return settings, err
	}
	if err := file.ReadOther(s.file, data, &settings); err != nil {
		return settings, err
	}
	name := settings.Policy
	if name == "" {
		return settings, nil
	}
	if !strings.HasPrefix(name, presetPrefix) && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(s.file), name)
	}
	from, err := readPolicy("policy", name)
	if err != nil {
		return settings, fmt.Errorf("%s: %w", s.file, err)
	}
	settings.Transport = from.set.Policy(policy.Target{Plane: fault.Transport})
	settings.Limit, settings.MaxWait = from.fleet.Limit, from.fleet.MaxWait
	return settings, nil
}
