package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/ratelimit"
)

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
