package limiter_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// Three calls of a program that may make one each second.
func Example() {
	c := clock.NewMock()
	l, err := limiter.New(limiter.Config{
		Clock: c, Limit: limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: 1, Period: time.Second}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	begun := c.Now()
	for range 3 {
		granted := make(chan limiter.Answer, 1)
		a, known := l.Ask(limiter.Ask{Scope: "search-api"}, func(a limiter.Answer) { granted <- a })
		for !known {
			next, _ := l.Next()
			c.Set(next)
			a, known = <-granted, true
		}
		fmt.Println("called after", c.Since(begun).Round(10*time.Millisecond))
		l.Settle(a.Grant, limiter.Use{Outcome: limit.Served})
	}
	// Output:
	// called after 0s
	// called after 1.01s
	// called after 2.02s
}

func newLimiter(t testing.TB, c limiter.Config) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(c)
	require.NoError(t, err)
	return l
}

func TestFaultsOfAConfigAreToldAtOnce(t *testing.T) {
	_, err := limiter.New(limiter.Config{
		Limit: limit.Config{Start: -1}, Scopes: map[string]limit.Config{"a": {Concurrency: -1}}, MaxWait: -1, Processes: -1,
	})
	for _, part := range []string{"limit.start: -1 is", "scopes.a.concurrency: -1 is", "max_wait: -1ns is", "processes: -1 is"} {
		require.ErrorContains(t, err, part)
	}
}

func TestNobodyWaitsLongerThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := limiter.Config{MaxWait: time.Minute, Limit: limit.Config{Failures: 1, ProbeEvery: time.Hour}}
		l := newLimiter(t, c)
		grant, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.NoError(t, err)
		waits := make(chan error, 1)
		go func() {
			_, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
			waits <- err
		}()
		time.Sleep(400 * time.Millisecond)
		l.Settle(grant, limiter.Use{Outcome: limit.Down})
		require.EqualError(t, <-waits, "limiter: a: no grant came in time")
		begun := time.Now()
		_, err = l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.ErrorIs(t, err, limiter.ErrDenied)
		assert.Zero(t, time.Since(begun), "it would wait for longer, which is known at once")
		_, err = l.Acquire(t.Context(), limiter.Ask{Scope: "a", UnlessDown: true})
		require.ErrorContains(t, err, "the provider is down")
	})
}

func TestWhoLeavesTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Limit: limit.Config{Concurrency: 1, Start: 1000}})
		grant, err := l.Acquire(t.Context(), limiter.Ask{})
		require.NoError(t, err)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		for range 1000 { // many, which leave together
			go func() { _, _ = l.Acquire(ctx, limiter.Ask{}) }()
		}
		synctest.Wait()
		<-ctx.Done()
		synctest.Wait()
		l.Settle(grant, limiter.Use{Outcome: limit.Served})
		begun := time.Now()
		_, err = l.Acquire(t.Context(), limiter.Ask{})
		require.NoError(t, err)
		assert.Less(t, time.Since(begun), 500*time.Millisecond)
	})
}

func TestScopesThatNobodyUsesAreForgotten(t *testing.T) {
	c := clock.NewMock()
	l := newLimiter(t, limiter.Config{Clock: c})
	for n := range 30_000 {
		a, known := l.Ask(limiter.Ask{Scope: fmt.Sprint(n)}, nil)
		require.True(t, known)
		l.Settle(a.Grant, limiter.Use{Outcome: limit.Served})
	}
	assert.LessOrEqual(t, len(l.Scopes()), 10_000)
	c.Add(time.Hour)
	l.Ask(limiter.Ask{Scope: "new"}, nil)
	assert.Len(t, l.Scopes(), 1)
}

// ticking is a clock that goes on by two microseconds whenever it is read.
type ticking struct{ micros atomic.Int64 }

func (c *ticking) Now() time.Time { return time.UnixMicro(c.micros.Add(2)) }

func (*ticking) After(time.Duration) <-chan time.Time { return nil }

// granting returns a function that asks for a call, which is granted at once, and settles it.
func granting(t testing.TB) func() {
	l := newLimiter(t, limiter.Config{Clock: new(ticking), Limit: limit.Config{
		Windows: []limit.Window{{Resource: "requests", Limit: 1 << 40, Period: time.Second}},
	}})
	return func() {
		a, known := l.Ask(limiter.Ask{Scope: "a", Tokens: 100}, nil)
		if !known {
			t.Fatal("it is granted at once")
		}
		l.Settle(a.Grant, limiter.Use{Outcome: limit.Served})
	}
}

func BenchmarkGrant(b *testing.B) {
	grant := granting(b)
	b.ReportAllocs()
	for b.Loop() {
		grant()
	}
}

func TestAGrantIsOneAllocation(t *testing.T) {
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, granting(t)), 1.0)
}

// What a limiter keeps is what waits and what is in flight: sessions that are gone leave nothing.
func TestSessionsThatAreGoneLeaveNothingInALimiter(t *testing.T) {
	l := newLimiter(t, limiter.Config{Clock: new(ticking), Limit: limit.Config{
		Concurrency: 1, Windows: []limit.Window{{Resource: "requests", Limit: 1 << 40, Period: time.Second}},
	}})
	see := func(sessions int) (kept uint64) {
		for range sessions / 2 { // one is granted a call, and one waits for its end
			var waited limiter.Answer
			a, known := l.Ask(limiter.Ask{Scope: "a", Tokens: 100}, nil)
			_, waits := l.Ask(limiter.Ask{Scope: "a", Tokens: 100}, func(b limiter.Answer) { waited = b })
			if !known || waits {
				t.Fatal("one call at a time")
			}
			l.Settle(a.Grant, limiter.Use{Outcome: limit.Served})
			l.Settle(waited.Grant, limiter.Use{Outcome: limit.Served})
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := see(1000)
	assert.Less(t, see(200_000), few+1<<18, "a word for each session would be six times as much")
	runtime.KeepAlive(l)
}
