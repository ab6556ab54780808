package simulate_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/internal/simulate"
)

// between draws a number, with the same chance for each order of magnitude.
func between(random *rand.Rand, least, most float64) float64 {
	return least * math.Exp(random.Float64()*math.Log(most/least))
}

func seconds(n float64) time.Duration { return time.Duration(n*1000) * time.Millisecond }

// anyFleet is a random fleet that asks for more than its provider serves, for one to seven minutes.
func anyFleet(random *rand.Rand) simulate.Settings {
	for {
		s := simulate.Default()
		rate, latency := math.Round(between(random, 1, 200)), between(random, 0.2, 5)
		need := between(random, 60, 400)
		s.Seed, s.Processes, s.Sessions = random.Int64N(1000), 1+random.IntN(16), int(between(random, 50, 1000))
		s.CallsPerSession = int(rate * need / float64(s.Sessions))
		s.ArriveOver = seconds(min(need/4, 30*random.Float64()))
		s.Provider.RequestsPerSecond, s.Provider.Latency = backoff.Decimal(rate)*backoff.One, seconds(latency)
		s.Provider.RetryAfter = time.Duration(random.IntN(6)) * time.Second
		s.Provider.TokensPerMinute = int64(random.IntN(2)) * int64(rate*between(random, 1, 4)*60*1000)
		if random.IntN(2) == 0 {
			s.Provider.Outages = []simulate.Outage{{At: seconds(need * random.Float64() / 2), For: seconds(between(random, 10, 120))}}
		}
		if s.CallsPerSession >= 3 && s.CallsPerSession <= 60 && float64(s.Sessions) > 3*rate*latency && rate*need < 20_000 {
			return s
		}
	}
}

// Fleets of any numbers keep to the aims. What a long call costs at the start and after an outage is left out
// of the utilisation: nothing is known of the provider before the first answer.
func TestRandomFleetsKeepToTheAims(t *testing.T) {
	fleets := 60
	if testing.Short() {
		fleets = 12
	}
	for _, headers := range []bool{true, false} {
		aim, refused := 0.95, 0.02
		if !headers {
			aim, refused = 0.80, 0.05
		}
		random, above := rand.New(rand.NewPCG(31, 1)), 0
		for range fleets {
			s := anyFleet(random)
			s.Provider.Headers = headers
			r := run(t, s)
			lost := s.Provider.Latency
			for range s.Provider.Outages {
				lost += 2*s.Provider.Latency + 2*time.Second
			}
			share := lost.Seconds() * 1000 / float64(r.Makespan)
			assert.GreaterOrEqual(t, r.Utilisation, aim*(1-2*share), "%+v", s.Provider)
			assert.LessOrEqual(t, r.RejectedShare, refused, "%+v", s.Provider)
			assert.Zero(t, r.SessionsLost, "%+v", s.Provider)
			most := 1.0
			if !headers {
				most = max(1.1, float64(s.Provider.RequestsPerSecond+backoff.One)/float64(s.Provider.RequestsPerSecond))
			}
			assert.LessOrEqual(t, r.PeakRateAfterOutage, most+0.001, "%+v", s.Provider)
			if r.Overshoot > lease(s) {
				above++
			}
		}
		t.Logf("headers %v: %d of %d fleets go more than a lease beyond the limit", headers, above, fleets)
		assert.LessOrEqual(t, above, fleets/10)
	}
}

// A provider that serves few calls and tells nothing: one refusal too many does not slow the fleet for
// minutes.
func TestASlowProviderThatTellsNothingIsUsed(t *testing.T) {
	for rate := int64(1); rate <= 4; rate++ {
		s := fleet()
		s.Sessions, s.CallsPerSession, s.ArriveOver = 70, 5*int(rate), time.Second
		s.Provider = simulate.Provider{
			RequestsPerSecond: 5 * backoff.One, TokensPerMinute: rate * 64_000,
			Latency: 232 * time.Millisecond, RetryAfter: time.Second,
		}
		assert.GreaterOrEqual(t, run(t, s).Utilisation, 0.8, "%d a second", rate)
	}
}

// The search for a limit ends with a whole number of calls a second, which is a large part of a small limit.
func TestALimitBetweenTwoWholeNumbersIsFound(t *testing.T) {
	for tenths := int64(12); tenths <= 28; tenths += 4 {
		s := fleet()
		s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 1, 10*int(tenths), 1, 0
		s.Provider = simulate.Provider{
			RequestsPerSecond: backoff.Decimal(tenths) * backoff.One / 10, Latency: 150 * time.Millisecond, RetryAfter: time.Second,
		}
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Utilisation, 0.8, "%d tenths a second", tenths)
		assert.LessOrEqual(t, r.RejectedShare, 0.05, "%d tenths a second", tenths)
	}
}

// A refusal holds calls until the window that it tells has room, not for as long as it asks the caller to
// wait.
func TestARefusalThatTellsItsWindowHoldsCallsNoLonger(t *testing.T) {
	s := fleet()
	s.Sessions, s.CallsPerSession, s.ArriveOver = 300, 3, 0
	s.Provider = simulate.Provider{RequestsPerSecond: 5 * backoff.One, Latency: 3700 * time.Millisecond, RetryAfter: 5 * time.Second, Headers: true}
	assert.GreaterOrEqual(t, run(t, s).Utilisation, 0.95)
}

// Where the pace needs as long to meet the limit again as a refusal asks to wait, a call that was refused
// comes back each time that it is met. Others meet it then.
func TestNoCallMeetsTheLimitAgainAndAgain(t *testing.T) {
	s := fleet()
	s.Seed, s.Sessions, s.CallsPerSession = 62399, 665, 7
	s.Provider = simulate.Provider{
		RequestsPerSecond: 13 * backoff.One, TokensPerMinute: 1_354_000,
		Latency: 318 * time.Millisecond, RetryAfter: 5 * time.Second,
	}
	for n := range 10 {
		s.Provider.Latency += time.Duration(n) * time.Millisecond
		assert.Zero(t, run(t, s).SessionsLost, "%v", s.Provider.Latency)
	}
}

// A refusal comes back at once, and an answer seconds later. Calls that are out for longer than a refusal
// takes were taken, so refusals in a row do not yet say that a window is used up.
func TestRefusalsThatComeBackBeforeAnswersLeaveTheLimitUsed(t *testing.T) {
	for _, c := range []struct {
		tenths          int64
		latency         time.Duration
		sessions, calls int
	}{
		{8, 4 * time.Second, 20, 5}, {13, 4430 * time.Millisecond, 36, 10}, {30, 4 * time.Second, 475, 1},
		{80, 30 * time.Second, 400, 80},
	} {
		s := fleet()
		s.Sessions, s.CallsPerSession, s.ArriveOver = c.sessions, c.calls, time.Second
		s.Provider = simulate.Provider{
			RequestsPerSecond: backoff.Decimal(c.tenths) * backoff.One / 10, Latency: c.latency, RetryAfter: time.Second,
		}
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Utilisation, 0.8, "%+v", c)
		assert.Zero(t, r.SessionsLost, "%+v", c)
	}
}

// The pace that was kept without a refusal before an outage is the one to come back to.
func TestAfterAnOutageASilentProviderIsUsedAsBefore(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 4, 305, 1, 0
	s.Provider = simulate.Provider{
		RequestsPerSecond: 17 * backoff.One / 10, Latency: 105 * time.Millisecond, RetryAfter: 5 * time.Second,
		Outages: []simulate.Outage{{At: 3381 * time.Millisecond, For: 14 * time.Second}, {At: 50 * time.Second, For: 5 * time.Second}},
	}
	assert.GreaterOrEqual(t, run(t, s).Utilisation, 0.8)
}

// A limit of less than a call a second is found, too, whatever refusals ask for: the pace falls fast while no
// call is served, and then rises slowly.
func TestALimitOfAFewCallsAMinuteIsFound(t *testing.T) {
	for _, perMinute := range []int64{3, 5, 6, 10, 12, 18, 24, 30, 36, 42, 48, 54} {
		for _, after := range []time.Duration{0, time.Second, 20 * time.Second, time.Minute} {
			for _, sessions := range []int{10, 100} {
				s := fleet()
				s.Processes, s.Sessions, s.CallsPerSession, s.TokensPerCall = 4, sessions, 100/sessions, 4000
				s.ArriveOver = time.Duration(sessions%4) * 5 * time.Second
				s.Provider = simulate.Provider{TokensPerMinute: perMinute * 4000, Latency: 2 * time.Second, RetryAfter: after}
				r := run(t, s)
				assert.Zero(t, r.SessionsLost, "%d a minute", perMinute)
				assert.GreaterOrEqual(t, r.Utilisation, 0.8, "%d a minute, %d sessions, %v", perMinute, sessions, after)
				assert.LessOrEqual(t, r.RejectedShare, 0.05, "%d a minute, %d sessions, %v", perMinute, sessions, after)
			}
		}
	}
}

// A refusal that holds a session up for a minute, or loses it, is provoked no more often than it must be.
func TestARefusalThatHoldsForLongIsSeldomProvoked(t *testing.T) {
	for after, calls := range map[time.Duration]int{time.Minute: 10, 10 * time.Minute: 100} {
		s := fleet()
		s.Sessions, s.CallsPerSession = 100, calls
		s.Provider = simulate.Provider{RequestsPerSecond: 5 * backoff.One, Latency: time.Second, RetryAfter: after}
		r := run(t, s)
		assert.GreaterOrEqual(t, r.Utilisation, 0.9, "%v", after)
		assert.LessOrEqual(t, r.Rejected, int64(5), "%v", after)
		assert.Zero(t, r.SessionsLost, "%v", after)
	}
}

// After an outage calls come back to the pace that was kept, and not to the one that was refused before it.
func TestAfterAnOutageNoRefusedPaceIsTried(t *testing.T) {
	for _, rate := range []backoff.Decimal{2, 5, 8} {
		s := fleet()
		s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 4, 40*int(rate), 4, time.Second
		s.Provider = simulate.Provider{
			RequestsPerSecond: rate * backoff.One, Latency: 200 * time.Millisecond, RetryAfter: 20 * time.Second,
			Outages: []simulate.Outage{{At: 30 * time.Second, For: 20 * time.Second}},
		}
		assert.LessOrEqual(t, run(t, s).PeakRateAfterOutage, 1.0, "%d a second", int(rate))
	}
}

// Sessions that come one by one are not paced, and together they may meet the limit before the pace is known.
// It is as high as what they used then.
func TestALimitThatLoneCallsMeetIsUsed(t *testing.T) {
	s := fleet()
	s.Seed, s.Sessions, s.CallsPerSession = 243, 20, 50
	s.Provider = simulate.Provider{RequestsPerSecond: 10 * backoff.One, Latency: 50 * time.Millisecond}
	assert.GreaterOrEqual(t, run(t, s).Utilisation, 0.8)
}

// Long calls of sessions that are all in flight keep below the limit by themselves, and say nothing of it.
// After an outage they come back all at once, and keep to what was made before it.
func TestAfterAnOutageAPaceThatWasNotNeededIsNotTried(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.ArriveOver = 19, 900, 30, 48*time.Second
	s.Provider = simulate.Provider{
		RequestsPerSecond: 57 * backoff.One, Latency: 20 * time.Second, RetryAfter: 3 * time.Second,
		Outages: []simulate.Outage{{At: 8 * time.Minute, For: 150 * time.Second}},
	}
	r := run(t, s)
	assert.Zero(t, r.SessionsLost)
	assert.LessOrEqual(t, r.Overshoot, lease(s))
	assert.LessOrEqual(t, r.PeakRateAfterOutage, 1.1)
}

// Before the first outage no answer has told the limits. After it they are used at once.
func TestAfterAnOutageAtTheStartALimitThatIsToldIsUsed(t *testing.T) {
	s := fleet()
	s.Processes, s.Sessions, s.CallsPerSession, s.TokensPerCall = 15, 14, 6, 2424
	s.Provider = simulate.Provider{
		RequestsPerSecond: backoff.One, TokensPerMinute: 92_891, Latency: 2 * time.Second, Headers: true,
		Outages: []simulate.Outage{{At: 1500 * time.Millisecond, For: 42 * time.Second}},
	}
	assert.GreaterOrEqual(t, run(t, s).Utilisation, 0.9)
}
