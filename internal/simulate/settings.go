package simulate

import (
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/fields"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/policy"
)

// Settings are a fleet and its provider, as a file says them.
type Settings struct {
	// Seed decides when sessions arrive, and the jitter of their retries.
	Seed int64 `policy:"seed"`
	// Processes share the sessions evenly.
	Processes int `policy:"processes,least=1,most=1000"`
	Sessions  int `policy:"sessions,least=1,most=100000"`
	// ArriveOver is the time over which the sessions arrive.
	ArriveOver      time.Duration `policy:"arrive_over,most=24h"`
	CallsPerSession int           `policy:"calls_per_session,least=1"`
	TokensPerCall   int           `policy:"tokens_per_call"`
	Provider        Provider      `policy:"provider"`
	// Limiter is what stands before the calls.
	Limiter string `policy:"limiter,words=none|fixed|aimd|retake"`
	// Policy is the name of a policy file; empty for the default policy.
	Policy string `policy:"policy"`
	// Transport is the policy of failed calls.
	Transport policy.RetryPolicy
	// Limit configures the limiter "retake", and MaxWait is the longest wait of a call for it; 0 means for
	// ever.
	Limit   limit.Config
	MaxWait time.Duration
}

// Provider is what the calls go to.
type Provider struct {
	// RequestsPerSecond may be a fraction. 0 means no limit, and so does 0 for TokensPerMinute; one of them
	// is needed.
	RequestsPerSecond backoff.Decimal `policy:"requests_per_second"`
	TokensPerMinute   int64           `policy:"tokens_per_minute,most=1099511627776"`
	// Latency is the time of a call that is served.
	Latency time.Duration `policy:"latency,most=24h"`
	// RetryAfter is what a refusal asks for. 0 means that it says nothing.
	RetryAfter time.Duration `policy:"retry_after,most=24h"`
	// Headers is whether responses tell the limits and what is left of them.
	Headers bool     `policy:"headers"`
	Outages []Outage `policy:"outages"`
}

// Outage is a time in which the provider serves nothing. At counts from the start.
type Outage struct {
	At  time.Duration `policy:"at,most=24h"`
	For time.Duration `policy:"for,positive,most=24h"`
}

// Default returns the settings of a file that says nothing of them.
func Default() Settings {
	return Settings{
		Processes: 1, TokensPerCall: 1000, Limiter: "retake",
		Provider:  Provider{Latency: time.Second, Headers: true},
		Transport: policy.Transport(),
	}
}

// Limiters returns the limiters that can be compared.
func Limiters() []string { return []string{"none", "fixed", "aimd", "retake"} }

// The bounds of a simulation.
const (
	maxCalls   = 1_000_000
	maxOutages = 100
	maxRate    = 100_000
	maxWindow  = 1000 // seconds that a call may wait for its tokens
)

// UnmarshalJSON reads settings over the defaults. The error joins all faults, each a [*policy.FieldError].
func (s *Settings) UnmarshalJSON(data []byte) error {
	read := Default()
	f := fields.Collect()
	fields.Read(data, &read, f)
	wrong := f.Found() > 0
	f.Besides(func(f fields.Faults) { read.check(f, wrong) })
	if err := fields.Err[policy.FieldError](f); err != nil {
		return err
	}
	*s = read
	return nil
}

// check notes what is wrong with the settings; wrong is whether something could not be read.
func (s *Settings) check(f fields.Faults, wrong bool) {
	fields.Checks{}.Check(s, f)
	if s.Sessions > 0 && s.CallsPerSession > maxCalls/s.Sessions {
		f.At("calls_per_session").Add("%d calls of each of %d sessions are too many; simulate at most %d in all",
			s.CallsPerSession, s.Sessions, maxCalls)
	}
	s.Provider.check(f.At("provider"), wrong)
	n, each := s.Provider.TokensPerMinute, int64(s.TokensPerCall)
	if n > 0 && s.Provider.RequestsPerSecond == 0 && (each == 0 || n/60/each >= maxRate) {
		f.At("tokens_per_call").Add("calls of %d tokens meet no limit; write more, or add requests_per_second",
			each)
	}
	if most := n * maxWindow / 60; n > 0 && each > most {
		f.At("tokens_per_call").Add("a call of %d tokens waits longer than %d s for tokens_per_minute; write at most %d", each, maxWindow, most)
	}
}

func (p *Provider) check(f fields.Faults, wrong bool) {
	if p.RequestsPerSecond == 0 && p.TokensPerMinute == 0 && !wrong {
		f.Add("it has no limit; add requests_per_second or tokens_per_minute")
	}
	const least = backoff.One / 1000
	if r := p.RequestsPerSecond; r > maxRate*backoff.One || r > 0 && r < least {
		f.At("requests_per_second").Add("%v is out of range; write 0.001 to %d", r, maxRate)
	}
	if len(p.Outages) > maxOutages {
		f.At("outages").Add("%d are too many; the most is %d", len(p.Outages), maxOutages)
	}
	for n, o := range p.Outages {
		if n > 0 && o.At < p.Outages[n-1].At+p.Outages[n-1].For {
			f.At("outages").Item(n).At("at").Add("it begins before the one before it has ended; write them in order, apart")
		}
	}
}
