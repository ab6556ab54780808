package limittest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/limit"
	"github.com/retake-go/retake/limit/limiter"
)

// Store tests a store. fresh returns the store, with nothing in it. It is used as it is by several limiters
// at once, as processes would use their own handles of it.
func Store(t *testing.T, fresh func(t *testing.T) limiter.Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, limiter.Store){
		"what_is_swapped_in_is_loaded":                testSwap,
		"a_record_is_replaced_only_as_it_was_read":    testStale,
		"of_many_that_swap_one_is_first":              testMany,
		"any_name_and_value_is_kept":                  testBytes,
		"the_clock_of_the_store_goes_on":              testClock,
		"the_end_of_the_context_is_an_error":          testContext,
		"processes_together_keep_the_limit":           testTogether,
		"what_a_dead_process_had_comes_back":          testDeadHolder,
		"an_outage_that_one_finds_stops_all":          testOutage,
		"without_the_store_each_keeps_its_part_of_it": testLost,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func load(t *testing.T, s limiter.Store, scope string) limiter.Record {
	t.Helper()
	r, err := s.Load(t.Context(), scope)
	require.NoError(t, err)
	return r
}

func swap(t *testing.T, s limiter.Store, scope string, version int64, value string) bool {
	t.Helper()
	swapped, err := s.Swap(t.Context(), scope, version, []byte(value))
	require.NoError(t, err)
	return swapped
}

func testSwap(t *testing.T, s limiter.Store) {
	none := load(t, s, "a")
	assert.Empty(t, none.Value)
	assert.Zero(t, none.Version)
	assert.False(t, none.Now.IsZero(), "the time is told even so")
	require.True(t, swap(t, s, "a", 0, "one"))
	one := load(t, s, "a")
	assert.Equal(t, "one", string(one.Value))
	assert.Positive(t, one.Version)
	require.True(t, swap(t, s, "a", one.Version, "two"))
	two := load(t, s, "a")
	assert.Equal(t, "two", string(two.Value))
	assert.NotEqual(t, one.Version, two.Version)
	assert.Zero(t, load(t, s, "b").Version, "another scope has its own record")
}

func testStale(t *testing.T, s limiter.Store) {
	require.True(t, swap(t, s, "a", 0, "one"))
	assert.False(t, swap(t, s, "a", 0, "again"), "there is one")
	one := load(t, s, "a").Version
	require.True(t, swap(t, s, "a", one, "two"))
	assert.False(t, swap(t, s, "a", one, "late"))
	assert.False(t, swap(t, s, "b", one, "none"), "there is none")
	assert.Equal(t, "two", string(load(t, s, "a").Value))
	assert.Zero(t, load(t, s, "b").Version)
}

func testMany(t *testing.T, s limiter.Store) {
	const writers, each = 4, 10
	var swapped atomic.Int64
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for done := 0; done < each; {
				r, err := s.Load(t.Context(), "a")
				if !assert.NoError(t, err) {
					return
				}
				ok, err := s.Swap(t.Context(), "a", r.Version, []byte(string(r.Value)+"."))
				if !assert.NoError(t, err) {
					return
				}
				if ok {
					swapped.Add(1)
					done++
				}
			}
		})
	}
	all.Wait()
	assert.Len(t, load(t, s, "a").Value, writers*each, "each swap counts once")
	assert.EqualValues(t, writers*each, swapped.Load())
}

func testBytes(t *testing.T, s limiter.Store) {
	for _, scope := range []string{"", "openai/gpt", "it's %_ \"{x}\"\n", "größe", strings.Repeat("n", 500)} {
		value := `{"scope":"` + strings.Repeat("ü", 40_000) + `"}`
		require.True(t, swap(t, s, scope, 0, value), "%.20q", scope)
		assert.Equal(t, value, string(load(t, s, scope).Value), "%.20q", scope)
	}
}

func testClock(t *testing.T, s limiter.Store) {
	before := load(t, s, "a").Now
	for range 5 {
		now := load(t, s, "b").Now
		assert.False(t, now.Before(before))
		before = now
	}
}

func testContext(t *testing.T, s limiter.Store) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := s.Load(ctx, "a")
	require.Error(t, err)
	_, err = s.Swap(ctx, "a", 0, []byte("one"))
	require.Error(t, err)
	assert.Zero(t, load(t, s, "a").Version)
}

// process returns a limiter of a process of its own.
func process(t *testing.T, s limiter.Store, c limit.Config, notices func(limiter.Notice)) *limiter.Limiter {
	t.Helper()
	l, err := limiter.New(limiter.Config{Limit: c, Store: s, Notice: notices})
	require.NoError(t, err)
	return l
}

// rate returns a limit of so many calls in a time.
func rate(n int64, in time.Duration) limit.Config {
	return limit.Config{Windows: []limit.Window{{Resource: "requests", Limit: n, Period: in}}}
}

// call makes a call that is served.
func call(ctx context.Context, l *limiter.Limiter) error {
	grant, err := l.Acquire(ctx, limiter.Ask{Scope: "a"})
	if err == nil {
		l.Settle(grant, limiter.Use{Outcome: limit.Served})
	}
	return err
}

func testTogether(t *testing.T, s limiter.Store) {
	const processes, each, window, in = 4, 15, 20, 200 * time.Millisecond
	begun := time.Now()
	var all sync.WaitGroup
	for range processes {
		l := process(t, s, rate(window, in), nil)
		for range each {
			all.Go(func() { assert.NoError(t, call(t.Context(), l)) })
		}
	}
	all.Wait()
	const least = (processes*each - window) * in / window // the first ones fit
	assert.GreaterOrEqual(t, time.Since(begun), least-50*time.Millisecond, "together they keep the limit")
}

func testDeadHolder(t *testing.T, s limiter.Store) {
	c := rate(1000, time.Second)
	c.Concurrency, c.Hold = 2, 100*time.Millisecond
	dead := process(t, s, c, nil)
	for range 2 { // it takes all that there is, and never settles it
		_, err := dead.Acquire(t.Context(), limiter.Ask{Scope: "a"})
		require.NoError(t, err)
	}
	require.NoError(t, call(t.Context(), process(t, s, c, nil)))
}

func testOutage(t *testing.T, s limiter.Store) {
	c := rate(1000, time.Second)
	c.Failures, c.ProbeEvery = 1, 50*time.Millisecond
	one, other := process(t, s, c, nil), process(t, s, c, nil)
	grant, err := one.Acquire(t.Context(), limiter.Ask{Scope: "a"})
	require.NoError(t, err)
	one.Settle(grant, limiter.Use{Outcome: limit.Down})
	until(t, s, func(value string) bool { return strings.Contains(value, `"open":true`) })
	grant, err = other.Acquire(t.Context(), limiter.Ask{Scope: "a"})
	require.NoError(t, err)
	assert.True(t, grant.Probe, "the other process is granted a probe, and nothing else")
	other.Settle(grant, limiter.Use{Outcome: limit.Served})
	until(t, s, func(value string) bool { return !strings.Contains(value, `"open":true`) })
}

// until reads the record until it is as it should be.
func until(t *testing.T, s limiter.Store, is func(value string) bool) {
	t.Helper()
	for {
		if value := load(t, s, "a").Value; len(value) > 0 && is(string(value)) {
			return
		}
	}
}

// broken is a store that can be made to fail.
type broken struct {
	limiter.Store
	is atomic.Bool
}

var errBroken = errors.New("no route to the store")

func (b *broken) Load(ctx context.Context, scope string) (limiter.Record, error) {
	if b.is.Load() {
		return limiter.Record{}, errBroken
	}
	return b.Store.Load(ctx, scope)
}

func (b *broken) Swap(ctx context.Context, scope string, version int64, value []byte) (bool, error) {
	if b.is.Load() {
		return false, errBroken
	}
	return b.Store.Swap(ctx, scope, version, value)
}

func testLost(t *testing.T, s limiter.Store) {
	b := &broken{Store: s}
	notices := make(chan limiter.Notice, 10)
	one := process(t, b, rate(20, 50*time.Millisecond), func(n limiter.Notice) { notices <- n })
	other := process(t, b, rate(20, 50*time.Millisecond), nil)
	require.NoError(t, call(t.Context(), one))
	require.NoError(t, call(t.Context(), other))
	require.NoError(t, call(t.Context(), one), "both are known")
	b.is.Store(true)
	begun := time.Now()
	const calls = 35
	for range calls {
		require.NoError(t, call(t.Context(), one), "it goes on")
	}
	lost := <-notices
	assert.Equal(t, limiter.StoreLost, lost.Kind)
	assert.EqualValues(t, 2, lost.Parts)
	require.ErrorIs(t, lost.Err, errBroken)
	assert.GreaterOrEqual(t, time.Since(begun), (calls-20)*time.Second/200, "at its half of the limit, but for the first ten")
	b.is.Store(false)
	back := <-notices
	assert.Equal(t, limiter.StoreBack, back.Kind, fmt.Sprint(back))
	require.NoError(t, call(t.Context(), one))
}
