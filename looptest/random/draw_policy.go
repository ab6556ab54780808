package random

import (
	"time"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/extract"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/policy"
)

// mostTurns bounds every run.
const mostTurns = 14

// drawPolicy draws a policy with values in any of its layers.
func (c *Case) drawPolicy(d dice) *policy.Set {
	set := policy.DefaultSet()
	set.MaxTurns = pick(d, d.between(1, mostTurns), mostTurns, mostTurns)
	set.MaxCalls = pick(d, set.MaxCalls, set.MaxCalls, 1, 3)
	set.AllOrNothing = d.one(5)
	if d.one(5) {
		set.Budgets = policy.Budgets{
			Run: pick(d, policy.Unlimited, 0, 2, 5), Tool: pick(d, policy.Unlimited, 0, 1, 3),
			UnknownTools: pick(d, policy.Unlimited, 0, 1),
		}
	}
	set.Global, set.Transport = drawLayer(d), drawTransportLayer(d)
	if d.one(4) {
		set.Answer = drawLayer(d)
	}
	if d.one(6) {
		set.Call = drawLayer(d)
	}
	for _, t := range c.Tools {
		if d.one(4) {
			set.Tools = map[string]policy.Layer{t.Name: drawLayer(d)}
		}
		if d.one(6) {
			set.ToolTransport = map[string]policy.Layer{t.Name: drawTransportLayer(d)}
		}
	}
	return &set
}

// drawLayer draws a layer of the correction plane.
func drawLayer(d dice) policy.Layer {
	l := drawBoth(d)
	if d.one(5) {
		l.NoProgress = new(pick(d, 0, 1, 2))
	}
	if d.one(6) {
		l.EmitFeedback = new(d.one(2))
	}
	if d.one(8) {
		l.OnReducerError = pick(d, policy.ReducerStopsRun, policy.ReducerEndsAction)
	}
	if d.one(12) {
		l.RetryableErrors = pick(d,
			[]fault.Class{fault.ToolValidation, fault.StructuredOutput, fault.Reducer},
			[]fault.Class{fault.ToolValidation, fault.UnknownTool, fault.NoOutput, fault.Truncated,
				fault.Refusal, fault.StructuredOutput},
			[]fault.Class{fault.StructuredOutput})
	}
	if d.one(5) {
		l.NativeRepairs = pick(d, policy.RepairsAccept, policy.RepairsNote, policy.RepairsRefuse)
	}
	if d.one(5) {
		l.TextRepairs = pick(d, policy.RepairsAccept, policy.RepairsNote, policy.RepairsRefuse)
	}
	if d.one(10) {
		l.FormsOff = []extract.Form{pick(d, extract.Forms()...)}
	}
	if d.one(8) {
		l.PerAttempt = []policy.Settings{{}, {Temperature: new(0.5)}}
	}
	return l
}

func drawTransportLayer(d dice) policy.Layer {
	l := drawBoth(d)
	if d.one(4) {
		l.RetryAfter = pick(d, policy.RetryAfterFirst, policy.RetryAfterFloor)
	}
	if d.one(4) {
		l.MaxRetryAfter = new(time.Duration(d.IntN(15)) * time.Second)
	}
	if d.one(4) {
		l.RetryAfterJitter = new(pick(d, 0, backoff.Dec("0.5"), backoff.One))
	}
	if d.one(6) {
		l.ClassifyWords = new(true)
	}
	return l
}

// drawBoth draws the fields of both planes.
func drawBoth(d dice) policy.Layer {
	var l policy.Layer
	if d.one(3) {
		l.MaxAttempts = new(pick(d, 1, 2, 3, 5, 5, policy.Unlimited))
	}
	if d.one(3) {
		l.Backoff = new(drawBackoff(d))
	}
	if d.one(6) {
		l.MaxTotalDelay = new(time.Duration(d.IntN(30)) * time.Second)
	}
	if d.one(40) {
		l.OptOut = new(true)
	}
	if d.one(8) {
		l.Bases = map[fault.Class]time.Duration{fault.RateLimit: 5 * time.Second}
	}
	return l
}

func drawBackoff(d dice) backoff.BackoffStrategy {
	b := pick(d, backoff.Constant(time.Second), backoff.Linear(time.Second, time.Second),
		backoff.Exponential(500*time.Millisecond, 2*backoff.One), backoff.List(time.Second, 3*time.Second))
	b.Cap = pick(d, 0, 0, 4*time.Second)
	b.Jitter.Kind = pick(d, backoff.NoJitter, backoff.Full, backoff.Equal, backoff.Proportional)
	if b.Jitter.Kind == backoff.Proportional {
		b.Jitter.Fraction, b.Jitter.AfterCap = backoff.Dec("0.25"), d.one(2)
	}
	return b
}
