package simulate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/simulate"
)

// fleet is a thousand sessions in eight processes against 50 requests a second.
func fleet() simulate.Settings {
	s := simulate.Default()
	s.Seed, s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 1, 8, 1000, 10, 10*time.Second
	s.Provider.RequestsPerSecond, s.Provider.TokensPerMinute = 50*backoff.One, 6_000_000
	s.Provider.RetryAfter = time.Second
	return s
}

func run(t *testing.T, s simulate.Settings) simulate.Result {
	t.Helper()
	r, err := simulate.Run(s)
	require.NoError(t, err)
	return r
}

// lease is the most calls that one lease has.
func lease(s simulate.Settings) int64 {
	return max(int64(s.Provider.RequestsPerSecond/backoff.One)/10, 1)
}

func TestAFleetThatSharesOneBrake(t *testing.T) {
	for _, calls := range []int{5, 10, 20} {
		for _, over := range []time.Duration{0, 10 * time.Second, 20 * time.Second} {
			if testing.Short() && over != 10*time.Second {
				continue
			}
			s := fleet()
			s.CallsPerSession, s.ArriveOver = calls, over
			t.Run(fmt.Sprintf("%d calls, arriving over %v", calls, over), func(t *testing.T) {
				r := run(t, s)
				assert.GreaterOrEqual(t, r.Utilisation, 0.95)
				assert.LessOrEqual(t, r.RejectedShare, 0.02)
				assert.Equal(t, int64(0), r.SessionsLost)
				assert.LessOrEqual(t, r.Overshoot, lease(s))
				assert.LessOrEqual(t, r.Unfairness, 1.5)
			})
		}
	}
}

func TestTokensAreTheTighterLimit(t *testing.T) {
	s := fleet()
	s.Provider.RequestsPerSecond, s.Provider.TokensPerMinute = 500*backoff.One, 3_000_000
	r := run(t, s)
	assert.GreaterOrEqual(t, r.Utilisation, 0.95)
	assert.LessOrEqual(t, r.RejectedShare, 0.02)
	assert.LessOrEqual(t, r.Overshoot, int64(5))
}

func TestAProviderThatIsDownGetsProbesAlone(t *testing.T) {
	for _, headers := range []bool{true, false} {
		s := fleet()
		s.Provider.Headers = headers
		s.Provider.Outages = []simulate.Outage{{At: 30 * time.Second, For: time.Minute}}
		r := run(t, s)
		assert.Equal(t, int64(0), r.SessionsLost)
		assert.LessOrEqual(t, r.CallsInOutage, int64(50+5+61), "in flight, one lease, a probe a second")
		if headers {
			assert.LessOrEqual(t, r.PeakRateAfterOutage, 1.0)
			back := r.Seconds[94]
			assert.GreaterOrEqual(t, back.Served, int64(45), "90 %% of the rate in the fifth second")
		} else {
			assert.LessOrEqual(t, r.PeakRateAfterOutage, 1.1, "it looks for the limit")
		}
		for n, second := range r.Seconds[31:90] {
			assert.LessOrEqual(t, second.Down, int64(2), "second %d", 31+n)
		}
	}
}

// Probes say nothing of the limit, so the pace does not rise by them.
func TestAfterAnOutageAtTheStartThereIsNoSpike(t *testing.T) {
	s := fleet()
	s.CallsPerSession, s.Provider.Headers = 1, false
	s.Provider.RequestsPerSecond, s.Provider.Latency = 10*backoff.One, 2*time.Second
	s.Provider.Outages = []simulate.Outage{{At: 0, For: 10 * time.Second}}
	r := run(t, s)
	assert.LessOrEqual(t, r.PeakRateAfterOutage, 1.5)
	assert.LessOrEqual(t, r.RejectedShare, 0.05)
}

// An outage before the limit was found is no reason to believe that it is as low as the pace was then.
func TestAnOutageAtTheStartHidesNoLimit(t *testing.T) {
	for _, at := range []time.Duration{0, time.Second, 3 * time.Second} {
		s := fleet()
		s.Provider.Headers = false
		s.Provider.Outages = []simulate.Outage{{At: at, For: time.Minute}}
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Utilisation, 0.8, "%v", at)
		assert.LessOrEqual(t, r.RejectedShare, 0.05, "%v", at)
		assert.Equal(t, int64(0), r.SessionsLost, "%v", at)
	}
}

func TestWithoutHeadersTheLimitIsFound(t *testing.T) {
	for _, rate := range []backoff.Decimal{2, 5, 50, 200} {
		s := fleet()
		s.Sessions, s.Provider.RequestsPerSecond, s.Provider.TokensPerMinute = 300, rate*backoff.One, 0
		s.CallsPerSession = max(int(rate)*40/100, 2)
		s.Provider.Headers = false
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Utilisation, 0.8, "%v", rate)
		assert.LessOrEqual(t, r.RejectedShare, 0.05, "%v", rate)
		assert.Equal(t, int64(0), r.SessionsLost, "%v", rate)
	}
}

// The pace doubles until a call is refused: what is lent and in flight by then is one lease at most.
func TestTheSearchForALimitGoesALeaseBeyondIt(t *testing.T) {
	for _, processes := range []int{1, 8} {
		for _, rate := range []backoff.Decimal{1, 2, 5, 20, 50, 200} {
			s := fleet()
			s.Processes, s.Provider.RequestsPerSecond, s.Provider.TokensPerMinute = processes, rate*backoff.One, 0
			s.Sessions, s.CallsPerSession = 300, max(int(rate)/5, 1)
			s.Provider.Headers = false
			assert.LessOrEqual(t, run(t, s).Overshoot, lease(s), "%d processes, %d a second", processes, int(rate))
		}
	}
}

// Sessions that come while a queue grows for minutes fare alike, too.
func TestACrowdThatArrivesOverMinutesIsServedAlike(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 4, 879, 4, time.Minute
	s.Provider.RequestsPerSecond, s.Provider.Latency = 8*backoff.One, 350*time.Millisecond
	assert.LessOrEqual(t, run(t, s).Unfairness, 1.5)
}

// crowd is a random fleet in which each session makes several calls, and all arrive in at most half of the
// time that they need, which is a minute or more.
func crowd(random *rand.Rand) simulate.Settings {
	for {
		s := simulate.Default()
		s.Seed, s.Processes, s.Sessions = random.Int64N(1000), 1+random.IntN(8), 50+random.IntN(750)
		s.CallsPerSession, s.TokensPerCall = 2+random.IntN(9), 300
		s.ArriveOver = time.Duration(random.IntN(120)) * time.Second
		rate := 2 + random.IntN(40)
		s.Provider.RequestsPerSecond, s.Provider.RetryAfter = backoff.Decimal(rate)*backoff.One, time.Second
		s.Provider.Latency = time.Duration(300+random.IntN(2500)) * time.Millisecond
		calls := s.Sessions * s.CallsPerSession
		need := time.Duration(calls/rate) * time.Second
		if calls <= 4000 && need >= max(time.Minute, 2*s.ArriveOver) {
			return s
		}
	}
}

// What a session yields makes most crowds fare alike. Without -short it also says how many do with less.
func TestMostCrowdsFareAlike(t *testing.T) {
	crowds, yields := 60, []time.Duration{0, 10 * time.Second, time.Second, 1}
	if testing.Short() {
		crowds, yields = 10, yields[:1]
	}
	for _, yield := range yields {
		random, unfair := rand.New(rand.NewPCG(1, 1)), 0
		for range crowds {
			s := crowd(random)
			s.Limit.Yield = yield
			if run(t, s).Unfairness > 1.5 {
				unfair++
			}
		}
		t.Logf("yield %v (0s is the default): %d of %d crowds differ by more than 1.5", yield, unfair, crowds)
		if yield == 0 {
			assert.LessOrEqual(t, unfair, crowds/20)
		}
	}
}

// Those that wait at most so long are lost to a crowd only if it takes longer than that anyway.
func TestSessionsWithABoundOnWaitingAreNotLostToThoseThatComeLate(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 4, 600, 8, 100*time.Second
	s.Provider.RequestsPerSecond, s.MaxWait = 30*backoff.One, 25*time.Second
	assert.Zero(t, run(t, s).SessionsLost)
}

// A session alone is as fast as its provider, whether that tells its limits or not.
func TestASessionAloneIsNotSlowed(t *testing.T) {
	for _, headers := range []bool{true, false} {
		for _, processes := range []int{1, 8} {
			s := fleet()
			s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = processes, 1, 100, 0
			s.Provider.Headers, s.Provider.Latency = headers, 100*time.Millisecond
			r := run(t, s)
			assert.LessOrEqual(t, r.Makespan, int64(10_000+100*4), "%v %v: a call takes 100 ms, and 4 ms for the store", headers, processes)
			assert.Zero(t, r.Rejected)
		}
	}
}

// Large calls wait for the window, and none is refused.
func TestLargeCallsOfASessionAlone(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver, s.TokensPerCall = 1, 1, 5, 0, 20_000
	s.Provider = simulate.Provider{TokensPerMinute: 100_000, Latency: 2 * time.Second, Headers: true}
	r := run(t, s)
	assert.Zero(t, r.Rejected)
	assert.GreaterOrEqual(t, r.Utilisation, 0.98)
}

func TestWithoutALimiterSessionsAreLost(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 1, 50, 1, 0
	s.Provider = simulate.Provider{RequestsPerSecond: 5 * backoff.One, Latency: time.Second, Headers: true}
	s.Limiter = "none"
	r := run(t, s)
	assert.Greater(t, r.RejectedShare, 0.7)
	assert.Greater(t, r.SessionsLost, int64(15))
	s.Limiter = "retake"
	r = run(t, s)
	assert.Equal(t, int64(0), r.SessionsLost)
	assert.LessOrEqual(t, r.RejectedShare, 0.02)
}

func TestTheSameSettingsGiveTheSameResult(t *testing.T) {
	s := fleet()
	s.Sessions = 100
	for _, s.Limiter = range simulate.Limiters() {
		assert.Equal(t, run(t, s), run(t, s), s.Limiter)
	}
}

func TestOneCallAloneTakesItsTime(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession = 1, 1, 1
	for _, s.Limiter = range simulate.Limiters() {
		r := run(t, s)
		assert.Equal(t, int64(1000), r.Makespan, s.Limiter)
		assert.Equal(t, int64(1), r.Calls)
		assert.InDelta(t, 0.02, r.Utilisation, 0.0001)
		assert.InDelta(t, 1, r.Unfairness, 0.0001)
	}
}

// Whatever the settings are, all calls are accounted for, and all numbers are such as they can be.
func TestNumbersThatCanBe(t *testing.T) {
	seconds := func(t *rapid.T, most int, name string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, name)) * time.Second / 2
	}
	rapid.Check(t, func(t *rapid.T) {
		s := simulate.Default()
		s.Limiter = rapid.SampledFrom(simulate.Limiters()).Draw(t, "limiter")
		s.Processes, s.Sessions = rapid.IntRange(1, 9).Draw(t, "processes"), rapid.IntRange(1, 40).Draw(t, "sessions")
		s.CallsPerSession, s.TokensPerCall = rapid.IntRange(1, 5).Draw(t, "calls"), rapid.IntRange(1, 20_000).Draw(t, "tokens")
		s.ArriveOver = seconds(t, 60, "arrive_over")
		s.Provider = simulate.Provider{
			RequestsPerSecond: backoff.Decimal(rapid.IntRange(1, 50_000).Draw(t, "rate")) * backoff.One / 1000,
			TokensPerMinute:   rapid.Int64Range(60_000, 1_000_000).Draw(t, "tokens_per_minute"),
			Latency:           seconds(t, 20, "latency"), RetryAfter: seconds(t, 5, "retry_after"), Headers: rapid.Bool().Draw(t, "headers"),
		}
		for at := time.Duration(0); len(s.Provider.Outages) < 2 && rapid.Bool().Draw(t, "outage"); {
			o := simulate.Outage{At: at + seconds(t, 60, "at"), For: time.Second + seconds(t, 60, "for")}
			s.Provider.Outages, at = append(s.Provider.Outages, o), o.At+o.For
		}
		r, err := simulate.Run(s)
		require.NoError(t, err)
		served := int64(0)
		for _, second := range r.Seconds {
			served += second.Served
		}
		assert.LessOrEqual(t, served, int64(s.Sessions*s.CallsPerSession))
		if r.SessionsLost == 0 {
			assert.Equal(t, int64(s.Sessions*s.CallsPerSession), served)
		}
		assert.Equal(t, r.Calls, served+r.Rejected+r.CallsInOutage, "each call is served, refused, or met an outage")
		for _, part := range []float64{r.RejectedShare, r.Utilisation} {
			assert.True(t, part >= 0 && part <= 1, "%v", part)
		}
		assert.True(t, r.Unfairness >= 1 || r.Unfairness == 0 && r.SessionsLost > 0 || r.Unfairness == 0 && s.Provider.Latency == 0, "%v", r.Unfairness)
		assert.True(t, r.PeakRateAfterOutage >= 0 && r.PeakRateAfterOutage < 1000, "%v", r.PeakRateAfterOutage)
		assert.GreaterOrEqual(t, r.Overshoot, int64(0))
	})
}

// A limit that is no whole number of calls a second lets no minutes' worth of calls through at once.
func TestALimitIsOneOfAMomentWhateverTheSizeOfACall(t *testing.T) {
	for tokens, most := range map[int]int64{60_000: 2, 4973: 4, 1_100_000: 1} {
		s := fleet()
		s.Limiter, s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = "none", 1, 500, 1, 0
		s.TokensPerCall, s.Provider.TokensPerMinute = tokens, 947_751
		s.Provider.RequestsPerSecond = 0
		assert.LessOrEqual(t, run(t, s).Seconds[1].Served, most, "calls of %d tokens", tokens)
	}
}

// A call that no window can ever hold is a fault of the file.
func TestACallThatNeverFits(t *testing.T) {
	var s simulate.Settings
	const text = `{"sessions": 1, "calls_per_session": 1, "tokens_per_call": %d, "provider": {"tokens_per_minute": 60}}`
	require.ErrorContains(t, s.UnmarshalJSON(fmt.Appendf(nil, text, 1001)), "tokens_per_call: a call of 1001 tokens waits longer than 1000 s")
	require.NoError(t, s.UnmarshalJSON(fmt.Appendf(nil, text, 1000)))
	r := run(t, s)
	assert.Equal(t, int64(1), r.Calls)
}

func TestFaultsOfSettings(t *testing.T) {
	var s simulate.Settings
	err := s.UnmarshalJSON([]byte(`{"sessions": 0, "processes": 5000, "limiter": "brake", "arive_over": "1s",
		"provider": {"requests_per_second": 0.0001, "outages": [{"at": "10s", "for": "5s"}, {"at": "12s", "for": "0s"}]}}`))
	require.Error(t, err)
	for _, part := range []string{
		"sessions: 0 is too few", "calls_per_session: 0 is too few", "processes: 5000 is too large", "limiter: ", "arive_over: this key is not known",
		"provider.requests_per_second: ", "provider.outages[1].at: ", "provider.outages[1].for: ",
	} {
		assert.ErrorContains(t, err, part)
	}
	require.Error(t, s.UnmarshalJSON([]byte(`{"sessions": 1, "calls_per_session": 1}`)), "no provider")
}

// A fleet that waits at most so long loses the sessions that would wait longer, instead of letting them wait.
func TestSessionsThatWaitForLongerThanTheFleetAllowsAreLost(t *testing.T) {
	for _, processes := range []int{1, 8} {
		s := fleet()
		s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = processes, 400, 1, 0
		patient := run(t, s)
		assert.Zero(t, patient.SessionsLost)
		s.MaxWait = time.Duration(patient.Makespan) * time.Millisecond / 4
		r := run(t, s)
		assert.Greater(t, r.SessionsLost, int64(200))
		assert.Less(t, r.SessionsLost, int64(390))
		assert.Less(t, r.Makespan, patient.Makespan/2)
	}
}

// A provider that is down for longer than the limiter has patience: the sessions are lost, and said to be.
func TestSessionsThatTheLimiterGivesUpAreLost(t *testing.T) {
	for _, processes := range []int{1, 8} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			s := fleet()
			s.Processes, s.Sessions, s.Limit.GiveUp = processes, 80, 10*time.Minute
			s.Provider.Outages = []simulate.Outage{{At: 0, For: 2 * time.Hour}}
			r := run(t, s)
			assert.Equal(t, int64(80), r.SessionsLost)
			assert.InDelta(t, 600_000, r.Makespan, 20_000)
			assert.LessOrEqual(t, r.CallsInOutage, int64(700), "a probe a second, until it gives up")
		})
	}
}

// An open limiter lends all that is asked for, to be called at once.
func TestAnOpenLimiterIsOpenInAllProcesses(t *testing.T) {
	for _, processes := range []int{1, 8} {
		s := fleet()
		s.Processes, s.Limit.Open, s.ArriveOver = processes, true, 0
		s.Provider.RequestsPerSecond, s.Provider.TokensPerMinute = 5000*backoff.One, 0
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Seconds[0].Served+r.Seconds[1].Served, int64(1000))
	}
}
