package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

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
