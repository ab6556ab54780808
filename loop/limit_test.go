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
	"github.com/retake-go/retake/loop/observe"
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
	// silent reports that it tells no limit.
	silent bool

	mu                  sync.Mutex
	begun               time.Time
	calls, refused, bad int
	inSecond            map[int64]int
}

func newServer(perSecond int) *server {
	return &server{perSecond: perSecond, begun: time.Now(), inSecond: map[int64]int{}}
}

// quick is how long it takes to refuse a call.
const quick = 50 * time.Millisecond

// Reply serves a call in a second.
func (s *server) Reply(ctx context.Context, _ loop.Request) (message.Reply, error) {
	s.mu.Lock()
	s.calls++
	now := time.Since(s.begun)
	if now >= s.from && now < s.to {
		s.bad++
		s.mu.Unlock()
		time.Sleep(quick)
		return message.Reply{}, &fault.TransportError{Class: fault.Unavailable, Cause: errors.New("503")}
	}
	s.inSecond[int64(now/time.Second)]++
	full := s.inSecond[int64(now/time.Second)] > s.perSecond
	if full {
		s.refused++
	}
	s.mu.Unlock()
	if !s.silent {
		ratelimit.Tell(ctx, ratelimit.Response{
			Status: 200, Headers: map[string][]string{"X-Ratelimit-Limit-Requests-Per-Second": {fmt.Sprint(s.perSecond)}}, At: time.Now(),
		})
	}
	if full {
		time.Sleep(quick)
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
		lost := crowd(t, 50, s, loop.WithLimiter(nil))
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

// Nobody has said a word of limits to these pools.
func TestAPoolHasABrakeByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		runs, perSecond int
		from, to        time.Duration
		within          time.Duration
	}{
		"more runs than the provider serves": {runs: 50, perSecond: 5, within: 20 * time.Second},
		"many more":                          {runs: 300, perSecond: 2, within: 170 * time.Second},
		"down from the start":                {runs: 300, perSecond: 50, to: time.Minute, within: 80 * time.Second},
		"down after some calls": {runs: 300, perSecond: 50, from: 2 * time.Second, to: time.Minute,
			within: 80 * time.Second},
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", silent: ", silent), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer(c.perSecond)
					s.from, s.to, s.silent = c.from, c.to, silent
					assert.Zero(t, crowd(t, c.runs, s))
					assert.Less(t, time.Since(s.begun), c.within)
					assert.LessOrEqual(t, s.refused, 2*c.runs, "each twice, at the most")
				})
			})
		}
	}
}

// The limiter begins with one call a second, but that is no reason to end the hundredth of a crowd.
func TestADeadlineIsNotHeldAgainstAPaceThatStillDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, lost := newServer(1_000_000), 0
		s.silent = true
		p, told := pooled(t, loop.PoolConfig{Model: s, Options: []loop.Option{loop.WithLimiter(newLimiter(t, limiter.Config{}))}})
		for range 200 {
			_, err := p.Add(newSession(t), loop.Input{Prompt: "go", Deadline: time.Now().Add(30 * time.Second)})
			require.NoError(t, err)
		}
		require.NoError(t, p.Run(t.Context(), 200))
		for _, end := range told() {
			if end.err != nil {
				lost++
			}
		}
		assert.Zero(t, lost)
	})
}

// What every session meets once, and not the second time, is no limit and no outage.
func TestAPoolIsNotSlowedByWhatEverySessionMeetsOnce(t *testing.T) {
	for _, class := range []fault.Class{fault.RateLimit, fault.Overloaded} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			met := map[string]bool{}
			model := loop.ModelFunc(func(_ context.Context, r loop.Request) (message.Reply, error) {
				mu.Lock()
				defer mu.Unlock()
				if !met[r.Session] {
					met[r.Session] = true
					return message.Reply{}, &fault.ProviderError{Class: class, RetryAfter: 10 * time.Second}
				}
				return looptest.Say("Done.").Reply, nil
			})
			begun := time.Now()
			assert.Zero(t, crowd(t, 1000, model))
			assert.Less(t, time.Since(begun), 16*time.Second, "the wait that is asked for, with its jitter")
		})
	}
}

// A wrong address, say: the runs end, although nobody set a deadline.
func TestAProviderThatIsNeverUpHoldsNoPoolForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(5)
		s.to = 24 * time.Hour
		assert.Equal(t, 50, crowd(t, 50, s))
		assert.Less(t, time.Since(s.begun), 12*time.Minute)
		assert.Less(t, s.bad, 50+12*60, "a probe a second")
	})
}

// A grant that is given at once is written with the decision that asked for it.
func TestAGrantCostsNoWriteOfItsOwn(t *testing.T) {
	written := func(opts ...loop.Option) (writes, grants int) {
		j := roughly(t, func() { writes++ })
		opts = append(opts, observes(func(n observe.Notice) {
			if n.Kind == observe.Granted {
				grants++
			}
		}))
		p, told := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say(""), looptest.Say("Done.")), Options: opts})
		s, err := session.New(session.Config{ID: "order-42", Journal: j})
		require.NoError(t, err)
		_, err = p.Add(s, loop.Input{Prompt: "go"})
		require.NoError(t, err)
		require.NoError(t, p.Run(t.Context(), 1))
		require.NoError(t, told()[0].err)
		require.NoError(t, j.Close())
		return writes, grants
	}
	alone, _ := written(loop.WithLimiter(nil))
	limited, grants := written()
	assert.Equal(t, 2, grants)
	assert.Equal(t, alone, limited)
}

// hasty is a clock of which no two readings are equal.
type hasty struct{ *looptest.Clock }

func (h hasty) Now() time.Time { h.Add(time.Microsecond); return h.Clock.Now() }

func TestAGrantThatIsGivenAtOnceWasNotWaitedFor(t *testing.T) {
	granted := 0
	c := hasty{looptest.NewClock()}
	p, _ := pooled(t, loop.PoolConfig{Model: looptest.NewModel(looptest.Say("Done.")), Options: []loop.Option{
		loop.WithClock(c), observes(func(n observe.Notice) {
			if n.Kind == observe.Granted {
				granted++
				assert.Zero(t, n.Grant.Waited)
			}
		}),
	}})
	_, err := p.Add(newSession(t), loop.Input{Prompt: "go"})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context(), 1))
	assert.Equal(t, 1, granted)
}

// What a run did before it waits for the limiter is written before it waits.
func TestARunThatWaitsForAGrantHasWrittenWhatItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Minute}}}})
		store := new(looptest.Store)
		j, err := journal.Open(t.Context(), store, "order-42", journal.Settings{})
		require.NoError(t, err)
		s, err := session.New(session.Config{ID: "order-42", Journal: j})
		require.NoError(t, err)
		_, err = l.Acquire(t.Context(), limiter.Ask{Scope: "order-42"})
		require.NoError(t, err)
		run, err := loop.New(newServer(100), loop.Config{}, loop.WithLimiter(l), loop.WithScope(func(r loop.Request) string { return r.Session }))
		require.NoError(t, err)
		over := make(chan error, 1)
		go func() {
			_, err := run.Run(t.Context(), s, loop.Input{Prompt: "go"})
			over <- err
		}()
		synctest.Wait()
		assert.Contains(t, string(store.Text("order-42")), `"kind":"grant"`)
		require.NoError(t, <-over)
	})
}

func TestAPoolIsNotSlowedByItsBrake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(1_000_000)
		s.silent = true
		assert.Zero(t, crowd(t, 1000, s))
		assert.Equal(t, time.Second, time.Since(s.begun), "a call takes a second")
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
		_, err = journal.Replay(bytes.NewReader(store.Text("tenant")), nil)
		require.NoError(t, err)
		var shown bytes.Buffer
		require.NoError(t, report.Text(&shown, bytes.NewReader(store.Text("tenant")), report.Style{}))
		assert.Contains(t, shown.String(), "limiter: granted, after 1.0")
		assert.Contains(t, shown.String(), "(tenant)")
	})
}
