package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

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
