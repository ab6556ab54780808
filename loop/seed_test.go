package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

// spread is a policy whose waits are drawn on both planes.
func spread() (correction, transport policy.RetryPolicy) {
	correction, transport = policy.Correction(), policy.Transport()
	correction.Backoff = backoff.Exponential(time.Second, 2*backoff.One)
	correction.Backoff.Jitter = backoff.Jitter{Kind: backoff.Full}
	transport.Backoff = correction.Backoff
	return correction, transport
}

// spreadConfig is a config under [spread].
func spreadConfig(seed string) loop.Config {
	correction, transport := spread()
	set := policy.DefaultSet()
	set.Global, set.Transport = correction.Layer(), transport.TransportLayer()
	return loop.Config{Seed: seed, Policy: &set, CallsOnly: true}
}

// waits are the delays of attempts.
func waits(all []session.Attempt) (delays []time.Duration) {
	for _, a := range all {
		if a.Retry {
			delays = append(delays, a.Delay)
		}
	}
	return delays
}

// exhaustedRun makes a run that fails on both planes, and returns its error.
func exhaustedRun(t *testing.T, s *session.Session, cfg loop.Config) *loop.RetryExhaustedError {
	t.Helper()
	cfg.Tools = bookRoom(t, booked)
	overloaded := looptest.Fail(&fault.ProviderError{Class: fault.Overloaded})
	model := looptest.NewModel(overloaded, overloaded, looptest.Call(call("book_room", `{}`)), overloaded,
		looptest.Call(call("book_room", `{"city": 1}`)), looptest.Call(call("book_room", `{"city": 2}`)))
	_, err := fixture.Run(t.Context(), model, s, loop.Input{Prompt: "Go.", NewConversation: true}, cfg, loop.WithClock(looptest.NewClock()))
	exhausted, ok := errors.AsType[*loop.RetryExhaustedError](err)
	require.True(t, ok, "%v", err)
	require.Len(t, waits(exhausted.Attempts), 5)
	return exhausted
}

func seeded(t *testing.T, id, seed string) *session.Session {
	t.Helper()
	s, err := session.New(session.Config{ID: id, Seed: seed})
	require.NoError(t, err)
	return s
}

// With a seed, the seed, the action and the attempt alone decide: not the session, and not what it did
// before.
func TestASeedAloneDecidesTheWaits(t *testing.T) {
	want := waits(exhaustedRun(t, nil, spreadConfig("x")).Attempts)
	used := seeded(t, "used", "")
	exhaustedRun(t, used, spreadConfig("y"))
	for name, s := range map[string]*session.Session{
		"no session": nil, "no id": seeded(t, "", ""), "another id": seeded(t, "order-7", ""),
		"a second run": used,
	} {
		cfg := spreadConfig("x")
		assert.Equal(t, want, waits(exhaustedRun(t, s, cfg).Attempts), name)
	}
	assert.NotEqual(t, want, waits(exhaustedRun(t, nil, spreadConfig("y")).Attempts))
	assert.NotEqual(t, waits(exhaustedRun(t, nil, spreadConfig("")).Attempts),
		waits(exhaustedRun(t, nil, spreadConfig("")).Attempts), "without a seed two runs differ")
}

// What an error reports as its seed makes the same waits again.
func TestTheSeedOfAnErrorMakesItsWaitsAgain(t *testing.T) {
	used := seeded(t, "order-42", "")
	exhaustedRun(t, used, spreadConfig(""))
	for name, s := range map[string]*session.Session{
		"no session": nil, "an id": seeded(t, "order-7", ""), "a seed": seeded(t, "order-7", "own"),
		"a second run": used,
	} {
		cfg := spreadConfig("")
		was := exhaustedRun(t, s, cfg)
		again := exhaustedRun(t, nil, spreadConfig(was.Seed))
		assert.Equal(t, waits(was.Attempts), waits(again.Attempts), name)
		assert.Equal(t, was.Seed, again.Seed, name)
	}
}

// A session's own seed goes before that of a config or an action.
func TestASessionsSeedGoesFirst(t *testing.T) {
	want := exhaustedRun(t, nil, spreadConfig("own"))
	got := exhaustedRun(t, seeded(t, "order-42", "own"), spreadConfig("shared"))
	assert.Equal(t, "own", got.Seed)
	assert.Equal(t, waits(want.Attempts), waits(got.Attempts))

	_, err := session.New(session.Config{Seed: "\xff"})
	assert.ErrorContains(t, err, "seed: must be UTF-8")
	assert.ErrorContains(t, loop.Config{Seed: "\xff"}.Validate(), `seed: "\xff": give UTF-8`)
}

// The tries of an action wait the same with one seed: without a session, in any session, and after other
// tries.
func TestASeedAloneDecidesTheWaitsOfAnAction(t *testing.T) {
	tries := func(s *session.Session, seed string) (time.Duration, string) {
		clock, a := looptest.NewClock(), loop.ToolCall("book_room")
		a.Policy, a.Transport = spread()
		a.Seed = seed
		n := 0
		_, err := loop.Do(t.Context(), s, a, func(context.Context, loop.Attempt) (int, error) {
			if n++; n%2 == 0 {
				return 0, &fault.ProviderError{Class: fault.Overloaded}
			}
			return 0, &fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{{Rule: "required"}}}
		}, loop.WithClock(clock))
		exhausted, ok := errors.AsType[*loop.RetryExhaustedError](err)
		require.True(t, ok, "%v", err)
		return clock.Now().Sub(looptest.Epoch), exhausted.Seed
	}
	used := seeded(t, "used", "")
	exhaustedRun(t, used, spreadConfig("y"))
	want, seed := tries(nil, "x")
	assert.Equal(t, "x", seed)
	for name, s := range map[string]*session.Session{
		"an id": seeded(t, "order-7", ""), "no id": seeded(t, "", ""), "used": used,
		"a seed of its own": seeded(t, "order-8", "x"),
	} {
		given := "x"
		if name == "a seed of its own" {
			given = "shared"
		}
		got, seed := tries(s, given)
		assert.Equal(t, want, got, name)
		assert.Equal(t, "x", seed, name)
	}
	drawn, seed := tries(nil, "")
	again, _ := tries(seeded(t, "order-9", ""), seed)
	assert.Equal(t, drawn, again, "the seed that Do drew")
}
