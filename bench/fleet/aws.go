package fleet

import (
	"math"
	"time"

	"github.com/retake-go/retake/internal/simulate"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// The constants of the adaptive mode.
const (
	awsLeastRate  = 0.5
	awsSmooth     = 0.8
	awsBeta       = 0.7
	awsScale      = 0.4
	awsBucket     = 0.5 // seconds over which the rate is measured
	awsQuota      = 500
	awsRetryCosts = 5
)

// aws is the adaptive retry mode of the AWS SDKs, a client for each process:
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html. From the first refusal on,
// calls take from a token bucket, whose rate follows CUBIC. Retries take from a quota, and are not made
// without one.
type aws struct {
	clock *simulate.Clock
	// on is set by the first refusal. tokens are in the bucket, which fills by rate a second up to size.
	on                 bool
	tokens, rate, size float64
	filled             float64
	// measured is the rate at which calls end, of which ended did so since bucket.
	measured, bucket float64
	ended            float64
	// peak is the rate at the last refusal, at throttled.
	peak, throttled float64
	quota           int
	waiting         []func()
	// timed is set while the next of those that wait has a timer.
	timed bool
}

func newAWS(c *simulate.Clock) simulate.Limiter { return &aws{clock: c, quota: awsQuota} }

// seconds is the time from the start.
func (a *aws) seconds() float64 { return float64(a.clock.Now().UnixNano()) / 1e9 }

// Ask implements [simulate.Limiter].
func (a *aws) Ask(_ *simulate.Call, grant func()) {
	if !a.on {
		grant()
		return
	}
	a.waiting = append(a.waiting, grant)
	a.serve()
}

func (a *aws) fill() {
	now := a.seconds()
	a.tokens = min(a.size, a.tokens+(now-a.filled)*a.rate)
	a.filled = now
}

// serve grants what the bucket has tokens for, and looks again when it has the next one.
func (a *aws) serve() {
	a.fill()
	for len(a.waiting) > 0 && a.tokens >= 1 {
		next := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.tokens--
		next()
	}
	if len(a.waiting) > 0 && !a.timed {
		a.timed = true
		wait := time.Duration((1 - a.tokens) / a.rate * float64(time.Second))
		a.clock.After(wait+time.Microsecond, func() { a.timed = false; a.serve() })
	}
}

// Settle implements [simulate.Limiter].
func (a *aws) Settle(c *simulate.Call, o limit.Outcome, _ *ratelimit.State) bool {
	a.measure()
	a.adjust(o == limit.Refused)
	a.serve()
	switch {
	case o == limit.Served && c.Attempt == 1:
		a.quota = min(a.quota+1, awsQuota)
	case o == limit.Served:
		a.quota = min(a.quota+awsRetryCosts, awsQuota)
	case a.quota < awsRetryCosts:
		return false
	default:
		a.quota -= awsRetryCosts
	}
	return true
}

func (a *aws) measure() {
	a.ended++
	if now := math.Floor(a.seconds()/awsBucket) * awsBucket; now > a.bucket {
		a.measured = a.ended/(now-a.bucket)*awsSmooth + a.measured*(1-awsSmooth)
		a.ended, a.bucket = 0, now
	}
}

// adjust sets the rate of the bucket after a call.
func (a *aws) adjust(refused bool) {
	var rate float64
	if refused {
		if a.peak = a.measured; a.on {
			a.peak = min(a.measured, a.rate)
		}
		rate, a.throttled, a.on = a.peak*awsBeta, a.seconds(), true
	} else {
		since := a.seconds() - a.throttled - math.Cbrt(a.peak*(1-awsBeta)/awsScale)
		rate = awsScale*since*since*since + a.peak
	}
	a.fill()
	rate = min(rate, 2*a.measured)
	a.rate, a.size = max(rate, awsLeastRate), max(rate, 1)
	a.tokens = min(a.tokens, a.size)
}
