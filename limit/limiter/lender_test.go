package limiter_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// faulty is a store with faults that a test sets.
type faulty struct {
	limiter.Store
	faults atomic.Pointer[faults]
}

type faults struct {
	load, swap error
	// value is what it answers instead of the record; nil for the record.
	value []byte
}

func newFaulty() *faulty {
	f := &faulty{Store: newMemory()}
	f.faults.Store(&faults{})
	return f
}

func (f *faulty) Load(ctx context.Context, scope string) (limiter.Record, error) {
	r, err := f.Store.Load(ctx, scope)
	now := f.faults.Load()
	if now.value != nil {
		r.Value = now.value
	}
	return r, errors.Join(err, now.load)
}

func (f *faulty) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	if err := f.faults.Load().swap; err != nil {
		return false, err
	}
	return f.Store.Swap(ctx, scope, version, value)
}

// perSecond is a limit of so many calls in a second.
func perSecond(n int64) limit.Config {
	return limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: n, Period: time.Second}}}
}

// acquire makes a call that ends so.
func acquire(t *testing.T, l *limiter.Limiter, end limit.Outcome) limiter.Grant {
	t.Helper()
	g, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
	require.NoError(t, err)
	l.Settle(g, limiter.Use{Outcome: end})
	return g
}

// A store that answers nonsense, or that can be read and not written, is lost until it can be used: it is
// said once, and each process keeps to its part meanwhile.
func TestAStoreThatCannotBeUsedIsLostOnce(t *testing.T) {
	for name, fault := range map[string]faults{
		"it cannot be reached":          {load: errors.New("no route")},
		"it cannot be written":          {swap: errors.New("read-only")},
		"its record is no JSON":         {value: []byte("OK")},
		"its record is null":            {value: []byte("null")},
		"its record is empty":           {value: []byte("{}")},
		"its record is of another kind": {value: []byte(`{"state": {"config": {"parts": -1}}}`)},
		"its record has a broken window": {
			value: []byte(`{"state": {"config": {}, "windows": [{"resource": "requests", "limit": 5}]}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told notices
				store := newFaulty()
				l := newLimiter(t, limiter.Config{
					Store: store, Limit: perSecond(10), Processes: 2,
					Notice: told.add,
				})
				acquire(t, l, limit.Served)
				time.Sleep(time.Second)
				store.faults.Store(&fault)
				begun := time.Now()
				for range 200 {
					acquire(t, l, limit.Served)
				}
				took := time.Since(begun)
				synctest.Wait()
				assert.Equal(t, []limiter.NoticeKind{limiter.StoreLost}, told.all())
				assert.GreaterOrEqual(t, took, 38*time.Second, "half of the limit")
				quiet(store)
				acquire(t, l, limit.Served)
				quiet(store)
				assert.Equal(t, []limiter.NoticeKind{limiter.StoreLost, limiter.StoreBack}, told.all())
			})
		})
	}
}

// hanging is a store that does not answer, and does not heed its context, once it hangs.
type hanging struct {
	limiter.Store
	slow  atomic.Int64 // what a write takes
	hangs atomic.Bool
	freed chan struct{}
}

func (h *hanging) Load(ctx context.Context, scope string) (limiter.Record, error) {
	if h.hangs.Load() {
		<-h.freed
	}
	return h.Store.Load(ctx, scope)
}

func (h *hanging) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	time.Sleep(time.Duration(h.slow.Load()))
	return h.Store.Swap(ctx, scope, version, value)
}

// A store that hangs, or takes seconds for each write, holds no call up for more than a moment: it is lost.
// One that comes back is used again.
func TestAStoreThatHangsHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told notices
		store := &hanging{Store: newMemory(), freed: make(chan struct{})}
		l := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10), Notice: told.add})
		acquire(t, l, limit.Served)
		time.Sleep(time.Second)
		store.hangs.Store(true)
		begun := time.Now()
		for range 100 {
			acquire(t, l, limit.Served)
		}
		assert.Less(t, time.Since(begun), 13*time.Second)
		close(store.freed)
		time.Sleep(time.Minute)
		acquire(t, l, limit.Served)
		quiet(nil)
		assert.Equal(t, []limiter.NoticeKind{limiter.StoreLost, limiter.StoreBack}, told.all())
	})
	synctest.Test(t, func(t *testing.T) {
		store := &hanging{Store: newMemory()}
		store.slow.Store(int64(2 * time.Second))
		l := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10)})
		begun := time.Now()
		for range 100 {
			acquire(t, l, limit.Served)
		}
		assert.Less(t, time.Since(begun), 13*time.Second)
		store.slow.Store(0)
		quiet(nil)
	})
}

// mute is a store that makes a write and does not say so, once a number of writes are made.
type mute struct {
	limiter.Store
	left  atomic.Int64
	hangs bool
}

func (m *mute) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	swapped, err := m.Store.Swap(ctx, scope, version, value)
	if m.left.Add(-1) != 0 {
		return swapped, err
	}
	if m.hangs {
		<-ctx.Done()
	}
	return false, errors.New("the connection is lost")
}

// Calls that were lent by a write whose answer was lost are given back once the store is found again. Nobody
// waits until they would be lost.
func TestWhatWasLentInVainIsGivenBack(t *testing.T) {
	for writes := range int64(6) {
		for _, hangs := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				store := &mute{Store: newMemory(), hangs: hangs}
				store.left.Store(writes + 1)
				l := newLimiter(t, limiter.Config{Store: store, Limit: limit.Config{Concurrency: 1}})
				for range 6 {
					begun := time.Now()
					acquire(t, l, limit.Served)
					assert.Less(t, time.Since(begun), 2*time.Second)
					time.Sleep(2 * time.Second)
				}
				quiet(nil)
				assert.Zero(t, l.Scopes()[0].Above.InFlight)
			})
		}
	}
}

// What a process is granted when it is dead goes back long before a call in flight would be lost.
func TestAGrantThatNobodyComesForGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, c := newMemory(), perSecond(10)
		c.Concurrency = 1
		store := &faulty{Store: memory}
		store.faults.Store(&faults{})
		dying, other := newLimiter(t, limiter.Config{Store: store, Limit: c}), newLimiter(t, limiter.Config{Store: memory, Limit: c})
		held, err := other.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.NoError(t, err)
		_, err = dying.Acquire(limited(t, time.Second), limiter.Ask{Scope: "a"})
		require.Error(t, err)
		store.faults.Store(&faults{load: errors.New("it is dead")})
		other.Settle(held, limiter.Use{Outcome: limit.Served})
		begun := time.Now()
		acquire(t, other, limit.Served)
		assert.Less(t, time.Since(begun), 15*time.Second)
		quiet(store)
	})
}

// A process that flushes before it ends holds nothing afterwards: neither the place of a call that has ended,
// nor calls that it borrowed and did not make.
func TestAProcessThatFlushesHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, c := newMemory(), perSecond(10)
		c.Concurrency = 1
		store := &faulty{Store: memory}
		store.faults.Store(&faults{})
		defer quiet(store)
		ending, other := newLimiter(t, limiter.Config{Store: store, Limit: c}), newLimiter(t, limiter.Config{Store: memory, Limit: c})
		acquire(t, ending, limit.Served)
		assert.NoError(t, ending.Flush(t.Context()))
		store.faults.Store(&faults{load: errors.New("it has ended")})
		begun := time.Now()
		acquire(t, other, limit.Served)
		assert.Less(t, time.Since(begun), time.Second, "not as long as a call that nobody settled is held")
		assert.NoError(t, other.Flush(t.Context()))
		assert.Zero(t, other.Scopes()[0].Above.InFlight)
		acquire(t, other, limit.Served)
		assert.NoError(t, other.Flush(t.Context()))
		assert.Zero(t, other.Scopes()[0].Processes, "it does not count, either")

		acquire(t, ending, limit.Served)
		assert.ErrorContains(t, ending.Flush(t.Context()), `scope "a": the store cannot be reached`)
	})
	synctest.Test(t, func(t *testing.T) {
		store := &hanging{Store: newMemory(), freed: make(chan struct{})}
		l := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10)})
		acquire(t, l, limit.Served)
		store.hangs.Store(true)
		assert.ErrorIs(t, l.Flush(limited(t, time.Millisecond)), context.DeadlineExceeded)
		close(store.freed)
		quiet(nil)
	})
}

// Who would rather go elsewhere is told of the breaker that counts: while the store is lost, that of the part
// that is left.
func TestABreakerIsReadWhereItIsKept(t *testing.T) {
	ask := limiter.Ask{Scope: "a", UnlessDown: true}
	down := func(t *testing.T, l *limiter.Limiter) bool {
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		g, err := l.Acquire(ctx, ask)
		if err == nil {
			l.Settle(g, limiter.Use{Outcome: limit.Served})
		} else {
			require.ErrorIs(t, err, limiter.ErrDenied)
		}
		return err != nil
	}
	c := perSecond(10)
	c.Failures, c.ProbeEvery = 1, 20*time.Second
	t.Run("the provider goes down while the store is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFaulty()
			l := newLimiter(t, limiter.Config{Store: store, Limit: c})
			acquire(t, l, limit.Served)
			time.Sleep(time.Second)
			store.faults.Store(&faults{load: errors.New("no route")})
			acquire(t, l, limit.Down)
			time.Sleep(time.Second)
			assert.True(t, down(t, l))
			quiet(store)
		})
	})
	t.Run("it comes back while the store is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newFaulty()
			l := newLimiter(t, limiter.Config{Store: store, Limit: c})
			acquire(t, l, limit.Down)
			time.Sleep(time.Second)
			require.True(t, down(t, l))
			store.faults.Store(&faults{load: errors.New("no route")})
			assert.True(t, acquire(t, l, limit.Served).Probe)
			time.Sleep(time.Second)
			assert.False(t, down(t, l))
			quiet(store)
		})
	})
	t.Run("another process finds it back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := newMemory()
			one, other := newLimiter(t, limiter.Config{Store: store, Limit: c}), newLimiter(t, limiter.Config{Store: store, Limit: c})
			late, err := one.Acquire(t.Context(), limiter.Ask{Scope: "a"})
			require.NoError(t, err)
			acquire(t, one, limit.Down)
			time.Sleep(time.Second)
			probe, err := other.Acquire(t.Context(), limiter.Ask{Scope: "a"})
			require.NoError(t, err)
			require.True(t, probe.Probe)
			one.Settle(late, limiter.Use{Outcome: limit.Down}) // it learns of the probe
			time.Sleep(time.Second)
			require.True(t, down(t, one))
			time.Sleep(time.Second)
			other.Settle(probe, limiter.Use{Outcome: limit.Served})
			time.Sleep(time.Second)
			down(t, one) // which has the store looked at
			time.Sleep(time.Second)
			assert.False(t, down(t, one), "long before the probe would be lost")
			quiet(nil)
		})
	})
	t.Run("a probe that nobody settles", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := newLimiter(t, limiter.Config{Limit: c})
			acquire(t, l, limit.Down)
			probe, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a"})
			require.NoError(t, err)
			require.True(t, probe.Probe)
			require.True(t, down(t, l))
			time.Sleep(time.Minute)
			assert.False(t, down(t, l))
		})
	})
}

// quiet mends the store, and waits until all are quiet.
func quiet(f *faulty) {
	if f != nil {
		f.faults.Store(&faults{})
	}
	time.Sleep(time.Minute)
	synctest.Wait()
}

func limited(t *testing.T, d time.Duration) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), d)
	t.Cleanup(stop)
	return ctx
}

// Processes are served by the places of their calls, and one that waits with a call that can wait comes
// sooner once it has a call that cannot.
func TestProcessesGoByTheirFirstCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		var mu sync.Mutex
		var order []string
		ask := func(l *limiter.Limiter, calls int, name string, a limiter.Ask) {
			a.Scope = "a"
			for range calls {
				go func() {
					g, err := l.Acquire(t.Context(), a)
					assert.NoError(t, err)
					mu.Lock()
					order = append(order, name)
					mu.Unlock()
					l.Settle(g, limiter.Use{Outcome: limit.Served})
				}()
			}
			synctest.Wait()
		}
		one := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(1)})
		two := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(1)})
		ask(one, 1, "first", limiter.Ask{})
		ask(one, 3, "late", limiter.Ask{Turn: 5})
		ask(two, 3, "new", limiter.Ask{})
		time.Sleep(1100 * time.Millisecond)
		ask(one, 1, "urgent", limiter.Ask{Priority: 1})
		time.Sleep(20 * time.Second)
		quiet(nil)
		assert.Equal(t, []string{"first", "new", "urgent", "new", "new", "late", "late", "late"}, order)
	})
}

// A process is told how long those of all processes wait, so that a call with a deadline before that need
// not.
func TestACallDoesNotWaitForAnotherProcessInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		one := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(1)})
		two := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(1)})
		call := func(l *limiter.Limiter, priority int) {
			g, err := l.Acquire(t.Context(), limiter.Ask{Scope: "a", Priority: priority})
			assert.NoError(t, err)
			l.Settle(g, limiter.Use{Outcome: limit.Served})
		}
		for range 40 {
			go call(one, 0)
		}
		time.Sleep(1500 * time.Millisecond)
		go call(two, 1)
		time.Sleep(3 * time.Second)
		begun := time.Now()
		_, err := two.Acquire(t.Context(), limiter.Ask{Scope: "a", Deadline: begun.Add(12 * time.Second)})
		require.ErrorIs(t, err, limiter.ErrDenied)
		assert.Zero(t, time.Since(begun))
		time.Sleep(time.Minute)
		quiet(nil)
	})
}

// setBack is a store whose clock is set.
type setBack struct {
	limiter.Store
	by atomic.Int64
}

func (s *setBack) Load(ctx context.Context, scope string) (limiter.Record, error) {
	r, err := s.Store.Load(ctx, scope)
	r.Now = r.Now.Add(-time.Duration(s.by.Load()))
	return r, err
}

// The clock of a server may be set back, or a standby whose clock is behind takes over. No call waits for it.
func TestAStoreWhoseClockIsSetBackHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &setBack{Store: newMemory()}
		one := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10)})
		other := newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10)})
		for _, by := range []time.Duration{0, time.Hour, time.Hour, 2 * time.Hour} {
			store.by.Store(int64(by))
			begun := time.Now()
			for range 20 {
				acquire(t, one, limit.Served)
				acquire(t, other, limit.Served)
			}
			assert.InDelta(t, 4, time.Since(begun).Seconds(), 1.5, by)
		}
		quiet(nil)
	})
}

// grantedInAMinute counts the calls of two processes that want as many as they get, 30 in ten seconds, while
// something happens to their store.
func grantedInAMinute(t *testing.T, store limiter.Store, happens func()) int64 {
	var granted atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	var working sync.WaitGroup
	for range 2 {
		l := newLimiter(t, limiter.Config{Store: store, Limit: limit.Config{
			Windows: []limit.Window{{Resource: "requests", Limit: 30, Period: 10 * time.Second}},
		}})
		working.Go(func() {
			for {
				g, err := l.Acquire(ctx, limiter.Ask{Scope: "a"})
				if err != nil { // it would be later than the end
					return
				}
				granted.Add(1)
				l.Settle(g, limiter.Use{Outcome: limit.Served})
			}
		})
	}
	happens()
	working.Wait()
	quiet(nil)
	return granted.Load()
}

// A clock that is set forward begins the windows anew, so that each time as many calls go as after a pause.
// One that is set back lets no more through.
func TestAStoreWhoseClockJumpsLetsAWindowThroughAtEachJump(t *testing.T) {
	for name, c := range map[string]struct {
		by      []time.Duration
		forward int64
	}{
		"forward":          {[]time.Duration{-time.Second, -time.Hour, -2 * time.Hour, -24 * time.Hour}, 4},
		"back":             {[]time.Duration{time.Second, time.Hour, 2 * time.Hour, 24 * time.Hour}, 0},
		"forward and back": {[]time.Duration{-time.Hour, 0, -time.Hour, 0, -time.Hour, 0}, 3},
		"back and forward": {[]time.Duration{time.Hour, 0, time.Hour, 0, time.Hour, 0}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &setBack{Store: newMemory()}
				granted := grantedInAMinute(t, store, func() {
					for _, by := range c.by {
						time.Sleep(7 * time.Second)
						store.by.Store(int64(by))
					}
				})
				assert.LessOrEqual(t, granted, 180+30+30*c.forward)
				assert.Greater(t, granted, int64(120), "at each jump back the time since the last record is lost")
			})
		})
	}
}

// A server that evicts the record, or comes back without it, lets no more through than before: the processes
// remember.
func TestARecordThatIsLostIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newMemory()
		granted := grantedInAMinute(t, store, func() {
			for range 19 {
				time.Sleep(3 * time.Second)
				store.mu.Lock()
				clear(store.records)
				store.mu.Unlock()
			}
		})
		assert.LessOrEqual(t, granted, int64(180+30), "30 in ten seconds, and 30 at once")
		assert.Greater(t, granted, int64(170))
	})
}

// While the store is lost, those share the limit that lived when it was: one that was killed at work counts
// no more after some seconds, and one counts that has been silent since, because its call takes long or it
// has made none for a while.
func TestThoseThatLiveShareTheLimitOfAStoreThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := newFaulty()
		lost := make(chan limiter.Notice, 1)
		var stores []*faulty
		process := func(told func(limiter.Notice)) *limiter.Limiter {
			store := &faulty{Store: memory}
			store.faults.Store(&faults{})
			stores = append(stores, store)
			return newLimiter(t, limiter.Config{Store: store, Limit: perSecond(10), Notice: told})
		}
		works := process(func(n limiter.Notice) { lost <- n })
		killed, waits, idle := process(nil), process(nil), process(nil)
		forSeconds := func(seconds int) {
			for range 10 * seconds {
				acquire(t, works, limit.Served)
				time.Sleep(100 * time.Millisecond)
			}
		}
		for _, l := range []*limiter.Limiter{killed, idle} {
			acquire(t, l, limit.Served)
		}
		long, err := waits.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.NoError(t, err)
		forSeconds(1)
		stores[1].faults.Store(&faults{load: errors.New("it is dead")})
		for _, after := range []struct {
			seconds   int
			processes int64
			why       string
		}{
			{3, 4, "nobody knows yet"}, {5, 3, "one does not speak"}, {40, 3, "two speak now and then"},
			{60, 2, "one has made no call for long"},
		} {
			forSeconds(after.seconds)
			assert.Equal(t, after.processes, works.Scopes()[0].Processes, after.why)
		}
		stores[0].faults.Store(&faults{load: errors.New("no route")})
		acquire(t, works, limit.Served)
		time.Sleep(time.Second)
		assert.EqualValues(t, 2, (<-lost).Parts)
		waits.Settle(long, limiter.Use{Outcome: limit.Served})
		for _, store := range stores {
			store.faults.Store(&faults{})
		}
		quiet(nil)
		quiet(nil)
	})
}

// A process that has not used a scope for a minute, and has no calls there, does not go on to speak of it.
func TestAScopeThatIsNotUsedNeedsNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(t, limiter.Config{Store: newMemory(), Limit: perSecond(10)})
		begun := time.Now()
		acquire(t, l, limit.Served)
		spoken := 0
		for next, has := l.Next(); has; next, has = l.Next() {
			assert.Less(t, next.Sub(begun), 2*time.Minute)
			time.Sleep(time.Until(next))
			synctest.Wait()
			spoken++
		}
		assert.Less(t, spoken, 12)
	})
}
