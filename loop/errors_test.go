package loop_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/policy"
	"github.com/retake-go/retake/session"
)

func TestARunThatIsStoppedSaysByWhat(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("the desk has closed"))
	_, err := loop.Run(ctx, looptest.NewModel(looptest.Say("hi")), newSession(t), "Hello.", loop.Config{})
	assert.EqualError(t, err, "run stopped: cancelled: the desk has closed")
}

func TestAnExhaustionWithoutIssuesSaysWhatTheFailureWas(t *testing.T) {
	for _, s := range []*session.Session{nil, newSession(t)} {
		_, err := loop.Do(t.Context(), s, loop.ToolCall("book_room"), func(context.Context, loop.Attempt) (int, error) {
			return 0, &fault.ProviderError{Class: fault.Refusal, Provider: "openai"}
		})
		assert.EqualError(t, err, "book_room: attempt 1 of 3 on the correction plane: this kind of failure is not retried: refusal from openai")
	}
}

func TestARefusalIsNamed(t *testing.T) {
	model := looptest.NewModel(looptest.Turn{Reply: message.Reply{Refusal: "I would rather not."}})
	_, err := loop.Run(t.Context(), model, newSession(t), "Hello.", loop.Config{})
	assert.EqualError(t, err, "answer: attempt 1 of 3 on the correction plane: this kind of failure is not retried: "+
		"refusal: structured output: (whole): expected an answer")
}

func TestAnErrorWithoutATextIsNamedByItsClass(t *testing.T) {
	_, err := loop.Do(t.Context(), nil, loop.FinalAnswer(), func(context.Context, loop.Attempt) (int, error) { return 0, &fault.ClassError{} })
	assert.EqualError(t, err, "answer: attempt 1 of 3 on the correction plane: this kind of failure is not retried: unknown")
}

// What a program does to the policy of an action, or of an error, is nothing to any other.
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

		_, err := loop.Run(t.Context(), looptest.NewModel(looptest.Say(""), looptest.Say(""), looptest.Say("")), newSession(t), "Hello.", loop.Config{})
		assert.ErrorIs(t, err, policy.AttemptsExhausted)
		of(err)
		_, err = loop.Run(t.Context(), looptest.NewModel(looptest.Fail(&fault.ProviderError{Class: fault.Billing})), newSession(t), "Hello.", loop.Config{})
		of(err)
	}
	assert.True(t, policy.EffectiveTransport(&policy.Set{}).Retries(fault.RateLimit))
}
