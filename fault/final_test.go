package fault_test

import (
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
