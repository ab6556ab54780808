package loop_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/session"
)

func nights(rule string) error {
	return &fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{{Pointer: "/nights", Rule: rule, Source: fault.FromTool}}}
}

// script returns errors in order, then success.
func script(errs ...error) func(context.Context, loop.Attempt) (int, error) {
	n := 0
	return func(context.Context, loop.Attempt) (int, error) {
		n++
		if n <= len(errs) {
			return 0, errs[n-1]
		}
		return n, nil
	}
}

func TestDoReadsTheFeedbackOfTheTryBefore(t *testing.T) {
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(_ context.Context, a loop.Attempt) (int, error) {
				seen = append(seen, a.Feedback().Message)
				return 0, nights([]string{"type", "minimum", "maximum"}[a.Number-1])
			})
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
			assert.Equal(t, []string{"", "nights: type", "nights: minimum"}, seen)
		})
	}
}

func TestDoFeedsNothingBackWhereThePolicyEmitsNone(t *testing.T) {
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		t.Run(name, func(t *testing.T) {
			a := loop.ToolCall("book_room")
			a.Policy.EmitFeedback = false
			_, err := loop.Do(t.Context(), s, a, func(_ context.Context, try loop.Attempt) (int, error) {
				assert.Zero(t, try.Feedback(), "attempt %d", try.Number)
				return 0, nights("type")
			})
			require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		})
	}
}

// The text about a failed attempt is the same with a session and without.
func TestDoFeedsBackTheSameWithASessionAndWithout(t *testing.T) {
	shown := map[string][]string{}
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		clock, a := looptest.NewClock(), loop.ToolCall("book_room")
		a.Seed, a.Policy.Backoff = "order-42", backoff.Linear(time.Second, time.Second)
		a.Policy.Backoff.Jitter = backoff.Jitter{Kind: backoff.Full}
		before := clock.Now()
		_, err := loop.Do(t.Context(), s, a, func(_ context.Context, a loop.Attempt) (int, error) {
			f := a.Feedback()
			shown[name] = append(shown[name], feedback.Render(f, feedback.DefaultLimits()))
			if a.Number > 1 && assert.NotNil(t, f.Schedule, name) {
				assert.Equal(t, clock.Since(before), f.Schedule.Delay, name)
			}
			before = clock.Now()
			return 0, nights([]string{"type", "minimum", "maximum"}[a.Number-1])
		}, loop.WithClock(clock))
		require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	}
	assert.Equal(t, shown["with_a_session"], shown["without"])
	assert.Empty(t, shown["without"][0], "there is no feedback at a first try")
	assert.Contains(t, shown["without"][2], "the next is the last")
}

// The caller may change an error and its issues later. The history does not change.
func TestDoKeepsNothingOfAnError(t *testing.T) {
	s := newSession(t)
	var room [1]fault.Issue
	again := &fault.ToolValidationError{Tool: "book_room"}
	var fixed []string
	_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(_ context.Context, a loop.Attempt) (int, error) {
		for _, i := range a.Feedback().Diff.Fixed {
			fixed = append(fixed, i.Pointer)
		}
		again.Issues = append(room[:0], fault.Issue{Pointer: []string{"/city", "/nights", "/room"}[a.Number-1], Rule: "type", Source: fault.FromTool})
		return 0, again
	})
	require.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
	assert.Equal(t, []string{"/city"}, fixed)
	for n, want := range []string{"/city", "/nights", "/room"} {
		assert.Equal(t, want, s.State().Feedback()[n].Issues[0].Pointer)
		assert.Equal(t, want, s.State().Attempts()[n].Issues[0].Pointer)
	}
}

// Without a seed and a session, the seed is the id of the session that the action has then. The same seed
// gives the same waits.
func TestDoTellsTheSeedThatItDrew(t *testing.T) {
	var told []observe.Notice
	do := func(a *loop.Action, errs ...error) *loop.RetryExhaustedError {
		told = nil
		tell := observe.ObserverFunc(func(_ context.Context, n observe.Notice) { told = append(told, n) })
		_, err := loop.Do(t.Context(), nil, a, script(errs...), loop.WithClock(looptest.NewClock()), loop.WithObserver(tell))
		var e *loop.RetryExhaustedError
		require.ErrorAs(t, err, &e)
		return e
	}
	waits := func() (all []time.Duration) {
		for _, n := range told {
			if n.Kind == observe.Retrying {
				all = append(all, n.Delay)
			}
		}
		return all
	}
	away := []error{
		refused{Class: fault.RateLimit, After: 20 * time.Second}, refused{Class: fault.Network}, refused{Class: fault.Network}, refused{Class: fault.Network},
	}
	e, seen := do(loop.ToolCall("book_room"), away...), waits()
	require.Len(t, seen, 3)
	require.NotEmpty(t, e.Seed)
	for _, n := range told {
		assert.Equal(t, e.Seed, n.CorrelationID)
	}
	assert.NotEqual(t, e.Seed, do(loop.ToolCall("book_room"), away...).Seed, "each draws its own")

	again := loop.ToolCall("book_room")
	again.Seed = e.Seed
	assert.Equal(t, e.Seed, do(again, away...).Seed)
	assert.Equal(t, seen, waits())

	// The feedback has the wait before it, which depends on the same seed.
	spread := loop.ToolCall("book_room")
	spread.Policy.Backoff = backoff.Constant(time.Minute)
	spread.Policy.Backoff.Jitter.Kind = backoff.Full
	var fed []time.Duration
	_, err := loop.Do(t.Context(), nil, spread, func(_ context.Context, at loop.Attempt) (int, error) {
		if fb := at.Feedback(); fb.Schedule != nil {
			fed = append(fed, fb.Schedule.Delay)
		}
		return 0, nights("type")
	}, loop.WithClock(looptest.NewClock()), loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
		told = append(told, n)
	})))
	require.Error(t, err)
	told = told[len(told)-7:]
	assert.Equal(t, waits(), fed)
}

// In a session the seed is that of the action, or the session's id.
func TestTheErrorOfASessionNamesItsSeed(t *testing.T) {
	for seed, want := range map[string]string{"": "order-42", "mine": "mine"} {
		s, err := session.New(session.Config{ID: "order-42"})
		require.NoError(t, err)
		a := loop.ToolCall("book_room")
		a.Seed = seed
		_, err = loop.Do(t.Context(), s, a, script(refused{Class: fault.Auth}))
		var e *loop.RetryExhaustedError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, want, e.Seed)
	}
}

// refused is an error of the transport plane.
func TestDoReachesTheCause(t *testing.T) {
	cause := errors.New("the hotel is closed")
	for name, s := range map[string]*session.Session{"with_a_session": newSession(t), "without": nil} {
		t.Run(name, func(t *testing.T) {
			_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), script(&fault.ClassError{Class: "closed", Cause: cause}))
			require.ErrorIs(t, err, cause)
			require.ErrorIs(t, err, policy.ReasonNotRetryable)
		})
	}
}

// An error without a class is still a failure.
func TestDoTakesNoErrorForSuccess(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want fault.Failure
	}{
		"a_class_left_out":      {&fault.ClassError{Cause: errors.New("no")}, fault.Failure{Plane: fault.Correction, Class: fault.Unknown}},
		"a_provider_left_out":   {&fault.ProviderError{}, fault.Failure{Plane: fault.Transport, Class: fault.Unknown}},
		"a_limit_of_no_error":   {&ratelimit.LimitedError{}, fault.Failure{Plane: fault.Transport, Class: fault.Unknown}},
		"a_plane_left_out":      {unplaced("mine"), fault.Failure{Plane: fault.Correction, Class: "mine"}},
		"that_of_the_transport": {unplaced(fault.Auth), fault.Failure{Plane: fault.Transport, Class: fault.Auth}},
	} {
		for _, s := range []*session.Session{newSession(t), nil} {
			_, err := loop.Do(t.Context(), s, loop.FinalAnswer(), script(tt.err))
			require.ErrorIs(t, err, policy.ReasonNotRetryable, name)
			var exhausted *loop.RetryExhaustedError
			require.ErrorAs(t, err, &exhausted)
			exhausted.Failure.Message, exhausted.Failure.Text = "", ""
			assert.Equal(t, tt.want, exhausted.Failure, name)
		}
	}
}

// unplaced is an error without a plane.
type unplaced fault.Class

func (u unplaced) Error() string { return string(u) }

func (u unplaced) Failure() fault.Failure { return fault.Failure{Class: fault.Class(u)} }

func TestDoRefusesWhatIsNotThere(t *testing.T) {
	for _, s := range []*session.Session{newSession(t), nil} {
		_, err := loop.Do(t.Context(), s, nil, script())
		require.EqualError(t, err, "loop: the action is nil: make one with ToolCall or FinalAnswer")
		_, err = loop.Do(t.Context(), s, &loop.Action{Tool: "pay"}, script(unplaced(fault.RateLimit)))
		require.ErrorContains(t, err, `loop: the action has no policies: make one with ToolCall or FinalAnswer`)
		_, err = loop.Do[int](t.Context(), s, loop.FinalAnswer(), nil)
		require.EqualError(t, err, "loop: the function that makes a try is nil")
		_, err = loop.Do(t.Context(), s, loop.FinalAnswer(), script(), nil, loop.WithParallel(0))
		require.EqualError(t, err, "option 1 is nil: leave it out\nWithParallel: 0 tools at once: give 1 or more")
		tries := loop.Attempts(t.Context(), s, nil)
		for range tries.All() {
			t.Fatal("a try of nothing")
		}
		require.ErrorContains(t, tries.Err(), "the action is nil")
	}
}

func TestDoWithADeadlineStopsInsteadOfWaitingIntoIt(t *testing.T) {
	clock := looptest.NewClock()
	a := loop.ToolCall("book_room")
	a.Policy.Backoff = backoff.Constant(10 * time.Second)
	a.Deadline = looptest.Epoch.Add(5 * time.Second)
	_, err := loop.Do(t.Context(), nil, a, script(nights("type")), loop.WithClock(clock))
	require.ErrorIs(t, err, policy.ReasonDeadline)
	var invalid *fault.ToolValidationError
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, looptest.Epoch, clock.Now().UTC())
}

// An action without a session is one with a session of its own: its error has all of its attempts, and
// observers are told of its end.
func TestAnActionWithoutASessionIsToldInFull(t *testing.T) {
	var ends []*loop.RetryExhaustedError
	for _, s := range []*session.Session{newSession(t), nil} {
		for _, opts := range [][]loop.Option{nil, {loop.WithObserver(observe.ObserverFunc(func(context.Context, observe.Notice) {}))}} {
			_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), script(nights("type"), refused{Class: fault.Network}, nights("minimum"), nights("maximum")),
				append(opts, loop.WithClock(looptest.NewClock()))...)
			e, ok := errors.AsType[*loop.RetryExhaustedError](err)
			require.True(t, ok)
			assert.Len(t, e.Attempts, 4)
			assert.NotEmpty(t, e.Seed)
			e.Seed, e.Waited = "", 0 // the wait after the failed request has jitter
			for n := range e.Attempts {
				e.Attempts[n].Delay = 0
				e.Attempts[n].At = time.Time{}
			}
			e.Feedback.Schedule, e.Feedback.CorrelationID = nil, ""
			ends = append(ends, e)
		}
	}
	for _, e := range ends[1:] {
		assert.Equal(t, ends[0], e)
	}
	for want, try := range map[policy.Reason]func(context.Context, loop.Attempt) (int, error){
		policy.ReasonAccepted: script(), policy.ReasonNotRetryable: script(errors.New("odd")),
	} {
		var told []policy.Reason
		_, _ = loop.Do(t.Context(), nil, loop.ToolCall("book_room"), try, loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
			if n.Kind == observe.Ended {
				told = append(told, n.Reason)
			}
		})))
		assert.Equal(t, []policy.Reason{want}, told)
	}
}

// What is wrong with an action is said at its first failure at the latest, with the error of the try.
func TestAnInvalidActionIsReportedWithTheErrorOfItsFirstTry(t *testing.T) {
	a := loop.ToolCall("book_room")
	a.Policy.MaxAttempts = -7
	wrong := nights("type")
	made := 0
	try := func(context.Context, loop.Attempt) (int, error) { made++; return 0, wrong }
	_, err := loop.Do(t.Context(), nil, a, try)
	require.ErrorContains(t, err, "policy: global.max_attempts: -7")
	require.ErrorContains(t, err, "; its first try failed: ")
	require.ErrorIs(t, err, wrong)
	assert.Equal(t, 1, made)

	a.Deadline = time.Now().Add(time.Hour)
	_, err = loop.Do(t.Context(), nil, a, try)
	require.ErrorContains(t, err, "policy: global.max_attempts: -7")
	require.NotErrorIs(t, err, wrong)
	assert.Equal(t, 1, made)
}

// The end of the context in a first try without a session ends the action as in one.
func TestAnActionWhoseContextEndsInItsFirstTryIsCancelled(t *testing.T) {
	for _, s := range []*session.Session{newSession(t), nil} {
		ctx, cancel := context.WithCancelCause(t.Context())
		closed := errors.New("closed for today")
		_, err := loop.Do(ctx, s, loop.ToolCall("book_room"), func(context.Context, loop.Attempt) (int, error) {
			cancel(closed)
			return 0, nights("type")
		})
		require.ErrorIs(t, err, policy.ReasonCancelled)
		require.ErrorIs(t, err, closed)
		e, ok := errors.AsType[*loop.RetryExhaustedError](err)
		require.True(t, ok)
		require.Len(t, e.Attempts, 1)
		assert.Equal(t, policy.ReasonCancelled, e.Attempts[0].Reason)
	}
}

func TestDoThatSucceedsAllocatesNothing(t *testing.T) {
	ctx, a := t.Context(), loop.ToolCall("book_room")
	try := func(context.Context, loop.Attempt) (int, error) { return 1, nil }
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = loop.Do(ctx, nil, a, try) }))
}

// An action is compiled once. Ten more attempts show that none of the rest is done for each of them.
func TestMemoryOfAnAttempt(t *testing.T) {
	a, wrong := loop.ToolCall("book_room"), nights("type")
	a.Policy.MaxAttempts = 13
	action := func(s *session.Session, failures int) float64 {
		return testing.AllocsPerRun(20, func() {
			_, _ = loop.Do(t.Context(), s, a, func(_ context.Context, at loop.Attempt) (int, error) {
				if at.Number <= failures {
					return 0, wrong
				}
				return 1, nil
			})
		})
	}
	for _, s := range []*session.Session{newSession(t), nil} {
		assert.LessOrEqual(t, action(s, 2), 3*40.0)
		assert.LessOrEqual(t, action(s, 12)-action(s, 2), 10*30.0)
	}
}

func BenchmarkDo(b *testing.B) {
	ctx, a, wrong := b.Context(), loop.ToolCall("book_room"), nights("type")
	b.Run("success_at_once", func(b *testing.B) {
		b.ReportAllocs()
		try := func(context.Context, loop.Attempt) (int, error) { return 1, nil }
		for b.Loop() {
			_, _ = loop.Do(ctx, nil, a, try)
		}
	})
	b.Run("two_failures_zero_delay", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		try := func(context.Context, loop.Attempt) (int, error) {
			if n++; n%3 != 0 {
				return 0, wrong
			}
			return n, nil
		}
		for b.Loop() {
			_, _ = loop.Do(ctx, nil, a, try)
		}
	})
	b.Run("recorded_two_failures", func(b *testing.B) {
		b.ReportAllocs()
		s, err := session.New(session.Config{ID: "bench"})
		require.NoError(b, err)
		n := 0
		try := func(context.Context, loop.Attempt) (int, error) {
			if n++; n%3 != 0 {
				return 0, wrong
			}
			return n, nil
		}
		for b.Loop() {
			_, _ = loop.Do(ctx, s, a, try)
		}
	})
}

// TestActionsWithinActionsAtOnce compares many concurrent actions with what each would have recorded alone.
// Each has another action in its attempts, waits after failures, and sometimes panics.
func TestActionsWithinActionsAtOnce(t *testing.T) {
	inner, outer := loop.ToolCall("inner"), loop.ToolCall("outer")
	outer.Policy.Backoff = backoff.Constant(time.Second)
	fails := func(ctx context.Context, a loop.Attempt) (int, error) {
		_, err := loop.Do(ctx, newSession(t), inner, script(nights("inner")), loop.WithClock(looptest.NewClock()))
		return 0, errors.Join(err, nights([]string{"one", "two", "three"}[a.Number-1]))
	}
	action := func(s *session.Session) ([]session.Attempt, error) {
		_, err := loop.Do(t.Context(), s, outer, fails, loop.WithClock(looptest.NewClock()))
		return s.State().Attempts(), err
	}
	want, wantErr := action(newSession(t))
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			if n%4 == 0 {
				defer func() { assert.Equal(t, "the user's try", recover()) }()
				_, _ = loop.Do(t.Context(), newSession(t), outer, func(context.Context, loop.Attempt) (int, error) { panic("the user's try") })
			}
			got, err := action(newSession(t))
			assert.Equal(t, want, got)
			assert.Equal(t, wantErr, err)
		})
	}
	all.Wait()
}

// The caller may change the issues of an action's error. The session's records do not change.
func TestTheIssuesOfAnErrorAreItsOwn(t *testing.T) {
	s := newSession(t)
	_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(context.Context, loop.Attempt) (int, error) { return 0, nights("type") })
	typed, ok := errors.AsType[*fault.ToolValidationError](err)
	require.True(t, ok)
	typed.Issues[0].Rule = "written over"
	exhausted, ok := errors.AsType[*loop.RetryExhaustedError](err)
	require.True(t, ok)
	exhausted.Failure.Issues[0].Rule = "written over"
	for n := range 3 {
		assert.Equal(t, "type", s.State().Attempts()[n].Issues[0].Rule)
		assert.Equal(t, "type", s.State().Feedback()[n].Issues[0].Rule)
	}
}
