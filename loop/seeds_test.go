package loop_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/journal"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
)

const sharedSeed = "seed: several sessions share that of the config, so that they wait in lockstep: " +
	"leave Config.Seed empty, or give each session its own (session.Config.Seed)"

var hello = loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
	return message.Reply{Text: "Hello.", Finish: message.Stop}, nil
})

// A loop whose seed serves a second session says so, in that result and in the log.
func TestASharedSeedIsAWarning(t *testing.T) {
	var log strings.Builder
	l, err := loop.New(hello, loop.Config{Seed: "x"},
		loop.WithObserver(observe.LogTo(slog.New(slog.NewTextHandler(&log, nil)))))
	require.NoError(t, err)
	run := func(s *session.Session) []string {
		t.Helper()
		r, err := l.Run(t.Context(), s, loop.Input{Prompt: "Hi."})
		require.NoError(t, err)
		return r.Warnings
	}
	first := seeded(t, "order-1", "")
	assert.Empty(t, run(first))
	assert.Empty(t, run(first), "the same session again")
	assert.Empty(t, run(seeded(t, "order-2", "own")), "a session with its own seed")
	assert.NotContains(t, log.String(), "WARN")
	assert.Equal(t, []string{sharedSeed}, run(seeded(t, "order-3", "")))
	assert.Equal(t, []string{sharedSeed}, run(nil))
	assert.Equal(t, 2, strings.Count(log.String(), "level=WARN msg=warning"))
	assert.Contains(t, log.String(), `correlation_id=order-3 text="`+sharedSeed)
}

// So does a pool. Its warning is in the journal, and a resumed run has it, too.
func TestASharedSeedOfAPoolIsAWarning(t *testing.T) {
	var mu sync.Mutex
	warned := map[string][]string{}
	pool, err := loop.NewPool(loop.PoolConfig{
		Model: hello, Config: loop.Config{Seed: "x"}, Options: []loop.Option{loop.WithClock(looptest.NewClock())},
		Done: func(s *session.Session, r loop.Result, err error) {
			mu.Lock()
			defer mu.Unlock()
			assert.NoError(t, err)
			warned[s.ID()] = r.Warnings
		},
	})
	require.NoError(t, err)
	store := &looptest.Store{}
	for _, id := range []string{"order-1", "order-2"} {
		j, err := journal.Open(t.Context(), store, id, plainSettings)
		require.NoError(t, err)
		_, err = pool.Add(fixture.In(seeded(t, "", ""), j), loop.Input{Prompt: "Hi."})
		require.NoError(t, err)
		defer j.Close()
	}
	require.NoError(t, pool.Run(t.Context(), 1))
	assert.Equal(t, map[string][]string{"order-1": nil, "order-2": {sharedSeed}}, warned)
	assert.Contains(t, string(store.Text("order-2")), sharedSeed)
}

// The observers of a pool that takes over a run are not told again what those of the first were told.
func TestAPoolThatTakesOverARunRepeatsNoWarning(t *testing.T) {
	clock := looptest.NewClock()
	busy := loop.ModelFunc(func(context.Context, loop.Request) (message.Reply, error) {
		return message.Reply{}, &fault.ProviderError{Class: fault.RateLimit, RetryAfter: time.Minute}
	})
	warned := 0
	watch := loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		if n.Kind == observe.Warned {
			warned++
		}
	}))
	pool := func() *loop.Pool {
		p, err := loop.NewPool(loop.PoolConfig{Model: busy, Config: loop.Config{Seed: "x"},
			Options: []loop.Option{loop.WithClock(clock), watch, loop.WithLimiter(nil)},
			Done:    func(*session.Session, loop.Result, error) {}})
		require.NoError(t, err)
		return p
	}
	first, second := pool(), pool()
	for _, id := range []string{"order-1", "order-2"} {
		_, err := first.Add(newSessionNamed(t, id), loop.Input{Prompt: "Hi."})
		require.NoError(t, err)
	}
	first.Due(clock.Now())
	require.Equal(t, 1, warned, "the seed is shared")
	for _, left := range first.Close() {
		run, err := second.AddParked(left)
		require.NoError(t, err)
		run.Cancel(nil)
	}
	second.Due(clock.Now())
	assert.Zero(t, second.Len())
	assert.Equal(t, 1, warned)
}
