package loop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/machine"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/report"
	"github.com/retake-go/retake/session"
)

// server is a provider that serves so many calls in a second, tells it, and is down for a time.
type server struct {
	perSecond int
	from, to  time.Duration

	mu                  sync.Mutex
	begun               time.Time
	calls, refused, bad int
	inSecond            map[int64]int
}

func newServer(perSecond int) *server {
	return &server{perSecond: perSecond, begun: time.Now(), inSecond: map[int64]int{}}
}

// Reply serves a call in a second.
func (s *server) Reply(ctx context.Context, _ loop.Request) (message.Reply, error) {
	s.mu.Lock()
	s.calls++
	now := time.Since(s.begun)
	if now >= s.from && now < s.to {
		s.bad++
		s.mu.Unlock()
		return message.Reply{}, &fault.TransportError{Class: fault.Unavailable, Cause: errors.New("503")}
	}
	s.inSecond[int64(now/time.Second)]++
	full := s.inSecond[int64(now/time.Second)] > s.perSecond
	if full {
		s.refused++
	}
	s.mu.Unlock()
	ratelimit.Tell(ctx, ratelimit.Response{
		Status: 200, Headers: map[string][]string{"X-Ratelimit-Limit-Requests-Per-Second": {fmt.Sprint(s.perSecond)}}, At: time.Now(),
	})
	if full {
		return message.Reply{}, &fault.TransportError{Class: fault.RateLimit, Cause: errors.New("429")}
	}
	time.Sleep(time.Second)
	return message.Reply{Text: "done", Usage: message.Usage{InputTokens: 100, OutputTokens: 10}}, nil
}

func newLimiter(t *testing.T, c limiter.Config) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(c)
	require.NoError(t, err)
	return l
}

// crowd runs n sessions in a pool, and returns how many did not end well.
func crowd(t *testing.T, n int, m loop.Model, opts ...loop.Option) (lost int) {
	var mu sync.Mutex
	p, err := loop.NewPool(loop.PoolConfig{
		Model: m, Options: opts, Done: func(_ *session.Session, _ loop.Result, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				lost++
			}
		},
	})
	require.NoError(t, err)
	for range n {
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		_, err = p.Add(s, loop.Input{Prompt: "go"})
		require.NoError(t, err)
	}
	require.NoError(t, p.Run(t.Context(), n))
	return lost
}

func TestFiftyRunsAgainstFiveRequestsASecondLoseNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5)
		lost := crowd(t, 50, s)
		assert.Greater(t, lost, 5, "without a limiter")
	})
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5)
		assert.Zero(t, crowd(t, 50, s, loop.WithLimiter(newLimiter(t, limiter.Config{}))))
		assert.Equal(t, 50, s.calls)
		assert.Zero(t, s.refused)
		assert.Less(t, time.Since(s.begun), 14*time.Second)
	})
}

func TestThreeHundredSessionsAgainstTwoRequestsASecondLoseNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(2)
		assert.Zero(t, crowd(t, 300, s, loop.WithLimiter(newLimiter(t, limiter.Config{}))))
		assert.LessOrEqual(t, s.refused, 300/50)
		assert.Less(t, time.Since(s.begun), 160*time.Second)
	})
}

// Runs of one session after the other are as fast as the provider.
func TestALoneSessionIsNotSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l := newServer(100), newLimiter(t, limiter.Config{})
		for range 20 {
			assert.Zero(t, crowd(t, 1, s, loop.WithLimiter(l)))
		}
		assert.Equal(t, 20*time.Second, time.Since(s.begun), "a call takes a second")
	})
}

func TestUrgentSessionsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		p, err := loop.NewPool(loop.PoolConfig{
			Model: newServer(1), Done: func(s *session.Session, _ loop.Result, _ error) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, s.ID())
			},
			Options: []loop.Option{
				loop.WithLimiter(newLimiter(t, limiter.Config{Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}}})),
				loop.WithPriority(func(session string) int {
					if session == "urgent" {
						return 1
					}
					return 0
				}),
			},
		})
		require.NoError(t, err)
		for _, id := range []string{"a", "b", "c", "urgent"} {
			s, err := session.New(session.Config{ID: id})
			require.NoError(t, err)
			_, err = p.Add(s, loop.Input{Prompt: "go"})
			require.NoError(t, err)
		}
		require.NoError(t, p.Run(t.Context(), 4))
		require.Len(t, order, 4)
		assert.Contains(t, order[:2], "urgent", "the first one was called before it asked")
	})
}

func TestAProviderThatIsDownForAMinuteCostsNobodyHisRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5)
		s.from, s.to = 5*time.Second, 65*time.Second
		assert.Zero(t, crowd(t, 50, s, loop.WithLimiter(newLimiter(t, limiter.Config{}))))
		assert.LessOrEqual(t, s.bad, 5+60, "those in flight, and a probe a second")
	})
}

func TestAWaitBeyondTheDeadlineEndsTheRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Minute}}}})
		run, err := loop.New(newServer(100), loop.Config{}, loop.WithLimiter(l))
		require.NoError(t, err)
		_, err = run.Run(t.Context(), nil, loop.Input{Prompt: "one"})
		require.NoError(t, err)
		begun := time.Now()
		_, err = run.Run(t.Context(), nil, loop.Input{Prompt: "two", Deadline: begun.Add(12 * time.Second)})
		require.ErrorIs(t, err, policy.ReasonDeadline)
		exhausted, is := errors.AsType[*loop.RetryExhaustedError](err)
		require.True(t, is)
		assert.Equal(t, 12*time.Second, exhausted.Detail.Room)
		assert.Greater(t, exhausted.Detail.Wait, 55*time.Second)
		assert.Empty(t, exhausted.Attempts, "no attempt was made")
		assert.Zero(t, time.Since(begun), "at once")
		require.ErrorIs(t, err, limiter.ErrDenied)
	})
}

func TestAPlannerSwitchesAwayFromAProviderThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Failures: 1}})
		down, spare := newServer(5), newServer(5)
		down.to = time.Hour
		asked := 0
		plan := planner.PlannerFunc(func(context.Context, planner.Question) (machine.Plan, error) {
			asked++
			return machine.Plan{Do: machine.Fallback, Model: "spare"}, nil
		})
		run, err := loop.New(down, loop.Config{Consult: []fault.Class{fault.Unavailable}}, loop.WithLimiter(l), loop.WithPlanner(plan),
			loop.WithModels(map[string]loop.Model{"spare": spare}))
		require.NoError(t, err)
		for range 3 {
			_, err = run.Run(t.Context(), nil, loop.Input{Prompt: "go"})
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, down.calls, 3)
		assert.Equal(t, 3, spare.calls)
		assert.Equal(t, 3, asked)
	})
}

// anyClock is a clock of a type that cannot be compared.
type anyClock struct {
	*looptest.Clock
	_ []int
}

func TestALimiterHasTheClockOfItsRuns(t *testing.T) {
	own, other := looptest.NewClock(), looptest.NewClock()
	for _, c := range []struct {
		name      string
		run, l    loop.Clock
		different bool
	}{
		{"both of the machine", nil, nil, false},
		{"the machine's, said", clock.New(), nil, false},
		{"one", own, own, false},
		{"of a kind that cannot be compared", anyClock{Clock: own}, anyClock{Clock: own}, false},
		{"two", own, other, true},
		{"of the runs alone", own, nil, true},
		{"of the limiter alone", nil, own, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := []loop.Option{loop.WithClock(c.run), loop.WithLimiter(newLimiter(t, limiter.Config{Clock: c.l}))}
			_, err := loop.New(newServer(1), loop.Config{}, opts...)
			if !c.different {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "WithLimiter: the limiter has the clock")
			_, err = loop.NewPool(loop.PoolConfig{Model: newServer(1), Options: opts})
			require.ErrorContains(t, err, "give limiter.Config.Clock and WithClock the same one")
		})
	}
}

func TestDoTakesFromTheLimitsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}}})
		begun := time.Now()
		for range 3 {
			_, err := loop.Do(t.Context(), nil, loop.ToolCall("search"), func(context.Context, loop.Attempt) (int, error) { return 1, nil },
				loop.WithLimiter(l))
			require.NoError(t, err)
		}
		assert.GreaterOrEqual(t, time.Since(begun), 2*time.Second)
	})
}

func TestAJournalOfGrantsIsReplayedWithoutALimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}}})
		run, err := loop.New(newServer(100), loop.Config{}, loop.WithLimiter(l), loop.WithScope(func(req loop.Request) string { return req.Session }))
		require.NoError(t, err)
		store := new(looptest.Store)
		j, err := journal.Open(t.Context(), store, "tenant", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "tenant", Journal: j})
		require.NoError(t, err)
		for _, prompt := range []string{"one", "two"} {
			_, err = l.Acquire(t.Context(), limiter.Ask{Scope: "tenant"})
			require.NoError(t, err)
			_, err = run.Run(t.Context(), s, loop.Input{Prompt: prompt})
			require.NoError(t, err)
		}
		require.NoError(t, j.Close())
		_, err = journal.Replay(bytes.NewReader(store.Text("tenant")), journal.Replaying{})
		require.NoError(t, err)
		var shown bytes.Buffer
		require.NoError(t, report.Text(&shown, bytes.NewReader(store.Text("tenant")), report.Style{}))
		assert.Contains(t, shown.String(), "limiter: granted, after 1.0")
		assert.Contains(t, shown.String(), "(tenant)")
	})
}
