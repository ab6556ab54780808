package result_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
)

// agentErrorCodes are the codes of the agent error documents.
var agentErrorCodes = []string{
	"PROVIDER_NOT_CONFIGURED", "PROVIDER_NOT_SUPPORTED", "AUTHENTICATION_ERROR", "RATE_LIMITED", "MODEL_NOT_FOUND",
	"CONTEXT_LENGTH_EXCEEDED", "NETWORK_ERROR", "TIMEOUT", "INVALID_RESPONSE", "VALIDATION_ERROR", "IO_ERROR", "CONFIG_ERROR",
	"PERMISSION_DENIED", "NOT_FOUND", "LLM_ASSIST_REQUIRED", "MAX_ITERATIONS_EXCEEDED", "TOOL_EXECUTION_ERROR",
	"INITIALIZATION_ERROR", "UNKNOWN",
}

func TestAgentErrorResponseTypes(t *testing.T) {
	for _, form := range []result.Form{result.AgentResponse, result.ModelResponse} {
		good := roundTrip(t, form, `{"success":true,"result":{"content":"Hi"},"message":"OK"}`)
		assert.Equal(t, "OK", good.Message)
		for _, code := range agentErrorCodes {
			bad := roundTrip(t, form, `{"success":false,"error":"`+code+`","message":"x"}`)
			assert.Equal(t, code, bad.Error.Class.Names().AgentError)
		}
		strange := roundTrip(t, form, `{"success":false,"error":"QUOTA_EXCEEDED","message":"x"}`)
		assert.Equal(t, fault.Class("QUOTA_EXCEEDED"), strange.Error.Class)
	}
}

func TestAgentErrorRetryAfterMs(t *testing.T) {
	r := roundTrip(t, result.ModelResponse, `{"success":false,"error":"RATE_LIMITED","message":"slow down","retryAfterMs":1500}`)
	assert.Equal(t, ratelimit.In(1500*time.Millisecond), r.RateLimit.RetryAfter)
	assert.JSONEq(t, `{"success":false,"error":"RATE_LIMITED","message":"slow down","metadata":{"retryAfter":1.5}}`, encode(t, result.AgentResponse, r))
	assert.True(t, r.Retryable())

	const model = `{"success":false,"error":"RATE_LIMITED","message":"slow down","retryAfterMs":1500}`
	other := roundTrip(t, result.AgentResponse, model)
	assert.Equal(t, r.RateLimit, other.RateLimit, "either form's way of telling it is understood, and kept")
	other.RateLimit.RetryAfter = ratelimit.In(2 * time.Second)
	assert.JSONEq(t, `{"success":false,"error":"RATE_LIMITED","message":"slow down","retryAfterMs":2000}`, encode(t, result.AgentResponse, other))
	roundTrip(t, result.ModelResponse, `{"success":false,"error":"RATE_LIMITED","message":"","retryAfterMs":1500,"metadata":{"retryAfter":1.5,"model":"m"}}`)
}

func TestAgentErrorProviderErrorMetadata(t *testing.T) {
	r := roundTrip(t, result.AgentResponse, `{"success":false,"error":"RATE_LIMITED","message":"Too many requests","metadata":{
		"provider":"openai","model":"gpt-4o","statusCode":429,"retryAfter":60,"originalError":{"name":"APIError","code":null}}}`)
	assert.Equal(t, "openai", r.Execution.Provider)
	assert.Equal(t, "gpt-4o", r.Execution.Model)
	assert.Equal(t, 429, r.Error.StatusCode)
	assert.Equal(t, ratelimit.In(time.Minute), r.RateLimit.RetryAfter)
	assert.Equal(t, "OpenAI is receiving too many requests from you right now. Try again in 60 seconds.", r.UserMessage())
	roundTrip(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","message":"","metadata":{"requestId":"r","statusCode":0}}`)
}

// A class that is finer than the form's code is kept in the extension. The form has no code for an agent's
// own class.
func TestAgentErrorCoarseCodes(t *testing.T) {
	for class, want := range map[fault.Class]string{
		fault.Overloaded:     `{"success":false,"error":"NETWORK_ERROR","message":"","retake":{"error":{"class":"overloaded"}}}`,
		fault.Billing:        `{"success":false,"error":"AUTHENTICATION_ERROR","message":"","retake":{"error":{"class":"billing"}}}`,
		"low_confidence":     `{"success":false,"error":"UNKNOWN","message":"","retake":{"error":{"class":"low_confidence"}}}`,
		fault.MaxIterations:  `{"success":false,"error":"MAX_ITERATIONS_EXCEEDED","message":""}`,
		"QUOTA_EXCEEDED":     `{"success":false,"error":"QUOTA_EXCEEDED","message":""}`,
		fault.ToolValidation: `{"success":false,"error":"VALIDATION_ERROR","message":""}`,
	} {
		r := result.Failure[json.RawMessage](class, "")
		assert.JSONEq(t, want, encode(t, result.AgentResponse, r))
		throughAll(t, r)
	}
}

func TestAgentErrorResponseCreation(t *testing.T) {
	assert.JSONEq(t, `{"success":false,"error":"NETWORK_ERROR","message":"API call failed"}`,
		encode(t, result.AgentResponse, result.Failure[json.RawMessage](fault.Network, "API call failed")))

	r := result.Failure[json.RawMessage](fault.RateLimit, "Too many requests")
	r.Execution.Provider, r.Execution.Model, r.Error.StatusCode = "openai", "gpt-4o", 429
	r.RateLimit.RetryAfter = ratelimit.In(time.Minute)
	assert.JSONEq(t, `{"success":false,"error":"RATE_LIMITED","message":"Too many requests","metadata":{"provider":"openai",
		"model":"gpt-4o","statusCode":429,"retryAfter":60}}`, encode(t, result.AgentResponse, r))
	throughAll(t, r)
}

func TestAgentErrorTypeGuards(t *testing.T) {
	ok := result.Success("result")
	assert.True(t, ok.IsSuccess())
	assert.False(t, ok.IsError())
	bad := result.Failure[string](fault.Unknown, "Error")
	assert.True(t, bad.IsError())
	assert.False(t, bad.IsSuccess())
	assert.True(t, result.InProgress[string](nil).IsInProgress())
}

func TestAgentErrorEmptyMessages(t *testing.T) {
	r := roundTrip(t, result.AgentResponse, `{"success":false,"error":"UNKNOWN","message":""}`)
	assert.Equal(t, "Something unexpected went wrong. Try again; if it keeps happening, look at the log.", r.UserMessage())
	roundTrip(t, result.AgentResponse, `{"success":true,"result":null,"message":""}`)
	roundTrip(t, result.AgentResult, `{"error":{"code":"timeout","message":""}}`)
	_, err := r.Unwrap()
	assert.EqualError(t, err, "result without data: unknown")
}

func TestAgentErrorMissingMetadata(t *testing.T) {
	r := roundTrip(t, result.AgentResponse, `{"success":false,"error":"MAX_ITERATIONS_EXCEEDED","message":"gave up"}`)
	assert.Empty(t, r.Execution)
	roundTrip(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","message":"x","metadata":{}}`)
	missing := decode(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","metadata":null}`)
	assert.JSONEq(t, `{"success":false,"error":"TIMEOUT","message":""}`, encode(t, result.AgentResponse, missing), "the form requires a message")
}

// Wrapped errors become data and come back as the same typed error.
func TestAgentErrorFromAChainOfWrappedErrors(t *testing.T) {
	model := fault.Typed(fault.ProviderError{
		Class: fault.RateLimit, Provider: "openai", Model: "gpt-4o", StatusCode: 429, RetryAfter: time.Minute, RequestID: "req_1",
		Message: "Too many requests",
	})
	agent := fmt.Errorf("agent: %w", errors.Join(errors.New("while planning"), fmt.Errorf("model: %w", model)))
	r := result.FromError[json.RawMessage](agent)
	assert.JSONEq(t, `{"success":false,"error":"RATE_LIMITED","message":"Too many requests","metadata":{"provider":"openai",
		"model":"gpt-4o","statusCode":429,"retryAfter":60},"retake":{"error":{"type":"RateLimitError"},"finish_reason":"error","request_id":"req_1"}}`, encode(t, result.AgentResponse, r))
	throughAll(t, r)

	_, err := r.Unwrap()
	var limited *fault.RateLimitError
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, "openai", limited.Provider)
	assert.Equal(t, time.Minute, limited.RetryAfter)
	assert.Equal(t, r.Error, result.FromError[int](fmt.Errorf("outer: %w", err)).Error, "and round again")
}

// The text that a stream delivered before it broke is kept beside the error.
func TestAgentErrorDuringStreaming(t *testing.T) {
	r := roundTrip(t, result.AgentResult, `{"content":"The three rivers are the Ni","error":{"code":"server_error","type":"ReadError",
		"message":"stream ended","retryable":true},"finish_reason":"error"}`)
	assert.True(t, r.IsError())
	assert.Equal(t, "The three rivers are the Ni", r.Content)
}

// Several goroutines may encode and read the same result.
func TestAgentErrorConcurrentEmissions(t *testing.T) {
	r := decode(t, result.AgentResult, `{"error":{"code":"rate_limit","message":"x","param":1},"usage":{"requests":3},
		"provider_data":{"raw_headers":{"a":"b"}},"rate_limit":{"limited":true,"windows":[{"name":"n","resource":"requests","x":1}]}}`)
	want := encode(t, result.AgentResponse, r)
	var wg sync.WaitGroup
	got := make([]string, 16)
	for i := range got {
		wg.Go(func() {
			doc, err := result.Encode(result.AgentResponse, warned(r, fmt.Sprint(i)))
			if err == nil {
				got[i] = string(doc)
			}
		})
	}
	wg.Wait()
	for i := range got {
		assert.Equal(t, fmt.Sprint(i), decode(t, result.AgentResponse, got[i]).Warnings[0])
	}
	assert.Equal(t, want, encode(t, result.AgentResponse, r))
}

func TestAgentErrorRefused(t *testing.T) {
	refused(t, result.AgentResponse, `{"message":"x"}`, `success: required`)
	refused(t, result.AgentResponse, `{"success":"yes"}`, `success: expected boolean, got string`)
	refused(t, result.AgentResponse, `{"success":true,"error":"TIMEOUT","message":""}`, `error: expected nothing here unless success is false`)
	refused(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","result":1,"message":""}`, `result: expected nothing here unless success is true`)
	refused(t, result.AgentResponse, `{"success":false,"message":"x"}`, `error: required, expected error code`)
	refused(t, result.AgentResponse, `{"success":false,"error":{"code":"x"},"message":""}`, `error: expected error code, a string that is not empty, got object`)
	refused(t, result.ModelResponse, `{"success":false,"error":"TIMEOUT","retryAfterMs":-5}`, `retryAfterMs: expected number of milliseconds, 0 or more and at most 366 days, got -5`)
	refused(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","metadata":{"retryAfter":1e300}}`, `metadata/retryAfter: expected number of seconds, 0 or more and at most 366 days, got 1e300`)
	refused(t, result.AgentResponse, `{"success":false,"error":"TIMEOUT","message":3}`, `message: expected string, got 3`)
}

func TestAnErrorThatKnowsItsFailureKeepsItsWaitAndThatItIsFinal(t *testing.T) {
	r := result.FromError[int](&fault.TransportError{Class: fault.RateLimit, RetryAfter: 9 * time.Second, Final: true})
	assert.Equal(t, fault.RateLimit, r.Error.Class)
	assert.False(t, r.Retryable())
	assert.Equal(t, ratelimit.State{RetryAfter: ratelimit.In(9 * time.Second)}, r.RateLimit)
}

func TestTheRateLimitsOfAnErrorAreThoseOfItsResult(t *testing.T) {
	limits := ratelimit.Parse(map[string][]string{"X-Ratelimit-Limit-Requests": {"60"}, "X-Ratelimit-Remaining-Requests": {"0"},
		"Retry-After": {"9"}}, time.Time{})
	r := result.FromError[int](fmt.Errorf("asking: %w", &ratelimit.LimitedError{State: limits,
		Err: fault.Typed(fault.ProviderError{Class: fault.RateLimit, RetryAfter: 9 * time.Second, Message: "slow"})}))
	limits.Ignored = nil
	assert.Equal(t, limits, r.RateLimit)
	assert.NoError(t, r.Validate())
}
