package limit_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
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
		ProbeEvery: time.Second, GiveUp: time.Hour,
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

// Each reason to deny a call is said in words, wherever it is told.
func TestReasonsAreExplained(t *testing.T) {
	for _, why := range []limit.Why{limit.TooLate, limit.TooMany, limit.NotUp, limit.DownTooLong, limit.Twice} {
		assert.NotEqual(t, string(why), why.Explain(0, 0))
	}
	assert.Equal(t, "the call would wait 40s, and 12s are left", limit.TooLate.Explain(40*time.Second, 12*time.Second))
	assert.Equal(t, "moon", limit.Why("moon").Explain(0, 0), "of a later version")
}
