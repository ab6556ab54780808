package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/backoff"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/fixture"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestARunThatIsStoppedSaysByWhat(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("the desk has closed"))
	_, err := fixture.Run(ctx, looptest.NewModel(looptest.Say("hi")), newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
	assert.EqualError(t, err, "run stopped: cancelled: the desk has closed")
}

func TestAnExhaustionWithoutIssuesSaysWhatTheFailureWas(t *testing.T) {
	for _, s := range []*session.Session{nil, newSession(t)} {
		_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(context.Context, loop.Attempt) (int, error) {
			return 0, &fault.ProviderError{Class: fault.Refusal, Provider: "openai"}
		})
		assert.EqualError(t, err, "book_room: attempt 1 of 3 on the correction plane: refusal is not retried: add it to retryable_errors of the correction policy to have it retried: refusal from openai")
	}
}

func TestARefusalIsNamed(t *testing.T) {
	model := looptest.NewModel(looptest.Turn{Reply: message.Reply{Refusal: "I would rather not."}})
	_, err := fixture.Run(t.Context(), model, newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
	assert.EqualError(t, err, "answer: attempt 1 of 3 on the correction plane: refusal is not retried: add it to retryable_errors of the correction policy "+
		"to have it retried: (whole): expected an answer")
}

func TestAnErrorWithoutATextIsNamedByItsClass(t *testing.T) {
	_, err := loop.Do(t.Context(), nil, loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) { return 0, &fault.ClassError{} })
	assert.EqualError(t, err, "answer: attempt 1 of 3 on the correction plane: unknown is not retried: add it to retryable_errors of the correction policy to have it retried")
}

// Changing the policy of an action or an error does not affect others.
func TestPoliciesAreTheProgramsOwn(t *testing.T) {
	spoil := func(p *policy.RetryPolicy) {
		for n := range p.RetryableErrors {
			p.RetryableErrors[n] = "none"
		}
		if p.Bases != nil {
			p.Bases[fault.RateLimit] = time.Hour
		}
	}
	of := func(err error) policy.RetryPolicy {
		var stopped *loop.RetryExhaustedError
		assert.ErrorAs(t, err, &stopped)
		spoil(&stopped.Policy)
		return stopped.Policy
	}
	for range 2 {
		a := loop.ToolCall("book_room")
		assert.Equal(t, policy.Correction().RetryableErrors, a.Policy.RetryableErrors)
		assert.True(t, a.Transport.Retries(fault.RateLimit))
		assert.Empty(t, a.Transport.Bases)
		spoil(&a.Policy)
		spoil(&a.Transport)

		_, err := fixture.Run(t.Context(), looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say("")), newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
		assert.ErrorIs(t, err, policy.ReasonAttemptsExhausted)
		of(err)
		_, err = fixture.Run(t.Context(), looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Billing})), newSession(t), loop.Input{Prompt: "Hello."}, loop.Config{})
		of(err)
	}
	assert.True(t, policy.Transport().Retries(fault.RateLimit))
}

// %+v has a line for each attempt of both planes; other verbs print the error's text.
func TestAnExhaustionPrintsItsAttemptsAsATable(t *testing.T) {
	bad := looptest.Call(message.Call{Name: "book_room", Arguments: `{"city": "Porto", "nights": "two", "room": "double"}`})
	down := looptest.Fail(fault.AsError(fault.Response{Status: 503, Headers: map[string][]string{"Retry-After": {"2"}}}))
	cfg := loop.Config{Tools: bookRoom(t, func(context.Context, booking) (receipt, error) { return receipt{}, nil }), Policy: new(policy.DefaultSet())}
	cfg.Policy.Transport.RetryAfterJitter = new(backoff.Decimal)
	_, err := fixture.Run(t.Context(), looptest.NewModel(bad, down, bad, bad), newSession(t), loop.Input{Prompt: "Book."}, cfg, loop.WithClock(looptest.NewClock()))
	assert.Equal(t, strings.Join([]string{
		err.Error(),
		"  action     attempt  plane       failure          decision            issues",
		"  book_room  1 of 3   correction  tool_validation  again               nights: expected integer (at least 1, at most 30), got string",
		"  answer     1 of 4   transport   unavailable      again after 2s",
		"  book_room  2 of 3   correction  tool_validation  again               nights: expected integer (at least 1, at most 30), got string",
		"  book_room  3 of 3   correction  tool_validation  attempts_exhausted  nights: expected integer (at least 1, at most 30), got string",
	}, "\n"), fmt.Sprintf("%+v", err))
	assert.Equal(t, err.Error(), fmt.Sprintf("%v", err))
	assert.Equal(t, strconv.Quote(err.Error()), fmt.Sprintf("%q", err))
	assert.Equal(t, "run stopped: the deadline leaves no time", fmt.Sprintf("%+v", &loop.RetryExhaustedError{Reason: "deadline"}))
}
