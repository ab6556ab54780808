package fault_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/fault"
)

// A failure that was read from a record is found by the type of the error that it was.
func TestARecordedFailureIsTheTypedErrorThatItWas(t *testing.T) {
	t.Parallel()
	wrong := []fault.Issue{{Pointer: "/nights", Rule: "required", Source: fault.FromSchema}}
	for name, tt := range map[string]struct {
		recorded fault.Failure
		want     error
	}{
		"arguments": {
			fault.FailureOf(&fault.ToolValidationError{Tool: "pay", Issues: wrong}),
			&fault.ToolValidationError{Tool: "pay", Issues: wrong},
		},
		"unknown tool": {
			fault.Failure{Plane: fault.Correction, Class: fault.UnknownTool, Tool: "payy", Issues: wrong},
			&fault.ToolValidationError{Tool: "payy", Issues: wrong},
		},
		"answer": {
			fault.FailureOf(&fault.StructuredOutputError{Issues: wrong}), &fault.StructuredOutputError{Issues: wrong},
		},
		"own class": {
			fault.FailureOf(&fault.ClassError{Class: "too_dear", Issues: wrong}),
			&fault.ClassError{Class: "too_dear", Issues: wrong},
		},
		"provider": {
			fault.FailureOf(&fault.ProviderError{Class: fault.RateLimit, Message: "slow down"}),
			&fault.ProviderError{Class: fault.RateLimit, Message: "slow down"},
		},
		"reducer": {fault.FailureOf(&fault.ReducerError{Reducer: "cart", Message: "full"}), nil},
	} {
		err := &fault.RecordedError{Recorded: tt.recorded}
		assert.Equal(t, tt.want, errors.Unwrap(err), name)
		assert.Equal(t, tt.recorded, fault.FailureOf(err), name)
	}
}
