package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

func TestTheServersOwnWordOnRetryingReachesThePolicy(t *testing.T) {
	response := fault.Response{Provider: "openai", Status: 500, Headers: map[string][]string{"X-Should-Retry": {"false"}}}
	assert.True(t, fault.Classify(response).Failure().Final)
	var provider *fault.ProviderError
	assert.ErrorAs(t, fault.AsError(response), &provider)
	assert.True(t, provider.Failure().Final)

	response.Headers = nil
	assert.False(t, fault.Classify(response).Failure().Final)
}

// The outermost error that knows its failure decides, as FailureOf documents.
func TestTheOutermostErrorGivesItsFailure(t *testing.T) {
	bad := &fault.ToolValidationError{Tool: "book_room", Issues: []fault.Issue{{Pointer: "/nights", Rule: "type"}}}
	f := fault.FailureOf(fmt.Errorf("booking: %w", &fault.ClassError{Class: "sold_out", Cause: bad}))
	assert.Equal(t, fault.Class("sold_out"), f.Class)
	assert.Empty(t, f.Tool)
	f = fault.FailureOf(errors.Join(errors.New("late"), bad, &fault.ClassError{Class: "sold_out"}))
	assert.Equal(t, fault.Failure{
		Plane: fault.Correction, Class: fault.ToolValidation, Tool: "book_room", Issues: bad.Issues,
	}, f)
}

// A provider's error without a class says nothing, so its cause decides.
func TestAnErrorWithoutAClassLeavesItToItsCause(t *testing.T) {
	err := &fault.ProviderError{Provider: "openai", Cause: &fault.ReducerError{Message: "sold out"}}
	assert.Equal(t, fault.Reducer, fault.ClassifyError(err).Class)
}

// own is an error of a program that knows its failure.
type own struct{ failure fault.Failure }

func (e own) Error() string          { return "own" }
func (e own) Failure() fault.Failure { return e.failure }

// An error of a program may leave out the class or the plane, and keeps the plane that it names.
func TestAFailureOfAProgramIsMadeComplete(t *testing.T) {
	for _, c := range []struct{ of, want fault.Failure }{
		{fault.Failure{}, fault.Failure{Plane: fault.Transport, Class: fault.Unknown}},
		{fault.Failure{Class: fault.Timeout}, fault.Failure{Plane: fault.Transport, Class: fault.Timeout}},
		{fault.Failure{Class: fault.Reducer}, fault.Failure{Plane: fault.Correction, Class: fault.Reducer}},
		{fault.Failure{Class: "of_my_own"}, fault.Failure{Plane: fault.Correction, Class: "of_my_own"}},
		{fault.Failure{Plane: fault.Transport, Class: "of_my_own"}, fault.Failure{Plane: fault.Transport, Class: "of_my_own"}},
		{fault.Failure{Plane: fault.Correction, Class: fault.Timeout}, fault.Failure{Plane: fault.Correction, Class: fault.Timeout}},
		{fault.Failure{Plane: "none", Class: fault.Timeout}, fault.Failure{Plane: fault.Transport, Class: fault.Timeout}},
	} {
		c.want.Text = "own"
		assert.Equal(t, c.want, fault.FailureOf(own{c.of}))
	}
}

// The text of a Go error is kept only if it says more than the failure, and nothing is shared with the error.
func TestTheTextOfAnErrorIsKeptIfItSaysMore(t *testing.T) {
	f := fault.Failure{Plane: fault.Transport, Class: fault.Timeout, Message: "slow"}
	for text, want := range map[string]string{"timeout": "", "slow": "", "slow: again": "slow: again"} {
		assert.Equal(t, want, fault.Recordable(f, errors.New(text)).Text)
	}
	assert.Empty(t, fault.Recordable(f, nil).Text)
	f.Issues = []fault.Issue{{Rule: "a\x00"}}
	got := fault.Recordable(f, errors.New("slow: again"))
	assert.Empty(t, got.Text, "the issues say it")
	assert.Equal(t, "a\x00", f.Issues[0].Rule)
	got.Issues[0].Rule = "changed"
	assert.Equal(t, "a\x00", f.Issues[0].Rule)
}

func TestAReducersErrorUnwraps(t *testing.T) {
	cause := errors.New("full")
	assert.ErrorIs(t, &fault.ReducerError{Reducer: "cart", Message: "full", Cause: cause}, cause)
}

// Words count in tries that say so, and only where the types say nothing.
func TestWordsOfATry(t *testing.T) {
	words := errors.New("429 too many requests")
	for _, c := range []struct {
		rules fault.TryRules
		err   error
		want  fault.Class
	}{
		{fault.TryRules{}, words, fault.Unknown},
		{fault.TryRules{Words: true}, words, fault.RateLimit},
		{fault.TryRules{Words: true}, fmt.Errorf("%w: too many requests", context.DeadlineExceeded), fault.Timeout},
		{fault.TryRules{Words: true}, errors.New("no idea"), fault.Unknown},
	} {
		assert.Equal(t, c.want, c.rules.Failure(c.err).Class, c.err)
	}
}
