package limit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
)

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

// A deadline that no clock of nanoseconds reaches is none.
func TestADeadlineInTheFarFuture(t *testing.T) {
	l := newLimiter(t, tenASecond)
	fx := l.step(limit.Event{Kind: limit.Ask, ID: 1, Deadline: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
	assert.Equal(t, []int64{1}, granted(fx))
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
