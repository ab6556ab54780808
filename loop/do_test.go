package loop_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

func TestDoWithoutASessionDecidesAsTheCoreDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := loop.ToolCall("book_room")
		a.Policy.MaxAttempts = rapid.IntRange(1, 5).Draw(t, "attempts")
		a.Policy.NoProgress = rapid.IntRange(0, 2).Draw(t, "no progress")
		a.Policy.Backoff = backoff.Linear(time.Second, time.Second)
		// Jitter depends on the session's id. With jitter, delays differ between sessions, and so
		// does what fits a deadline.
		a.Policy.Backoff.Jitter.Kind = backoff.NoJitter
		a.Transport.Backoff.Jitter = backoff.Jitter{Kind: backoff.NoJitter}
		a.Policy.MaxTotalDelay = time.Duration(rapid.IntRange(1, 10).Draw(t, "total")) * time.Second
		a.Deadline = looptest.Epoch.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "deadline")) * time.Second)
		errs := rapid.SliceOfN(rapid.SampledFrom([]error{
			nights("type"), nights("minimum"), &fault.StructuredOutputError{}, errors.New("odd"),
			&fault.ClassError{Class: "tone"}, refused{Class: fault.RateLimit, After: 2 * time.Second}, refused{Class: fault.Timeout}, refused{Class: fault.Auth},
		}), 0, 8).Draw(t, "errors")

		type outcome struct {
			value   int
			reason  policy.Reason
			plane   fault.Plane
			attempt int
			at      time.Time
			told    []observe.Notice
		}
		do := func(s *session.Session) (o outcome) {
			clock := looptest.NewClock()
			tell := observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
				if n.Kind == observe.Retrying || n.Kind == observe.Exhausted {
					n.CorrelationID = ""
					o.told = append(o.told, n)
				}
			})
			value, err := loop.Do(context.Background(), s, a, script(errs...), loop.WithClock(clock), loop.WithObserver(tell))
			o.value, o.at = value, clock.Now()
			var e *loop.RetryExhaustedError
			if errors.As(err, &e) {
				o.reason, o.plane, o.attempt = e.Reason, e.Plane, e.Attempt
			}
			return o
		}
		s, err := session.New(session.Config{})
		require.NoError(t, err)
		require.Equal(t, do(s), do(nil))
	})
}

// Without a seed and a session, Do draws a seed if it needs one, and reports it. The same seed gives the
// same waits.
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
		assert.Equal(t, e.Seed, n.Seed)
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
	told = told[len(told)-5:]
	assert.Equal(t, waits(), fed)

	assert.Empty(t, do(loop.ToolCall("book_room"), nights("type"), nights("type"), nights("type")).Seed, "no wait needs one")
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

func TestDoThatSucceedsAllocatesNothing(t *testing.T) {
	ctx, a := t.Context(), loop.ToolCall("book_room")
	try := func(context.Context, loop.Attempt) (int, error) { return 1, nil }
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = loop.Do(ctx, nil, a, try) }))
	wrong := nights("type")
	n := 0
	third := func(context.Context, loop.Attempt) (int, error) {
		if n++; n%3 != 0 {
			return 0, wrong
		}
		return n, nil
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = loop.Do(ctx, nil, a, third) }))
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
