package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

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
