package loop_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// drawnErrors are the errors of the tries of [drawnAction].
var drawnErrors = map[string]error{
	"type": nights("type"), "minimum": nights("minimum"), "final": &fault.TransportError{Class: fault.Auth},
	"answer":   &fault.StructuredOutputError{Issues: []fault.Issue{{Pointer: "/sum", Rule: "type", Source: fault.FromSchema}}},
	"no tool":  &fault.ClassError{Class: fault.UnknownTool, Cause: errors.New("no such tool")},
	"own":      fmt.Errorf("around: %w", &fault.ClassError{Class: "mine", Cause: errors.New("mine")}),
	"reducer":  &fault.ReducerError{Reducer: "sum", Message: "no"},
	"network":  refused{Class: fault.Network},
	"limited":  refused{Class: fault.RateLimit, After: 20 * time.Second},
	"untyped":  errors.New("odd"),
	"timeout":  context.DeadlineExceeded,
	"no class": &fault.ClassError{},
}

// drawnAction is an action with what happens in each of its tries.
type drawnAction struct {
	action func() *loop.Action
	tries  []drawnTry
	left   time.Duration // until the deadline of the context; 0 for none
	opts   []loop.Option
}

type drawnTry struct {
	err           error
	reads, closes bool
	takes         time.Duration
}

func drawAction(t *rapid.T) (d drawnAction) {
	name := rapid.SampledFrom([]string{"book_room", ""}).Draw(t, "tool")
	p := loop.ToolCall(name).Policy
	p.MaxAttempts = rapid.SampledFrom([]int{-1, 1, 2, 3, 5}).Draw(t, "attempts")
	p.EmitFeedback = rapid.Bool().Draw(t, "feedback")
	p.NoProgress = rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "no progress")
	p.OptOut = rapid.IntRange(0, 9).Draw(t, "opt out") == 0
	p.RetryableErrors = append(p.RetryableErrors, rapid.SliceOfNDistinct(rapid.SampledFrom([]fault.Class{
		"mine", fault.Reducer, fault.Unknown}), 0, 3, rapid.ID).Draw(t, "classes")...)
	p.Backoff = backoff.Constant(rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second}).Draw(t, "delay"))
	p.Backoff.Jitter.Kind = rapid.SampledFrom([]backoff.JitterKind{"", backoff.NoJitter, backoff.Full}).Draw(t, "jitter")
	d.action = func() *loop.Action {
		a := loop.ToolCall(name)
		a.Seed, a.Policy = "order-42", p.Clone()
		return a
	}
	for range rapid.IntRange(0, 7).Draw(t, "failures") {
		d.tries = append(d.tries, drawnTry{
			err: drawnErrors[rapid.SampledFrom([]string{
				"type", "type", "minimum", "minimum", "answer", "no tool", "own", "reducer", "network", "limited", "untyped", "timeout", "no class", "final",
			}).Draw(t, "error")],
			reads:  rapid.Bool().Draw(t, "reads"),
			closes: rapid.IntRange(0, 19).Draw(t, "closes") == 0,
			takes:  time.Duration(rapid.IntRange(0, 3).Draw(t, "takes")) * time.Second,
		})
	}
	d.left = time.Duration(rapid.SampledFrom([]int{0, 0, 4, 40}).Draw(t, "left")) * time.Second
	if rapid.IntRange(0, 4).Draw(t, "classified") == 0 {
		d.opts = append(d.opts, loop.WithClassifier(func(err error) fault.Verdict {
			if err.Error() == "odd" {
				return fault.Verdict{Class: "mine", Plane: fault.Correction}
			}
			return fault.Verdict{}
		}))
	}
	return d
}

// until is a context with a deadline that another clock has.
type until struct {
	context.Context
	at time.Time
}

func (u until) Deadline() (time.Time, bool) { return u.at, true }

// madeAction is what can be seen of an action. Ids and the reads of feedback are left out of it.
type madeAction struct {
	Value int
	Tries []loop.Attempt
	Told  []feedback.RetryFeedback
	Text  string
	Error *loop.RetryExhaustedError
	Ended time.Time
}

func (d *drawnAction) make(s *session.Session) (m madeAction) {
	clock := looptest.NewClock()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if d.left > 0 {
		ctx = until{ctx, clock.Now().Add(d.left)}
	}
	n := 0
	value, err := loop.Do(ctx, s, d.action(), func(_ context.Context, a loop.Attempt) (int, error) {
		m.Tries = append(m.Tries, loop.Attempt{Number: a.Number, Max: a.Max, Settings: a.Settings, Transport: a.Transport,
			InDoubt: a.InDoubt, Timeout: a.Timeout, Usage: a.Usage, Value: a.Value})
		if n++; n > len(d.tries) {
			return n, nil
		}
		now := d.tries[n-1]
		if now.reads {
			f := a.Feedback()
			f.CorrelationID = ""
			m.Told = append(m.Told, f)
		}
		clock.Add(now.takes)
		if now.closes {
			cancel(errors.New("closed for today"))
		}
		return 0, now.err
	}, append(d.opts, loop.WithClock(clock))...)
	m.Value, m.Ended = value, clock.Now()
	if err != nil {
		m.Text = fmt.Sprintf("%+v", err)
		if e, ok := errors.AsType[*loop.RetryExhaustedError](err); ok {
			own := *e
			if m.Error = &own; own.Feedback != nil {
				own.Feedback = new(*own.Feedback)
				own.Feedback.CorrelationID = ""
			}
		}
	}
	return m
}

// An action whose records are made late, or never, is the same as one that records each try.
func TestAnActionWithoutASessionIsTheSameAsInOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawAction(rt)
		require.Equal(rt, d.make(newSessionNamed(t, "s")), d.make(nil))
	})
}

// Feedback may be read late and by others: it is that of the attempt.
func TestFeedbackIsThatOfItsAttemptWhenItIsReadLate(t *testing.T) {
	var late []loop.Attempt
	var readers sync.WaitGroup
	a := loop.ToolCall("book_room")
	a.Policy.MaxAttempts = 9
	rules := []string{"a", "b", "c", "d", "e", "f"}
	_, err := loop.Do(t.Context(), nil, a, func(_ context.Context, at loop.Attempt) (int, error) {
		if late = append(late, at); at.Number > 1 {
			readers.Go(func() { assert.Equal(t, "nights: "+rules[at.Number-2], at.Feedback().Message) })
		}
		if at.Number > len(rules) {
			return 1, nil
		}
		return 0, nights(rules[at.Number-1])
	})
	require.NoError(t, err)
	readers.Wait()
	require.Len(t, late, 7)
	assert.Zero(t, late[0].Feedback())
	for n, at := range late[1:] {
		assert.Equal(t, "nights: "+rules[n], at.Feedback().Message)
		assert.Equal(t, late[1].Feedback().CorrelationID, at.Feedback().CorrelationID)
	}
}

// Two failures that nobody reads about take few allocations: the failures themselves, and their issues.
func TestFailuresThatNobodyReadsAboutAreNotRecorded(t *testing.T) {
	ctx, a := t.Context(), loop.ToolCall("book_room")
	try := lessThan3()
	do := func() { _, _ = loop.Do(ctx, nil, a, try) }
	do()
	assert.LessOrEqual(t, testing.AllocsPerRun(100, do), 3.0)
}
