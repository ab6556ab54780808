package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
)

// wideFile is a random file of numbers that lie far apart: also fleets that ask for a small part of what their
// provider allows, or are done before the first answer.
func wideFile(random *rand.Rand) Settings {
	for {
		s := Default()
		s.Seed, s.Processes = random.Int64N(100_000), 1+random.IntN(32)
		s.Sessions, s.CallsPerSession = int(drawn(random, 10, 3000)), int(drawn(random, 1, 50.99))
		s.TokensPerCall = int(drawn(random, 100, 20_000))
		if random.IntN(4) > 0 {
			s.ArriveOver = millis(drawn(random, 100, 1_800_000))
		}
		p, rate := &s.Provider, math.Round(drawn(random, 1, 2000)*10)/10
		p.RequestsPerSecond, p.Headers = backoff.Decimal(rate*float64(backoff.One)), random.IntN(2) == 0
		if random.IntN(2) == 0 {
			p.TokensPerMinute = int64(rate * 60 * float64(s.TokensPerCall) * drawn(random, 0.3, 4))
		}
		p.Latency = millis(drawn(random, 50, 30_000))
		if random.IntN(4) > 0 {
			p.RetryAfter = time.Duration(drawn(random, 1, 120)) * time.Second
		}
		calls := float64(s.Sessions * s.CallsPerSession)
		need := max(calls/rate, s.ArriveOver.Seconds())
		if need > 3600 || calls > 100_000 {
			continue
		}
		outages := random.IntN(2) * (1 + random.IntN(3))
		for from := time.Duration(0); len(p.Outages) < outages; {
			o := Outage{At: from + millis(need*1000*random.Float64()/float64(outages)), For: millis(drawn(random, 5000, 300_000))}
			p.Outages, from = append(p.Outages, o), o.At+o.For+time.Second
		}
		return s
	}
}

// Whatever the numbers are, no session is lost, but for one whose call was in flight when each of several outages
// began, and no more calls are too many at once than a lease and a half.
func TestFleetsOfAllSizes(t *testing.T) {
	files := 60
	if testing.Short() {
		files = 15
	}
	random := rand.New(rand.NewPCG(5, 31))
	for range files {
		s := wideFile(random)
		r, err := Run(s)
		require.NoError(t, err)
		if len(s.Provider.Outages) < 3 {
			assert.Zero(t, r.SessionsLost, "%+v", s)
		}
		lease := max(float64(newRun(s).provider.rate)/1e7, 1)
		assert.LessOrEqual(t, float64(r.Overshoot), 1.5*lease+1, "%+v", s)
	}
}
