package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

// alone makes calls one after the other, each of which takes some time, and returns when each began.
func (l *limiter) alone(calls int, tokens int64, takes time.Duration, said func(n int) *ratelimit.State) (begun []time.Duration) {
	for n := range calls {
		id := int64(l.now) + int64(n)<<50 + 1
		if len(granted(l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: tokens}))) == 0 {
			for len(l.until(l.now+time.Millisecond)) == 0 {
				require.Less(l.t, l.now, time.Hour)
			}
		}
		begun = append(begun, l.now)
		l.now += takes
		l.step(limit.Event{Kind: limit.Settle, ID: id, Tokens: tokens, Outcome: limit.Served, Limits: said(n)})
	}
	return begun
}

func nothing(int) *ratelimit.State { return nil }

// tokensLeft is a response of a provider that allows 100,000 tokens a minute.
func tokensLeft(left int64) *ratelimit.State {
	return &ratelimit.State{Windows: []ratelimit.Window{
		{Name: "tokens_per_minute", Resource: "tokens", Limit: ratelimit.Of(100_000), Remaining: ratelimit.Of(left)},
		{Name: "requests_per_minute", Resource: "requests", Limit: ratelimit.Of(1000), Remaining: ratelimit.Of(999)},
	}}
}

func TestALoneUserMayUseWhatTheProviderSaysIsLeft(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	begun := l.alone(6, 20_000, 2*time.Second, func(n int) *ratelimit.State { return tokensLeft(int64(80_000 - n*20_000)) })
	assert.Equal(t, 8*time.Second, begun[4], "five calls fit, and none waits")
	assert.InDelta(t, 60, begun[5].Seconds(), 1, "from then on it is the pace of the window")
}

func TestALoneUserMayUseAKnownWindow(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "tokens", Limit: 102_000, Period: time.Minute}}})
	begun := l.alone(6, 20_000, 2*time.Second, nothing)
	assert.Equal(t, 8*time.Second, begun[4])
	assert.InDelta(t, 60, begun[5].Seconds(), 2)
}

func TestALoneUserOfAProviderThatTellsNothingNeverWaits(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	begun := l.alone(500, 1000, 10*time.Millisecond, nothing)
	assert.Equal(t, 4990*time.Millisecond, begun[499])
	fx := l.ask(ids(1, 100)...)
	assert.LessOrEqual(t, len(fx)+len(l.until(l.now+time.Second)), 300, "who comes then is paced by what was seen")
}

// Who is alone may go beyond a pace that was refused, which says nothing of what a crowd may do.
func TestALoneUserRaisesNoPaceThatWasRefused(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 50)...)
	last := l.until(time.Second)
	l.settle(limit.Refused, last[len(last)-1])
	l.step(limit.Event{Kind: limit.Leave, IDs: ids(1, 50)})
	l.settle(limit.Unused, ids(1, 50)...)
	l.now += 2 * time.Minute
	knee := l.st.Knee
	l.alone(50, 0, 20*time.Millisecond, nothing)
	assert.Less(t, l.st.Pace, knee*11/10)
}

func TestWhatAnotherUserTookIsNotLeft(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	begun := l.alone(2, 20_000, 2*time.Second, func(int) *ratelimit.State { return tokensLeft(10_000) })
	assert.InDelta(t, 12, begun[1].Seconds(), 1)
}

// What a response says is left may not know of the calls that were granted after its own.
func TestCallsInFlightAreNotLeft(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	ask := func(id int64) bool {
		return len(granted(l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: 20_000}))) > 0
	}
	settle := func(id, left int64) {
		l.now += time.Second
		l.step(limit.Event{Kind: limit.Settle, ID: id, Tokens: 20_000, Outcome: limit.Served, Limits: tokensLeft(left)})
	}
	require.True(t, ask(1))
	settle(1, 80_000)
	require.True(t, ask(2))
	require.True(t, ask(3))
	require.True(t, ask(4))
	settle(2, 60_000)
	require.True(t, ask(5), "60,000 less those of 3 and 4")
	require.False(t, ask(6), "and those of 5")
}

func TestACrowdIsSpreadAndDoesNotBurst(t *testing.T) {
	l := newLimiter(t, limit.Config{})
	l.ask(ids(1, 1000)...)
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Outcome: limit.Served, Limits: &ratelimit.State{Windows: []ratelimit.Window{
		{Name: "requests_per_second", Resource: "requests", Limit: ratelimit.Of(20), Remaining: ratelimit.Of(19)},
	}}})
	assert.LessOrEqual(t, len(l.until(100*time.Millisecond)), 2)
}

// A refusal says that the count was wrong: from then on calls are spread, for a minute.
func TestAfterARefusalTheLoneUserIsSpread(t *testing.T) {
	l := newLimiter(t, tenASecond)
	l.now = time.Second
	l.ask(ids(1, 3)...)
	l.settle(limit.Refused, 3)
	l.now += 10 * time.Second
	require.Equal(t, []int64{4}, l.ask(4))
	require.Empty(t, l.ask(5))
	l.settle(limit.Served, 1, 2, 4)
	l.now += 2 * time.Minute
	l.until(l.now)
	l.settle(limit.Served, 5)
	assert.Equal(t, ids(6, 10), l.ask(ids(6, 10)...))
}

// What was lent for the next quarter of a window does not make room in this one.
func TestWhatIsLentAheadIsNoRoom(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 3, Period: time.Second}}})
	l.now = 490 * time.Millisecond
	require.Len(t, l.ask(1, 2, 3), 3)
	l.settle(limit.Served, 1, 2, 3)
	l.ask(4, 5)
	l.now = 1460 * time.Millisecond
	l.step(limit.Event{Kind: limit.Ask, ID: 6, Shared: true})
	l.step(limit.Event{Kind: limit.Leave, IDs: []int64{4, 5}})
	assert.Empty(t, l.ask(7), "four in a second")
}

// What a call did not use of its estimate is room in its own minute, and not in a later one.
func TestWhatALongCallLeavesIsNoRoomForLaterOnes(t *testing.T) {
	l := newLimiter(t, limit.Config{Windows: []limit.Window{
		{Resource: "tokens", Limit: 100_000, Period: time.Minute}, {Resource: "requests", Limit: 100, Period: time.Second},
	}})
	ask := func(id, tokens int64) bool {
		return len(granted(l.step(limit.Event{Kind: limit.Ask, ID: id, Tokens: tokens}))) > 0
	}
	require.True(t, ask(1, 80_000))
	l.now = 80 * time.Second
	require.True(t, ask(9, 1))
	l.step(limit.Event{Kind: limit.Settle, ID: 1, Tokens: 1000, Outcome: limit.Served})
	calls := 0
	for ask(int64(calls)+2, 30_000) {
		calls++
	}
	assert.LessOrEqual(t, calls*int(30_000*l.st.Usage/1_000_000), 100_000)
}
