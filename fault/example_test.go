package fault_test

import (
	"errors"
	"fmt"

	"github.com/retake-go/retake/fault"
)

func ExampleClassify() {
	v := fault.Classify(fault.Response{
		Provider: "openai",
		Status:   429,
		Body:     []byte(`{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your current quota"}}`),
	})
	fmt.Println(v.Class, v.Plane, v.Retryable)
	fmt.Println(fault.UserMessage(v.Class, v.Metadata))
	// Output:
	// billing transport false
	// Your account with OpenAI has no credit left, or has reached its spending limit. Check its plan and billing.
}

func ExampleAsError() {
	err := fault.AsError(fault.Response{Provider: "anthropic", Status: 529, Type: "overloaded_error"})
	var api *fault.APIError
	fmt.Println(errors.As(err, &api), api.Class.Transient())
	// Output: true true
}

func ExampleParseName() {
	for _, name := range []string{"llm-rate-limit", "rate_limit", "RATE_LIMITED"} {
		fmt.Println(fault.ParseName(name))
	}
	// Output:
	// rate_limit true
	// rate_limit true
	// rate_limit true
}
