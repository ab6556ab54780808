package limit_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// limiter drives a State by hand.
type limiter struct {
	t   *testing.T
	st  limit.State
	now time.Duration
}

func newLimiter(t *testing.T, c limit.Config) *limiter {
	st, err := limit.New(c)
	require.NoError(t, err)
	return &limiter{t: t, st: st}
}

func (l *limiter) step(ev limit.Event) []limit.Effect {
	ev.At = time.Unix(0, 0).Add(l.now)
	var fx []limit.Effect
	l.st, fx = limit.Step(l.st, ev)
	return fx
}

// granted are the IDs of granted asks.
func granted(fx []limit.Effect) (ids []int64) {
	for _, e := range fx {
		if e.Kind == limit.Grant {
			ids = append(ids, e.Share.ID)
		}
	}
	return ids
}

// until ticks until a time, and returns what was granted.
func (l *limiter) until(end time.Duration) (ids []int64) {
	for {
		next, is := l.st.Next()
		if at := next.Sub(time.Unix(0, 0)); !is || at > end {
			l.now = max(l.now, end)
			return ids
		} else if l.now = max(l.now, at); true {
			ids = append(ids, granted(l.step(limit.Event{Kind: limit.Tick}))...)
		}
	}
}

func (l *limiter) ask(ids ...int64) (now []int64) {
	for _, id := range ids {
		now = append(now, granted(l.step(limit.Event{Kind: limit.Ask, ID: id}))...)
	}
	return now
}

// again asks for calls that failed before.
func (l *limiter) again(ids ...int64) (now []int64) {
	for _, id := range ids {
		now = append(now, granted(l.step(limit.Event{Kind: limit.Ask, ID: id, Retry: true}))...)
	}
	return now
}

func (l *limiter) settle(o limit.Outcome, ids ...int64) {
	for _, id := range ids {
		l.step(limit.Event{Kind: limit.Settle, ID: id, Outcome: o})
	}
}

func ids(from, to int64) (all []int64) {
	for id := from; id <= to; id++ {
		all = append(all, id)
	}
	return all
}

var tenASecond = limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 10, Period: time.Second}}}

func TestAKnownWindowIsFilledAndThenSpreadEvenly(t *testing.T) {
	l := newLimiter(t, tenASecond)
	assert.Equal(t, ids(1, 10), l.ask(ids(1, 40)...), "nobody waits, and they fit")
	assert.Empty(t, l.until(time.Second))
	assert.Len(t, l.until(1200*time.Millisecond), 2)
	assert.Len(t, l.until(2*time.Second), 8)
	assert.Len(t, l.until(3*time.Second), 10)
}

func TestSeveralWindowsHoldAtOnce(t *testing.T) {
	c := tenASecond
	c.Windows = append(c.Windows, limit.Window{Resource: "tokens", Limit: 60_000, Period: time.Minute})
	l := newLimiter(t, c)
	for id := range int64(20) {
		l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: 500})
	}
	assert.Equal(t, 10, l.st.Waiting(), "ten requests fit")
	assert.Empty(t, l.until(5*time.Second))
	assert.Len(t, l.until(7*time.Second), 4, "1,000 tokens a second are two calls of 500")
}

func TestTheFirstResponseTellsTheLimit(t *testing.T) {
	for name, many := range map[string]int64{"requests_per_second": 20, "requests_per_10s": 200, "requests_per_minute": 1200, "requests": 1200} {
		l := newLimiter(t, limit.Config{})
		l.ask(ids(1, 100)...)
		l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: &ratelimit.State{Windows: []ratelimit.Window{
			{Name: name, Resource: "requests", Limit: ratelimit.Of(many)},
		}}})
		l.until(time.Second)
		assert.Len(t, l.until(3*time.Second), 40, "%s: twenty a second, less a hundredth", name)
	}
}

func TestAWindowOfTheServersOwnNameIsAsLongAsItSays(t *testing.T) {
	told := ratelimit.Parse(map[string][]string{"RateLimit-Policy": {`"burst";q=20;w=1`}, "RateLimit": {`"burst";r=19;t=1`}}, time.Unix(0, 0))
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 100)...)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: &told})
	l.until(time.Second)
	assert.Len(t, l.until(3*time.Second), 40, "twenty a second, less a hundredth")
	told.Windows[0].Period.Duration = 1
	l.ask(101)
	l.step(limit.Event{Kind: limit.Settle, ID: 2, Outcome: limit.Served, Limits: &told})
	assert.Len(t, l.st.Windows, 2, "what is too short to be one counts as a minute")
}

func TestWithoutHintsThePaceFallsAtARefusalAndRises(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 10_000)...)
	got := l.until(3 * time.Second)
	before := l.st.Pace
	assert.Greater(t, before, int64(30_000), "it doubles every half second")
	l.settle(limit.Refused, got[len(got)-1], got[len(got)-2])
	assert.Equal(t, before/2, l.st.Knee, "cut once for both")
	assert.Equal(t, l.st.Knee/3, l.st.Pace)
	l.until(4 * time.Second)
	assert.False(t, l.st.Seeking)
	knee := l.st.Pace
	l.until(10 * time.Second)
	assert.Greater(t, l.st.Pace, knee)
	assert.Less(t, l.st.Pace, 2*knee)
}

// A crowd that knew of no limit has at most used the window up: who comes next waits for one, not for as many
// as the crowd would have filled.
func TestALimitThatACrowdLearnsIsUsedUpOnce(t *testing.T) {
	l := newLimiter(t, limit.Config{Open: true})
	assert.Len(t, l.ask(ids(1, 300)...), 300)
	l.now = time.Millisecond
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Refused, Limits: &ratelimit.State{Windows: []ratelimit.Window{
		{Resource: "requests", Limit: ratelimit.Count{N: 2, Known: true}, Period: ratelimit.Span{Duration: time.Second, Known: true}},
	}}})
	assert.Empty(t, l.ask(301))
	assert.Equal(t, []int64{301}, l.until(1100*time.Millisecond))
}

func TestAnOpenLimiterHoldsNobodyBackUntilARetryIsRefused(t *testing.T) {
	l := newLimiter(t, limit.Config{Open: true})
	assert.Equal(t, ids(1, 1000), l.ask(ids(1, 1000)...))
	l.settle(limit.Served, ids(1, 10)...)
	l.settle(limit.Refused, ids(11, 500)...)
	l.settle(limit.Down, ids(501, 1000)...)
	assert.Equal(t, ids(1001, 2000), l.ask(ids(1001, 2000)...), "every session may meet that once")
	assert.Equal(t, ids(2001, 2100), l.again(ids(2001, 2100)...))
	l.now = time.Second
	l.settle(limit.Refused, ids(2001, 2100)...)
	l.ask(ids(3001, 3100)...)
	assert.LessOrEqual(t, len(l.until(2*time.Second)), 10, "the pace begins, as for any limiter")
	assert.Greater(t, len(l.until(8*time.Second)), 80, "retries are not throttled for what nobody held back")
}

func TestAnOpenLimiterThatFindsTheProviderDownComesBackToItsPace(t *testing.T) {
	l := newLimiter(t, limit.Config{Open: true})
	l.again(ids(1, 500)...)
	l.settle(limit.Down, ids(1, 500)...)
	assert.Empty(t, l.ask(ids(501, 1500)...), "the breaker is open")
	assert.Equal(t, []int64{501}, l.until(1*time.Second))
	l.settle(limit.Served, 501)
	n := len(l.until(2 * time.Second))
	assert.Greater(t, n, 200)
	assert.Less(t, n, 700, "and not all at once")
}

func TestAProviderThatIsDownForLongDeniesWhoWaits(t *testing.T) {
	l := newLimiter(t, limit.Config{GiveUp: 10 * time.Second})
	l.ask(1)
	l.settle(limit.Down, 1)
	for id := int64(2); id <= 3; id++ {
		l.ask(id)
		l.until(l.now + time.Second)
		l.settle(limit.Down, id)
	}
	l.ask(ids(4, 9)...)
	var denied []int64
	for l.now < 15*time.Second {
		l.now += 500 * time.Millisecond
		for fx := l.step(limit.Event{Kind: limit.Tick}); len(fx) > 0; fx = fx[1:] {
			e := &fx[0]
			if e.Kind == limit.Deny {
				assert.Equal(t, limit.DownTooLong, e.Why)
				denied = append(denied, e.Share.ID)
				continue
			}
			l.settle(limit.Down, e.Share.ID)
			fx = append(fx, l.step(limit.Event{Kind: limit.Ask, ID: e.Share.ID})...)
		}
	}
	assert.ElementsMatch(t, ids(4, 9), denied, "nobody waits for ever")
	assert.Equal(t, []int64{10}, l.ask(10), "a probe finds out whether it is back")
	l.settle(limit.Served, 10)
	assert.Equal(t, []int64{11}, l.ask(11))
}

// How long a crowd waits cannot be told from the first pace, one call a second: nobody is denied for it.
func TestACrowdIsNotDeniedForAPaceThatStillDoubles(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	got := map[limit.EffectKind]int{}
	count := func(fx []limit.Effect) {
		for _, e := range fx {
			if got[e.Kind]++; e.Kind == limit.Grant {
				l.settle(limit.Served, e.Share.ID)
			}
		}
	}
	for id := range int64(100) {
		count(l.step(limit.Event{Kind: limit.Ask, ID: id + 1, Deadline: time.Unix(30, 0)}))
	}
	for l.now < 30*time.Second {
		l.now += 10 * time.Millisecond
		count(l.step(limit.Event{Kind: limit.Tick}))
	}
	assert.Equal(t, map[limit.EffectKind]int{limit.Grant: 100}, got)
}

func TestALongWindowIsCountedDown(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 5)...)
	for _, w := range []ratelimit.Window{{Limit: ratelimit.Of(1000)}, {Remaining: ratelimit.Of(3)}, {ResetsIn: ratelimit.In(time.Hour)}} {
		w.Name, w.Resource = "requests_per_day", "requests"
		l.step(limit.Event{Kind: limit.Settle, ID: 99, Outcome: limit.Served, Limits: &ratelimit.State{Windows: []ratelimit.Window{w}}})
		assert.Empty(t, l.st.Quotas, "nobody knows what is left until when")
	}
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: &ratelimit.State{Windows: []ratelimit.Window{{
		Name: "requests_per_day", Resource: "requests", Limit: ratelimit.Of(1000), Remaining: ratelimit.Of(3),
		ResetsIn: ratelimit.In(time.Hour),
	}}}})
	assert.Len(t, l.until(time.Minute), 2, "three were left, less the one in flight")
	assert.Len(t, l.until(2*time.Hour), 2, "the others when the day has passed")
}

// What calls used beyond their estimate is taken from the windows that count tokens, and what they used less
// is left in those that are counted down.
func TestWhatIsUsedBesideTheEstimateIsAccountedFor(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 100, Period: time.Second},
		{Resource: "tokens", Limit: 1000, Period: time.Second}}})
	l.st.Quotas = []limit.Quota{{Name: "tokens_per_day", Resource: "tokens", Left: 10_000, Reset: int64(time.Hour)},
		{Name: "requests_per_day", Resource: "requests", Left: 100, Reset: int64(time.Hour)}}
	l.step(limit.Event{Kind: limit.Ask, ID: 1, Tokens: 100})
	left := func() []int64 { return []int64{l.st.Quotas[0].Left, l.st.Quotas[1].Left} }
	require.Equal(t, []int64{9900, 99}, left())
	requests, tokens := l.st.Windows[0], l.st.Windows[1]
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Tokens: 600})
	assert.Equal(t, []int64{9400, 99}, left())
	assert.Equal(t, requests, l.st.Windows[0], "a window of requests counts no tokens")
	assert.InDelta(t, int64(500*time.Millisecond), l.st.Windows[1].Next-tokens.Next, float64(10*time.Millisecond), "500 of 1,000 a second")

	l.st.Usage = 1_000_000
	l.step(limit.Event{Kind: limit.Ask, ID: 2, Tokens: 100})
	tokens = l.st.Windows[1]
	l.step(limit.Event{Kind: limit.Settle, ID: 2, Outcome: limit.Served, Tokens: 40})
	assert.Equal(t, []int64{9360, 98}, left(), "40 are used")
	assert.Equal(t, tokens.Next, l.st.Windows[1].Next, "what a call used less is not made up for at once")
}

func TestAnEstimateThatIsTooHighIsLearned(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "tokens", Limit: 10_000, Period: time.Second}}})
	n := 0
	for id := range int64(200) {
		l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: 4000})
	}
	for ; n < 30; n++ {
		for _, id := range l.until(l.now + time.Second) {
			l.step(limit.Event{Kind: limit.Settle, ID: id, Outcome: limit.Served, Tokens: 1000})
		}
	}
	assert.InDelta(t, 250_000, l.st.Usage, 5000)
}

func TestTheBreakerLetsProbesThroughAlone(t *testing.T) {
	l := newLimiter(t, tenASecond)
	l.ask(ids(1, 50)...)
	l.until(900 * time.Millisecond)
	l.settle(limit.Down, ids(1, 9)...)
	assert.True(t, l.st.Breaker.Open)
	var probes int
	for second := time.Second; second < 20*time.Second; second += time.Second {
		for _, id := range l.until(second) {
			probes++
			assert.Equal(t, id, l.st.Breaker.Probe)
			l.settle(limit.Down, id)
		}
	}
	assert.LessOrEqual(t, probes, 19)
	assert.GreaterOrEqual(t, probes, 17)
	probe := l.until(l.now + time.Second)
	require.Len(t, probe, 1)
	l.settle(limit.Served, probe...)
	assert.False(t, l.st.Breaker.Open)
	assert.LessOrEqual(t, len(l.until(l.now+time.Second)), 10, "no spike")
	assert.GreaterOrEqual(t, len(l.until(l.now+time.Second)), 9)
}

func TestAProbeThatNobodySettlesIsLost(t *testing.T) {
	l := newLimiter(t, tenASecond)
	l.ask(ids(1, 20)...)
	l.until(300 * time.Millisecond)
	l.settle(limit.Down, 1, 2, 3)
	first := l.until(5 * time.Second)
	require.Len(t, first, 1)
	assert.Empty(t, l.until(30*time.Second))
	assert.Len(t, l.until(35*time.Second), 1)
}

func TestRetriesAreThrottledWhenManyCallsFail(t *testing.T) {
	c := limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1000, Period: time.Second}}}
	l := newLimiter(t, c)
	l.ask(ids(1, 60)...)
	l.until(time.Second)
	l.settle(limit.Refused, ids(1, 60)...)
	for _, id := range ids(101, 120) {
		l.step(limit.Event{Kind: limit.Ask, ID: id, Retry: true})
	}
	assert.LessOrEqual(t, len(l.until(l.now+5*time.Second)), 6, "one retry a second")
	assert.Contains(t, append(l.ask(200), l.until(l.now+10*time.Millisecond)...), int64(200), "a first call goes at once")
	l.until(l.now + time.Minute)
	assert.Equal(t, 0, l.st.Waiting())
}

// Each refusal and each call that finds the provider down takes a call's worth of what is kept for retries,
// and one that is served gives its part back, up to all of it.
func TestTheBudgetOfRetries(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1000, Period: time.Second}}, Failures: 1000})
	full := l.st.Budget
	l.ask(ids(1, 210)...)
	l.settle(limit.Served, 1)
	assert.Equal(t, full, l.st.Budget)
	l.settle(limit.Refused, 2)
	assert.Equal(t, full-1000, l.st.Budget)
	l.settle(limit.Down, 3)
	assert.Equal(t, full-2000, l.st.Budget)
	l.settle(limit.Served, 4)
	assert.Equal(t, full-1800, l.st.Budget)
	l.settle(limit.Unused, 5)
	assert.Equal(t, full-1800, l.st.Budget)
	l.settle(limit.Refused, ids(6, 210)...)
	assert.Zero(t, l.st.Budget)
	for n := range int64(600) {
		l.ask(1000 + n)
		l.until(l.now + 10*time.Millisecond)
		l.settle(limit.Served, 1000+n)
	}
	assert.Equal(t, full, l.st.Budget)
}

func TestCallsThatAreNeverSettledAreLostInTime(t *testing.T) {
	l := newLimiter(t, limit.Config{Concurrency: 2, Windows: tenASecond.Windows, Hold: time.Minute})
	l.ask(ids(1, 4)...)
	l.until(30 * time.Second)
	assert.Equal(t, int64(2), l.st.InFlight)
	_, waits := l.st.Next()
	assert.True(t, waits, "what is out is lost in time")
	assert.Len(t, l.until(100*time.Second), 2)
	l.settle(limit.Served, 1)
	assert.Equal(t, int64(2), l.st.InFlight, "settled after it was lost")
}

func TestAWaitBeyondTheDeadlineIsDeniedAtOnce(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}, MaxWaiting: 41})
	l.ask(ids(1, 41)...)
	ask := limit.Event{Kind: limit.Ask, ID: 50, Deadline: time.Unix(12, 0)}
	fx := l.step(ask)
	require.Len(t, fx, 1)
	assert.Equal(t, limit.TooLate, fx[0].Why)
	assert.InDelta(t, 40, fx[0].Wait.Seconds(), 2)
	ask.Deadline = time.Unix(60, 0)
	assert.Empty(t, l.step(ask))
	ask.ID++
	assert.Equal(t, limit.TooMany, l.step(ask)[0].Why)
	assert.Equal(t, limit.Twice, l.step(limit.Event{Kind: limit.Ask, ID: 1})[0].Why)

	l = newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "tokens", Limit: 60, Period: time.Minute}}})
	for id := range int64(100) {
		l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: 1})
	}
	ask = limit.Event{Kind: limit.Ask, ID: 101, Tokens: 1, Deadline: time.Unix(12, 0)}
	fx = l.step(ask)
	require.Len(t, fx, 1)
	assert.InDelta(t, float64(l.st.Waiting()), fx[0].Wait.Seconds(), 62, "a token a second, once the window has room")
	assert.Greater(t, fx[0].Wait, 12*time.Second)
}

// A call that waits is denied once its deadline is over, and the others wait on.
func TestADeadlineThatPassesInTheQueueDenies(t *testing.T) {
	l := newLimiter(t, tenASecond)
	l.ask(ids(1, 10)...)
	for id, deadline := range []time.Duration{0, 5 * time.Second, 0, 3 * time.Second, 9 * time.Second} {
		ev := limit.Event{Kind: limit.Ask, ID: int64(id + 11)}
		if deadline > 0 {
			ev.Deadline = time.Unix(0, 0).Add(deadline)
		}
		require.Empty(t, l.step(ev))
	}
	l.settle(limit.Down, 1, 2, 3)
	var late []time.Duration
	for {
		next, is := l.st.Next()
		if !is || next.Sub(time.Unix(0, 0)) > 8*time.Second {
			break
		}
		l.now = next.Sub(time.Unix(0, 0))
		for _, e := range l.step(limit.Event{Kind: limit.Tick}) {
			if e.Kind == limit.Deny {
				assert.Equal(t, limit.TooLate, e.Why)
				late = append(late, time.Duration(e.Share.ID), l.now.Round(time.Millisecond))
			}
		}
	}
	assert.Equal(t, []time.Duration{14, 3 * time.Second, 12, 5 * time.Second}, late)
	assert.Contains(t, l.st.Out, int64(11), "it is the probe")
	assert.Equal(t, 2, l.st.Waiting())
}

func TestWhoLeavesIsNotGranted(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}})
	l.ask(1, 2, 3)
	l.step(limit.Event{Kind: limit.Leave, IDs: []int64{2}})
	assert.Equal(t, []int64{3}, l.until(2*time.Second))
}

func TestPriorityIsAHeadStartAndStarvesNobody(t *testing.T) {
	l := newLimiter(t, limit.Config{
		Yield: time.Second, Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}},
	})
	l.ask(1, 2)
	high := int64(100)
	var order []int64
	for l.now < time.Minute {
		high++
		l.step(limit.Event{Kind: limit.Ask, ID: high, Priority: 1})
		order = append(order, l.until(l.now+time.Second)...)
	}
	assert.Equal(t, int64(101), order[0])
	assert.Contains(t, order[:15], int64(2), "ten seconds later it is its turn")
}

func TestSessionsThatCameLateCatchUp(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}})
	l.ask(1)
	l.step(limit.Event{Kind: limit.Ask, ID: 2, Turn: 5})
	l.ask(3)
	assert.Equal(t, []int64{3, 2}, l.until(10*time.Second))
}

func TestProcessesShareOnePace(t *testing.T) {
	top := newLimiter(t, tenASecond)
	low := newLimiter(t, limit.Config{Shared: true})
	low.ask(ids(1, 5)...)
	fx := low.step(limit.Event{Kind: limit.Tick})
	assert.Empty(t, fx, "it borrows once")

	low = newLimiter(t, limit.Config{Shared: true})
	fx = low.step(limit.Event{Kind: limit.Ask, ID: 1})
	require.Len(t, fx, 1)
	ask := *fx[0].Borrow
	ask.ID = 77
	fx = top.step(ask)
	require.Len(t, fx, 1)
	fx = low.step(limit.Event{Kind: limit.Lent, Share: fx[0].Share})
	require.Equal(t, []int64{1}, granted(fx))
	lender, out := low.st.Lender(1)
	assert.True(t, out)
	assert.Equal(t, int64(77), lender)
	top.settle(limit.Served, lender)
	assert.Equal(t, int64(0), top.st.InFlight)
}

func TestAFailureGivesTheLeaseBack(t *testing.T) {
	low := newLimiter(t, limit.Config{Shared: true})
	low.ask(1, 2, 3)
	low.step(limit.Event{Kind: limit.Lent, Share: limit.Share{ID: 9, From: time.Unix(0, 0), Every: time.Second, Calls: 3}})
	fx := low.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Down})
	require.Len(t, fx, 2)
	assert.Equal(t, limit.Effect{Kind: limit.Return, Share: limit.Share{ID: 9, Calls: 2}}, fx[0])
	assert.Equal(t, limit.Borrow, fx[1].Kind)
}

func TestASnapshotContinues(t *testing.T) {
	l := newLimiter(t, tenASecond)
	l.ask(ids(1, 20)...)
	l.until(500 * time.Millisecond)
	l.settle(limit.Refused, 2)
	text, err := json.Marshal(l.st)
	require.NoError(t, err)
	other := &limiter{t: t, now: l.now}
	require.NoError(t, json.Unmarshal(text, &other.st))
	assert.Equal(t, l.until(10*time.Second), other.until(10*time.Second))
	again, err := json.Marshal(other.st)
	require.NoError(t, err)
	want, _ := json.Marshal(l.st)
	assert.JSONEq(t, string(want), string(again))
}

// docs/policy-keys.md has the same numbers.
func TestTheDefaultsOfAConfig(t *testing.T) {
	assert.Equal(t, limit.Config{
		Parts: 1, Start: 1, Ramp: 500 * time.Millisecond, MaxWaiting: 1_000_000, Hold: 10 * time.Minute, Yield: time.Minute, Failures: 3,
		ProbeEvery: time.Second, ProbeFor: 30 * time.Second, GiveUp: time.Hour, RetryShare: 200,
	}, newLimiter(t, limit.Config{}).st.Config)
}

func TestAStateThatIsNoneIsRefused(t *testing.T) {
	good := newLimiter(t, tenASecond).st
	require.NoError(t, good.Validate())
	noOut, noParts := good.Clone(), good.Clone()
	noOut.Out, noParts.Config.Parts = nil, 0
	for _, st := range []limit.State{{}, noOut, noParts} {
		assert.EqualError(t, st.Validate(), "this is not the state of a limiter")
	}
	clone := good.Clone()
	clone.Config.Windows[0].Limit, clone.Windows[0].Limit = 7, 7
	assert.Equal(t, newLimiter(t, tenASecond).st, good, "a clone has windows of its own")
}

func TestAConfigTellsAllItsFaults(t *testing.T) {
	longest := 31 * 24 * time.Hour
	good := limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Millisecond},
		{Resource: "tokens", Limit: 1 << 40, Period: longest}, {Resource: "input_tokens", Limit: 1, Period: time.Second}}}
	require.NoError(t, good.Validate())
	good.Windows[1].Period++
	assert.EqualError(t, good.Validate(), "windows[1].period: 744h0m0.000000001s is out of range; write 1ms to 744h0m0s")
	_, err := limit.New(limit.Config{
		Windows: []limit.Window{{Resource: "cats", Limit: 0, Period: 0}}, Start: -1, Ramp: -1, Failures: -2,
	})
	require.Error(t, err)
	for _, part := range []string{"windows[0].limit", "windows[0].period", "windows[0].resource", "start", "ramp", "failures"} {
		assert.ErrorContains(t, err, part)
	}
}

// What a limiter keeps does not grow with the sessions that it has seen.
func TestMemoryFollowsWhatWaitsAndIsOut(t *testing.T) {
	size := func(n int64) int {
		l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 100_000, Period: time.Second}}})
		for id := range n {
			l.ask(id)
			for _, id := range append(l.until(l.now+20*time.Microsecond), id) {
				l.settle(limit.Served, id)
			}
		}
		text, _ := json.Marshal(l.st)
		return len(text)
	}
	small := size(1000)
	for _, n := range []int64{2000, 4000} {
		assert.InDelta(t, small, size(n), 60, fmt.Sprint(n))
	}
}

// Who has made many calls lets those go first that have made none, but not for ever, nor beyond its deadline.
func TestASessionYieldsToThoseThatMadeFewerCalls(t *testing.T) {
	for name, c := range map[string]struct {
		turn          int64
		deadline      time.Duration
		after, before time.Duration
	}{
		"its first call":              {turn: 0, after: 0, before: 20 * time.Second},
		"its third call":              {turn: 2, after: 40 * time.Second, before: 60 * time.Second},
		"its hundredth call":          {turn: 99, after: 180 * time.Second, before: 220 * time.Second},
		"with a deadline":             {turn: 99, deadline: time.Minute, after: 30 * time.Second, before: 50 * time.Second},
		"with a deadline that is far": {turn: 99, deadline: time.Hour, after: 180 * time.Second, before: 220 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, limit.Config{
				Yield: 10 * time.Second, Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}},
			})
			l.ask(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
			ev := limit.Event{Kind: limit.Ask, ID: 11, Turn: c.turn}
			if c.deadline > 0 {
				ev.Deadline = time.Unix(0, 0).Add(c.deadline)
			}
			l.step(ev)
			served := time.Duration(0)
			for id := int64(12); served == 0 && id < 1000; id++ { // two new sessions in the time of one call
				for _, granted := range l.until(l.now + time.Second/2) {
					if granted == 11 {
						served = l.now
					}
				}
				l.ask(id)
			}
			assert.GreaterOrEqual(t, served, c.after)
			assert.Less(t, served, c.before)
		})
	}
}

// A call may be granted for a time to come, and the state says so.
func TestAStateWhoseGrantsAreAheadOfTimeIsValid(t *testing.T) {
	l := newLimiter(t, limit.Config{
		Windows: []limit.Window{{Resource: "requests", Limit: 100, Period: time.Second}},
	})
	for id := int64(1); id < 1000; id++ {
		l.step(limit.Event{Kind: limit.Ask, ID: id, Shared: true})
	}
	for l.now < 5*time.Second {
		l.until(l.now + time.Millisecond)
		require.NoError(t, l.st.Validate())
	}
}

// A call that is made again has waited before: it goes before those that wait for the first time, and its
// session yields no more for it.
func TestACallThatIsMadeAgainKeepsItsPlace(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}})
	l.ask(1)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Down})
	l.ask(2, 3, 4)
	fx := l.step(limit.Event{Kind: limit.Ask, ID: 5, Turn: 1, Retry: true})
	for at := time.Second; len(fx) == 0; at += 100 * time.Millisecond {
		l.now = at
		fx = l.step(limit.Event{Kind: limit.Tick})
	}
	require.Equal(t, int64(5), fx[0].Share.ID)
	assert.Equal(t, int64(1), fx[0].Share.Turn)
}

// Three calls are not made in one second although two are allowed, when the limit becomes known after the
// first one.
func TestAWindowThatIsLearnedIsNotOverrun(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 10)...)
	begun := l.until(500 * time.Millisecond)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: &ratelimit.State{Windows: []ratelimit.Window{
		{Name: "requests_per_second", Resource: "requests", Limit: ratelimit.Of(2)},
	}}})
	require.Len(t, begun, 1, "the first one comes at once")
	assert.Empty(t, l.until(999*time.Millisecond))
}

// What a process hears of a refusal is told to the limiter above, which decides: the process uses what it is
// lent, and slows no retries by itself.
func TestASharedLimiterLeavesItToTheOneAboveToHoldCalls(t *testing.T) {
	l := newLimiter(t, limit.Config{Shared: true})
	l.ask(ids(1, 100)...)
	lend := func(calls int64) {
		l.step(limit.Event{Kind: limit.Lent, Share: limit.Share{ID: 1, From: time.Unix(0, 0).Add(l.now), Calls: calls}})
	}
	lend(60)
	limits := &ratelimit.State{RetryAfter: ratelimit.In(time.Minute), Windows: []ratelimit.Window{
		{Name: "requests_per_second", Resource: "requests", Limit: ratelimit.Of(2)},
	}}
	for id := range int64(60) {
		l.step(limit.Event{Kind: limit.Settle, ID: id + 1, Outcome: limit.Refused, Limits: limits})
		l.step(limit.Event{Kind: limit.Ask, ID: id + 101, Retry: true})
	}
	l.now += 100 * time.Millisecond
	lend(50)
	assert.Equal(t, 50, int(l.st.InFlight))
}

// A call that was refused is made again once others have found out that calls are served again, so that one
// session does not meet all refusals.
func TestACallThatWasRefusedIsNotTheNextToBeRefused(t *testing.T) {
	l := newLimiter(t, limit.Config{Start: 10})
	l.now = time.Second
	l.ask(1)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Refused})
	l.step(limit.Event{Kind: limit.Ask, ID: 2, Turn: 1, Retry: true})
	l.ask(ids(3, 100)...)
	assert.NotContains(t, l.until(3900*time.Millisecond), int64(2))
	assert.Contains(t, l.until(15*time.Second), int64(2))
}

// Each reason to deny a call is said in words, wherever it is told.
func TestReasonsAreExplained(t *testing.T) {
	for _, why := range []limit.Why{limit.TooLate, limit.TooMany, limit.NotUp, limit.DownTooLong, limit.Twice} {
		assert.NotEqual(t, string(why), why.Explain(0, 0))
	}
	assert.Equal(t, "the call would wait 40s, and 12s are left", limit.TooLate.Explain(40*time.Second, 12*time.Second))
	assert.Equal(t, "moon", limit.Why("moon").Explain(0, 0), "of a later version")
}

// A provider that tells nothing and allows 300 calls in any minute: what it served until it had room again is
// what it allows, and its minutes are used from then on.
func TestAMinuteThatIsUsedUpTellsWhatItAllows(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	var served []time.Duration
	refused := 0
	l.ask(ids(1, 5000)...)
	next := int64(5000)
	for l.now < 10*time.Minute {
		for _, id := range l.until(l.now + 20*time.Millisecond) {
			o := limit.Served
			if n := len(served) - 300; n >= 0 && served[n] > l.now-time.Minute {
				o = limit.Refused
				refused++
				next++
				l.step(limit.Event{Kind: limit.Ask, ID: next, Retry: true})
			} else {
				served = append(served, l.now)
			}
			l.step(limit.Event{Kind: limit.Settle, ID: id, Outcome: o})
		}
	}
	assert.Greater(t, len(served), 2400, "of 3,000")
	assert.Less(t, refused, 800)
}

// A shared limiter asks once for all that wait, at the place of the first one, and anew once another goes
// before.
func TestASharedLimiterAsksAnewForACallThatGoesBefore(t *testing.T) {
	l := newLimiter(t, limit.Config{Shared: true})
	places := []time.Duration{}
	for id, turn := range []int64{5, 7, 2, 3, 0} {
		for _, e := range l.step(limit.Event{Kind: limit.Ask, ID: int64(id), Turn: turn}) {
			require.Equal(t, limit.Borrow, e.Kind)
			assert.Equal(t, int64(id)+1, e.Borrow.Calls)
			places = append(places, e.Borrow.Place)
		}
	}
	assert.Equal(t, []time.Duration{5 * time.Minute, 2 * time.Minute, 0}, places)
}

// toldOf is what a response says of a limit of so many calls a second.
func toldOf(n int64) *ratelimit.State {
	return &ratelimit.State{Windows: []ratelimit.Window{
		{Name: "requests_per_second", Resource: "requests", Limit: ratelimit.Of(n)},
	}}
}

// A call that was made before the limit became known and is refused after says nothing of the pace that is
// kept now.
func TestARefusalFromBeforeTheLimitWasKnownCutsNoPace(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 100)...)
	require.Equal(t, []int64{2}, l.until(510*time.Millisecond))
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: toldOf(1)})
	l.step(limit.Event{Kind: limit.Settle, ID: 2, Outcome: limit.Refused, Limits: toldOf(1)})
	assert.Len(t, l.until(61*time.Second), 59)
}

// Once a probe has found the provider back, calls are made at the limit that it told, and not faster.
func TestAfterAnOutageTheToldLimitIsKeptAtOnce(t *testing.T) {
	l := newLimiter(t, limit.Config{Failures: 1})
	l.ask(ids(1, 100)...)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: toldOf(10)})
	l.step(limit.Event{Kind: limit.Settle, ID: l.until(2 * time.Second)[0], Outcome: limit.Down})
	probe := l.until(4 * time.Second)
	require.Len(t, probe, 1)
	l.step(limit.Event{Kind: limit.Settle, ID: probe[0], Outcome: limit.Served, Limits: toldOf(10)})
	assert.Len(t, l.until(5*time.Second), 9, "a hundredth is left out")
}

// A provider that refuses every other call for a reason of its own slows them, but not without end.
func TestRefusalsThatNoPaceMendsLeaveACallNowAndThen(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 3000)...)
	var made []time.Duration
	for l.now < 12*time.Hour {
		for _, id := range l.until(l.now + time.Second) {
			made = append(made, l.now)
			l.settle([]limit.Outcome{limit.Served, limit.Refused}[len(made)%2], id)
		}
	}
	for n := 1; n < len(made); n++ {
		require.LessOrEqual(t, made[n]-made[n-1], 102*time.Second)
	}
}

// A limiter that is full lends nothing before its time: what is out may be settled before it is lost.
func TestNothingIsLentWhileAllThatMayBeAreOut(t *testing.T) {
	l := newLimiter(t, limit.Config{Concurrency: 1, Hold: time.Second, Windows: tenASecond.Windows})
	l.ask(1)
	l.step(limit.Event{Kind: limit.Ask, ID: 2, Shared: true, Calls: 3})
	l.now = time.Second - 10*time.Millisecond
	assert.Empty(t, l.step(limit.Event{Kind: limit.Tick}))
	l.now = time.Second
	fx := l.step(limit.Event{Kind: limit.Tick})
	require.Len(t, fx, 1)
	assert.Equal(t, int64(1), fx[0].Share.Calls)
}

// An open limiter lends all at once.
func TestAnOpenLimiterLendsAll(t *testing.T) {
	l := newLimiter(t, limit.Config{Open: true})
	fx := l.step(limit.Event{Kind: limit.Ask, ID: 1, Shared: true, Calls: 300})
	require.Len(t, fx, 1)
	assert.Equal(t, int64(300), fx[0].Share.Calls)
	assert.Zero(t, fx[0].Share.Every)
}

// Who goes before the queue is not denied for how long the queue is.
func TestACallThatGoesFirstIsNotDeniedForTheQueue(t *testing.T) {
	one := limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}}
	for name, ask := range map[string]limit.Event{
		"a higher priority": {Priority: 1}, "made again": {Retry: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(t, one)
			l.ask(ids(1, 41)...)
			ask.Kind, ask.ID, ask.Deadline = limit.Ask, 100, time.Unix(12, 0)
			require.Empty(t, l.step(ask), "it would wait 40s, if it went last")
			assert.Contains(t, l.until(3*time.Second), int64(100))

			low := newLimiter(t, limit.Config{Shared: true})
			low.ask(ids(1, 41)...)
			low.step(limit.Event{Kind: limit.Lent, Share: limit.Share{ID: 1, From: time.Unix(0, 0), Calls: 1, Queue: 40 * time.Second}})
			for _, e := range low.step(ask) {
				assert.NotEqual(t, limit.Deny, e.Kind)
			}
		})
	}
	l := newLimiter(t, one)
	l.ask(ids(1, 41)...)
	assert.Len(t, l.step(limit.Event{Kind: limit.Ask, ID: 100, Turn: 3, Deadline: time.Unix(12, 0)}), 1)
}

// Two asks of one number are one too many, whether the first one waits or is out.
func TestANumberThatWaitsIsInUse(t *testing.T) {
	l := newLimiter(t, limit.Config{Concurrency: 2, Windows: tenASecond.Windows})
	l.ask(1, 2, 3, 3, 4)
	l.settle(limit.Served, 1, 2)
	l.until(time.Second)
	assert.Contains(t, l.st.Out, int64(3))
	assert.Contains(t, l.st.Out, int64(4))
	l.settle(limit.Served, 3, 4)
	assert.Zero(t, l.st.InFlight)
}

// A deadline that no clock of nanoseconds reaches is none.
func TestADeadlineInTheFarFuture(t *testing.T) {
	l := newLimiter(t, tenASecond)
	fx := l.step(limit.Event{Kind: limit.Ask, ID: 1, Deadline: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
	assert.Equal(t, []int64{1}, granted(fx))
}

// The longer a refusal asks to wait, the longer the pace stays below the one that was refused.
func TestAfterALongRefusalTheRefusedPaceIsNotTried(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 50_000)...)
	for range 2 { // the search ends, and the limit is met
		got := l.until(l.now + 4*time.Second)
		l.step(limit.Event{
			Kind: limit.Settle, ID: got[len(got)-1], Outcome: limit.Refused,
			Limits: &ratelimit.State{RetryAfter: ratelimit.In(3 * time.Second)},
		})
	}
	knee := l.st.Knee
	l.until(l.now + 59*time.Second)
	assert.Equal(t, knee*19/20, l.st.Pace)
	l.until(l.now + 20*time.Second)
	assert.Greater(t, l.st.Pace, knee)
}

// A refusal that asks to wait for a day may have nothing to do with the pace: after an hour others are tried.
func TestARefusalOfADayBindsThePaceForAnHour(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 20_000)...)
	for range 2 {
		got := l.until(l.now + 1500*time.Millisecond)
		l.step(limit.Event{
			Kind: limit.Settle, ID: got[len(got)-1], Outcome: limit.Refused,
			Limits: &ratelimit.State{RetryAfter: ratelimit.In(24 * time.Hour)},
		})
	}
	knee := l.st.Knee
	l.until(l.now + 59*time.Minute)
	assert.Less(t, l.st.Pace, knee)
	l.until(l.now + 6*time.Minute)
	assert.Greater(t, l.st.Pace, knee)
}

// Calls that come one after the other, slower than the pace, do not raise it far above what is made: who
// comes all at once after that, as after an outage, would meet the limit many times over.
func TestAPaceThatNobodyNeedsDoesNotRise(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	id := int64(0)
	call := func(o limit.Outcome) {
		id++
		l.ask(id)
		l.settle(o, id)
	}
	for range 200 { // the limit is found
		call(limit.Served)
		l.until(l.now + 20*time.Millisecond)
	}
	call(limit.Refused)
	for range 20 * 600 {
		l.until(l.now + 50*time.Millisecond)
		call(limit.Served)
	}
	assert.Less(t, l.st.Pace, int64(60_000), "20 calls a second for ten minutes")
}

// Probes that find the provider down take nothing from its windows: the first answer after an outage tells a
// limit that is not used up.
func TestProbesTakeNothingFromAWindowThatIsNotKnownYet(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	ask := func(id int64) bool {
		return len(granted(l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: 100}))) == 1
	}
	for id := int64(1); id <= 3; id++ {
		require.True(t, ask(id))
		l.settle(limit.Down, id)
	}
	for id := int64(4); id < 50; id++ { // the breaker is open
		l.now += time.Second
		require.True(t, ask(id))
		l.settle(limit.Down, id)
	}
	l.now += time.Second
	require.True(t, ask(50))
	told := &ratelimit.State{Windows: []ratelimit.Window{{Name: "tokens_per_minute", Resource: "tokens",
		Limit: ratelimit.Of(1000), Remaining: ratelimit.Of(900), ResetsIn: ratelimit.In(6 * time.Second)}}}
	l.step(limit.Event{Kind: limit.Settle, ID: 50, Tokens: 100, Outcome: limit.Served, Limits: told})
	now := ask(51)
	l.step(limit.Event{Kind: limit.Ask, ID: 52, Tokens: 100})
	assert.True(t, now)
	assert.Equal(t, []int64{52}, l.until(l.now+7*time.Second), "a call in six seconds")
}

// A refusal is excused if no limit is known, others wait, and the call was not refused before, also by the
// processes that share a limiter.
func TestTheFirstRefusalOfACallIsExcusedWhileOthersWait(t *testing.T) {
	ask := func(st limit.State, id int64, retry bool) (limit.State, []limit.Effect) {
		return limit.Step(st, limit.Event{Kind: limit.Ask, ID: id, At: time.Unix(100, 0), Retry: retry})
	}
	tick := func(st limit.State) (limit.State, []limit.Effect) {
		return limit.Step(st, limit.Event{Kind: limit.Tick, At: time.Unix(200, 0)})
	}
	known := limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}}
	for name, c := range map[string]struct {
		config limit.Config
		retry  bool
		waits  int
		lent   limit.Share
		want   bool
	}{
		"others wait":               {waits: 3, want: true},
		"nobody waits":              {waits: 1},
		"it was refused":            {waits: 3, retry: true},
		"the limit is known":        {config: known, waits: 3},
		"no pace is kept":           {config: limit.Config{Open: true}, waits: 3},
		"above, others wait":        {config: limit.Config{Shared: true}, waits: 2, lent: limit.Share{Calls: 1, Excused: true}, want: true},
		"above, nobody waits":       {config: limit.Config{Shared: true}, waits: 2, lent: limit.Share{Calls: 1}},
		"above, but it was refused": {config: limit.Config{Shared: true}, waits: 1, retry: true, lent: limit.Share{Calls: 1, Excused: true}},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := limit.New(c.config)
			require.NoError(t, err)
			st, _ = ask(st, 1, false) // its end tells nothing
			for n := range c.waits {
				st, _ = ask(st, int64(n)+2, c.retry)
			}
			if c.lent.Calls > 0 {
				st, _ = limit.Step(st, limit.Event{Kind: limit.Leave, IDs: []int64{1}, At: time.Unix(100, 0)})
				c.lent.From = time.Unix(200, 0)
				st, _ = limit.Step(st, limit.Event{Kind: limit.Lent, Share: c.lent, At: time.Unix(100, 0)})
			}
			_, fx := tick(st)
			if c.config.Open {
				assert.Empty(t, fx, "all were granted")
				return
			}
			require.NotEmpty(t, fx)
			assert.Equal(t, limit.Grant, fx[0].Kind)
			assert.Equal(t, c.want, fx[0].Share.Excused)
		})
	}
}

// A call that was refused is made again once calls are served, or once the refusal's wait is over: after a
// minute at most.
func TestACallThatWasRefusedWaitsForOthersToBeServed(t *testing.T) {
	at := time.Unix(1000, 0)
	for asks, after := range map[time.Duration]time.Duration{20 * time.Second: 20 * time.Second, 8 * time.Hour: time.Minute} {
		st, err := limit.New(limit.Config{})
		require.NoError(t, err)
		for id := range int64(2) {
			st, _ = limit.Step(st, limit.Event{Kind: limit.Ask, ID: id + 1, At: at.Add(time.Duration(id) * 5 * time.Second)})
		}
		at := at.Add(6 * time.Second)
		st, fx := limit.Step(st, limit.Event{Kind: limit.Tick, At: at})
		require.Empty(t, fx, "both were granted")
		limits := &ratelimit.State{Limited: true, RetryAfter: ratelimit.In(asks)}
		st, _ = limit.Step(st, limit.Event{Kind: limit.Settle, ID: 2, At: at, Outcome: limit.Refused, Limits: limits})
		st, _ = limit.Step(st, limit.Event{Kind: limit.Ask, ID: 3, At: at, Retry: true})
		next, waits := st.Next()
		require.True(t, waits)
		assert.Equal(t, after, next.Sub(at))
		st, _ = limit.Step(st, limit.Event{Kind: limit.Ask, ID: 4, At: at})
		st, _ = limit.Step(st, limit.Event{Kind: limit.Tick, At: at.Add(10 * time.Second)})
		st, _ = limit.Step(st, limit.Event{Kind: limit.Settle, ID: 4, At: at.Add(11 * time.Second), Outcome: limit.Served})
		st, _ = limit.Step(st, limit.Event{Kind: limit.Tick, At: at.Add(15 * time.Second)})
		assert.Zero(t, st.Waiting())
	}
}
