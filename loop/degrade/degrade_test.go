package degrade_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/agent"
	"github.com/retake-go/retake/loop/degrade"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/loop/planner"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/result"
)

var errBroken = errors.New("broken: ECONNREFUSED 127.0.0.1:443")

// envelope runs the model and puts the degradations into the result.
func envelope(t *testing.T, f *degrade.Fallbacks, cfg loop.Config, turns []looptest.Turn, opts ...loop.Option) (string, []string) {
	t.Helper()
	run, err := fixture.Run(t.Context(), looptest.NewModel(turns...), fixture.NewSession(t), loop.Input{Prompt: "Book."}, cfg, append(opts, loop.WithClock(looptest.NewClock()))...)
	require.NoError(t, err)
	r := agent.Envelope(run, err)
	r.Meta = r.Meta.Warn(f.Warnings()...)
	require.NoError(t, r.Validate())
	require.True(t, r.IsSuccess())
	for _, w := range r.Warnings {
		assert.NotContains(t, w, "ECONNREFUSED", "warnings are for people")
	}
	var text string
	require.NoError(t, json.Unmarshal(r.Data, &text))
	return text, r.Warnings
}

func TestLLMParsingFailsToItsText(t *testing.T) {
	talk := looptest.Say("Your fixture.Booking is R-1.")
	for _, next := range []planner.Planner{nil, planner.Ladder{}} {
		answer, err := fixture.Generate[fixture.Receipt](t.Context(), looptest.NewModel(talk, talk, talk), fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{}, loop.WithPlanner(degrade.PlainText{Next: next}))
		require.NoError(t, err)
		assert.True(t, answer.Degraded)
		assert.Zero(t, answer.Value)
		r := agent.Envelope(answer.Result, err)
		assert.Nil(t, r.Data)
		assert.Equal(t, "Your fixture.Booking is R-1.", r.Content)
		assert.Equal(t, []string{string(degrade.ParsingFailed)}, r.Warnings)
	}
}

func TestPlainTextPutsTheRestToTheNextPlanner(t *testing.T) {
	bad := looptest.Call(fixture.Call("book_room", `{}`))
	for _, next := range []planner.Planner{nil, planner.Ladder{}} {
		_, err := fixture.Run(t.Context(), looptest.NewModel(bad, bad, bad), fixture.NewSession(t), loop.Input{Prompt: "Book."}, loop.Config{Tools: fixture.BookRoom(t, fixture.Booked)}, loop.WithPlanner(degrade.PlainText{Next: next}))
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	}
}

func TestTelemetryFailsToNothing(t *testing.T) {
	f, told := &degrade.Fallbacks{}, 0
	tracer := observe.ObserverFunc(func(context.Context, observe.Notice) { told++; panic(errBroken) })
	text, warnings := envelope(t, f, loop.Config{}, []looptest.Turn{looptest.Fail(fixture.Refused{Class: fault.RateLimit}), looptest.Say("Hello.")}, loop.WithObserver(degrade.Guard(f, tracer)))
	assert.Equal(t, "Hello.", text)
	assert.Equal(t, 1, told, "what has failed is told no more")
	assert.Equal(t, []string{string(degrade.TelemetryFailed)}, warnings)
}

// store is a storage that fails on request.
type store struct {
	data map[string][]byte
	err  error
}

func (s *store) Save(_ context.Context, key string, data []byte) error {
	if s.err == nil {
		s.data[key] = data
	}
	return s.err
}

func (s *store) Load(_ context.Context, key string) ([]byte, error) { return s.data[key], nil }

func TestContextStorageFailsToMemory(t *testing.T) {
	f, ctx := &degrade.Fallbacks{}, t.Context()
	disk := &store{data: map[string][]byte{}}
	kept := degrade.KeepInMemory(f, disk, 10)
	load := func(key string) string {
		data, err := kept.Load(ctx, key)
		require.NoError(t, err)
		return string(data)
	}
	require.NoError(t, kept.Save(ctx, "a", []byte("old")))
	disk.err = errBroken
	require.NoError(t, kept.Save(ctx, "a", []byte("newer")))
	assert.Equal(t, "newer", load("a"), "what is in memory is newer")
	err := kept.Save(ctx, "b", []byte("much too long"))
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, "memory holds 5 of at most 10 bytes: 13 more do not fit")
	require.Error(t, kept.Save(ctx, "a", []byte("much too long")))
	assert.Equal(t, "newer", load("a"))
	require.NoError(t, kept.Save(ctx, "a", []byte("ten bytes!")))

	disk.err = nil
	require.NoError(t, kept.Save(ctx, "a", []byte("last")))
	assert.Equal(t, "last", string(disk.data["a"]))
	assert.Equal(t, "last", load("a"))
	_, warnings := envelope(t, f, loop.Config{}, []looptest.Turn{looptest.Say("Hello.")})
	assert.Equal(t, []string{string(degrade.StorageFailed)}, warnings)
}

// slowStore is a storage whose calls of Save end when they are told how.
type slowStore struct {
	begun chan string
	ends  map[string]chan error
	store
}

func (s *slowStore) Save(ctx context.Context, key string, data []byte) error {
	s.begun <- string(data)
	if err := <-s.ends[string(data)]; err != nil {
		return err
	}
	return s.store.Save(ctx, key, data)
}

// Two calls of Save that overlap leave the data of the later one, however they end.
func TestMemoryNeverHoldsOlderData(t *testing.T) {
	for name, fail := range map[string]map[string]error{
		"the older fails": {"old": errBroken},
		"the newer fails": {"new": errBroken},
		"both fail":       {"old": errBroken, "new": errBroken},
		"none fails":      {},
	} {
		for _, order := range [][]string{{"old", "new"}, {"new", "old"}} {
			t.Run(name+", first ends "+order[0], func(t *testing.T) {
				disk := &slowStore{begun: make(chan string), ends: map[string]chan error{"old": make(chan error), "new": make(chan error)},
					store: store{data: map[string][]byte{}}}
				kept := degrade.KeepInMemory(&degrade.Fallbacks{}, disk, 10)
				over := map[string]chan bool{}
				for _, data := range []string{"old", "new"} {
					over[data] = make(chan bool)
					go func() {
						assert.NoError(t, kept.Save(t.Context(), "a", []byte(data)))
						close(over[data])
					}()
					<-disk.begun
				}
				for _, data := range order {
					disk.ends[data] <- fail[data]
					<-over[data]
				}
				data, err := kept.Load(t.Context(), "a")
				require.NoError(t, err)
				assert.Equal(t, "new", string(data))
			})
		}
	}
}

func TestOrElseContainsFailuresAndPanics(t *testing.T) {
	var debug []observe.DebugInfo
	f := &degrade.Fallbacks{Callbacks: &observe.Callbacks{OnDebug: func(_ string, d observe.DebugInfo) { debug = append(debug, d) }}}
	instead := func() int { return 7 }
	assert.Equal(t, 1, degrade.OrElse(t.Context(), f, "own", func(context.Context) (int, error) { return 1, nil }, instead))
	assert.Empty(t, f.Warnings())
	assert.Equal(t, 7, degrade.OrElse(t.Context(), f, "own", func(context.Context) (int, error) { return 1, errBroken }, instead))
	assert.Equal(t, 7, degrade.OrElse(t.Context(), f, "own", func(context.Context) (int, error) { panic("no") }, instead))
	assert.Equal(t, 7, degrade.OrElse(t.Context(), nil, "own", func(context.Context) (int, error) { return 1, errBroken }, instead))
	assert.Equal(t, []string{"own"}, f.Warnings(), "each once")
	require.Len(t, debug, 2)
	assert.Contains(t, debug[1].Stack, "TestOrElse")
	assert.Equal(t, result.Meta{}, result.Meta{}.Warn((&degrade.Fallbacks{}).Warnings()...))
}

func TestFallbacksMayBeSharedByGoroutines(t *testing.T) {
	f := &degrade.Fallbacks{}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			degrade.OrElse(t.Context(), f, degrade.Degradation(fmt.Sprint(n%2)), func(context.Context) (int, error) { return 0, errBroken }, func() int { return n })
		})
	}
	wg.Wait()
	assert.ElementsMatch(t, []string{"0", "1"}, f.Warnings())
}
