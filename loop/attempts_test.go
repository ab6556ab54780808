package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestAttemptsGoRoundUntilOneEndsWell(t *testing.T) {
	s, clock := newSession(t), looptest.NewClock()
	a := loop.ToolCall("book_room")
	a.Policy.Backoff = backoff.Linear(time.Second, time.Second)
	var seen []string
	tries := loop.Attempts(t.Context(), s, a, loop.WithClock(clock))
	for try := range tries.All() {
		seen = append(seen, try.Feedback().Message)
		if try.Number < 3 {
			try.Usage.InputTokens = 10
			try.End(nights("type"))
			continue
		}
		try.End(nil)
	}
	require.NoError(t, tries.Err())
	assert.Equal(t, []string{"", "nights: type", "nights: type"}, seen)
	assert.Equal(t, 3*time.Second, clock.Now().Sub(looptest.Epoch))
	assert.Equal(t, 3, s.State().AttemptCount())
	assert.Equal(t, int64(10), s.State().Attempts()[1].Usage.InputTokens)
}

func TestAttemptsEndWithTheErrorOfDo(t *testing.T) {
	tries := loop.Attempts(t.Context(), nil, loop.ToolCall("book_room"))
	rounds := 0
	for try := range tries.All() {
		rounds++
		try.End(nights("type"))
	}
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, tries.Err(), &exhausted)
	assert.Equal(t, 3, rounds)
	assert.Len(t, exhausted.Attempts, 3)
	assert.Equal(t, policy.ReasonAttemptsExhausted, exhausted.Reason)
	assert.NotEmpty(t, exhausted.Explanation)
	for range tries.All() {
		t.Fatal("tries are made once")
	}
}

func TestATryLeftOpenIsRecordedAsCancelled(t *testing.T) {
	for name, leave := range map[string]func(*loop.ActionRun){
		"break": func(tries *loop.ActionRun) {
			for range tries.All() {
				break
			}
		},
		"continue": func(tries *loop.ActionRun) {
			for range tries.All() {
				continue
			}
		},
		"panic": func(tries *loop.ActionRun) {
			defer func() { _ = recover() }()
			for range tries.All() {
				panic("the user's loop")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t)
			tries := loop.Attempts(t.Context(), s, loop.ToolCall("book_room"))
			leave(tries)
			if name != "panic" {
				require.ErrorIs(t, tries.Err(), policy.ReasonCancelled)
				require.ErrorContains(t, tries.Err(), "loop: Attempt.End was not called")
				require.ErrorContains(t, tries.Err(), "End was not called")
			}
			all := s.State().Attempts()
			require.NotEmpty(t, all)
			assert.Equal(t, policy.ReasonCancelled, all[len(all)-1].Reason)
			require.NoError(t, session.DriverOf(s).Acquire(), "the session is free again")
		})
	}
}

// What a try consumed counts, also if the caller leaves it without an outcome.
func TestTheUsageOfATryThatIsLeftCounts(t *testing.T) {
	tries := loop.Attempts(t.Context(), nil, loop.ToolCall("book_room"))
	for at := range tries.All() {
		at.Usage = message.Usage{InputTokens: 100, APICalls: 1}
		break
	}
	var exhausted *loop.RetryExhaustedError
	require.ErrorAs(t, tries.Err(), &exhausted)
	assert.Equal(t, int64(100), exhausted.Usage.InputTokens)
}

func TestATryIsOverWithItsLoop(t *testing.T) {
	s := newSession(t)
	var kept *loop.Attempt
	for kept = range loop.Attempts(t.Context(), s, loop.ToolCall("book_room")).All() {
		break
	}
	before := s.State()
	kept.End(nights("type"))
	assert.Equal(t, before, s.State())
}

func TestACopyOfAnAttemptEndsItOnce(t *testing.T) {
	s := newSession(t)
	tries := loop.Attempts(t.Context(), s, loop.ToolCall("book_room"))
	var first loop.Attempt
	for try := range tries.All() {
		if try.Number == 1 {
			first = *try
			first.End(nights("type"))
			try.End(nil)
			continue
		}
		first.End(nights("type")) // it is over
		try.End(nil)
	}
	require.NoError(t, tries.Err())
	assert.Equal(t, 2, s.State().AttemptCount())
}

func TestDoEndsItsAttemptsItself(t *testing.T) {
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		t.Run(name, func(t *testing.T) {
			made := 0
			_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(_ context.Context, a loop.Attempt) (int, error) {
				made++
				assert.False(t, a.Keeps())
				a.End(nil)
				return 0, nights("type")
			})
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			assert.Equal(t, 3, made)
		})
	}
}

func TestLeavingAfterAFailedTryCancelsTheAction(t *testing.T) {
	s := newSession(t)
	tries := loop.Attempts(t.Context(), s, loop.ToolCall("book_room"))
	for try := range tries.All() {
		try.End(nights("type"))
		break
	}
	require.ErrorIs(t, tries.Err(), policy.ReasonCancelled)
	assert.Equal(t, 1, len(s.State().Feedback()))
}

func TestAttemptsStopWhenTheContextEnds(t *testing.T) {
	gone := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	tries := loop.Attempts(ctx, newSession(t), loop.ToolCall("book_room"))
	for try := range tries.All() {
		cancel(gone)
		try.End(nights("type"))
	}
	require.ErrorIs(t, tries.Err(), policy.ReasonCancelled)
	require.ErrorIs(t, tries.Err(), gone)
}

func TestTriesThatPanickedHaveNotSucceeded(t *testing.T) {
	tries := loop.Attempts(t.Context(), newSession(t), loop.ToolCall("book_room"))
	require.Panics(t, func() {
		for range tries.All() {
			panic("in a try")
		}
	})
	require.ErrorContains(t, tries.Err(), "panicked")
}
