package result_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/ratelimit"
	"github.com/retake-go/retake/result"
)

func TestAgentResultError(t *testing.T) {
	r := roundTrip(t, result.AgentResult, `{"error":{"code":"rate_limit","type":"RateLimitError","message":"Too many requests",
		"status_code":429,"retryable":true},"finish_reason":"error"}`)
	assert.True(t, r.IsError())
	assert.True(t, r.Retryable())
	assert.Equal(t, result.Error{
		Class: fault.RateLimit, Type: "RateLimitError", Message: "Too many requests", StatusCode: 429, Retryable: new(true),
	}, r.Error)
	assert.Equal(t, message.Error, r.Finish)
}

func TestAgentResultKnownErrorCodes(t *testing.T) {
	for code, retryable := range map[string]bool{
		"rate_limit": true, "timeout": true, "server_error": true, "invalid_request": false, "auth_error": false,
		"content_filter": false, "context_length": false, "model_unavailable": false,
	} {
		t.Run(code, func(t *testing.T) {
			r := roundTrip(t, result.AgentResult, `{"error":{"code":"`+code+`","message":"x"}}`)
			assert.Equal(t, retryable, r.Retryable(), "nobody said so: the code does")
		})
	}
	maybe := roundTrip(t, result.AgentResult, `{"error":{"code":"model_unavailable","message":"x","retryable":true}}`)
	assert.True(t, maybe.Retryable(), "what the sender says wins over the code")
	own := roundTrip(t, result.AgentResult, `{"error":{"code":"queue_full","message":"x"}}`)
	assert.Equal(t, fault.Class("queue_full"), own.Error.Class)
}

func TestAgentResultFinishReasons(t *testing.T) {
	for _, reason := range []string{"stop", "length", "tool_use", "error", "content_filter", "aborted", "end_turn"} {
		r := roundTrip(t, result.AgentResult, `{"content":"x","finish_reason":"`+reason+`"}`)
		assert.Equal(t, message.FinishReason(reason), r.Finish)
	}
}

func TestAgentResultRateLimitState(t *testing.T) {
	r := roundTrip(t, result.AgentResult, `{"content":"x","rate_limit":{"limited":true,"retry_after":60,"windows":[
		{"name":"requests_per_minute","resource":"requests","remaining":0,"limit":60,"resets_in":45,"reset_at":1234567890.0},
		{"name":"tokens_per_day","resource":"tokens","remaining":500000,"limit":1000000,"resets_in":43200}]}}`)
	assert.True(t, r.RateLimit.Limited)
	assert.Equal(t, ratelimit.In(time.Minute), r.RateLimit.RetryAfter)
	assert.Equal(t, []ratelimit.Window{
		{
			Name: "requests_per_minute", Resource: "requests", Remaining: ratelimit.Of(0), Limit: ratelimit.Of(60),
			ResetsIn: ratelimit.In(45 * time.Second), ResetAt: ratelimit.Date{Time: time.Unix(1234567890, 0).UTC()},
		},
		{Name: "tokens_per_day", Resource: "tokens", Remaining: ratelimit.Of(500000), Limit: ratelimit.Of(1000000), ResetsIn: ratelimit.In(12 * time.Hour)},
	}, r.RateLimit.Windows)
}

func TestAgentResultProviderData(t *testing.T) {
	r := roundTrip(t, result.AgentResult, `{"content":"x","provider_data":{"provider":"cerebras","model":"llama-4-scout-17b",
		"request_id":"req_abc123","raw_headers":{"x-ratelimit-remaining-requests-minute":"10","x-ratelimit-remaining-tokens-day":"500000"}}}`)
	assert.Equal(t, "cerebras", r.Execution.Provider)
	assert.Equal(t, "llama-4-scout-17b", r.Execution.Model)
	assert.Equal(t, "req_abc123", r.Provider.RequestID)
	assert.Equal(t, "500000", r.Provider.RawHeaders["x-ratelimit-remaining-tokens-day"], `"Accessing Raw Headers" reads these`)
	roundTrip(t, result.AgentResult, `{"content":"x","provider_data":{"provider":"cerebras","raw_headers":{}}}`)
}

func TestAgentResultUsageAndCost(t *testing.T) {
	r := roundTrip(t, result.AgentResult, `{"content":"x","usage":{"input_tokens":100,"output_tokens":50,"total_tokens":150,
		"cache_read_tokens":10,"cache_write_tokens":5,"api_calls":1},
		"cost":{"input":0.001,"output":0.002,"cache_read":0.0001,"cache_write":0.0002,"total":0.0033}}`)
	assert.Equal(t, result.Usage{
		Usage:       message.Usage{InputTokens: 100, OutputTokens: 50, CacheReadTokens: 10, CacheWriteTokens: 5, APICalls: 1},
		TotalTokens: 150,
	}, r.Execution.Usage)
	assert.Equal(t, result.Cost{Input: 0.001, Output: 0.002, CacheRead: 0.0001, CacheWrite: 0.0002, Total: 0.0033}, r.Execution.Cost)

	plain := roundTrip(t, result.AgentResult, `{"content":"x","cost":0.0033}`)
	assert.Equal(t, result.Cost{Total: 0.0033}, plain.Execution.Cost, "a float is the total")
	parts := roundTrip(t, result.AgentResult, `{"content":"x","cost":{"input":0.1,"output":0.2}}`)
	assert.Equal(t, 0.3, parts.Execution.Cost.Amount())
	roundTrip(t, result.AgentResult, `{"content":"x","cost":{"total":0.0033,"currency":"USD"},"usage":{"input_tokens":0,"requests":3,"cost":{"total":1}}}`)
}

func TestAgentResultOutputAndContent(t *testing.T) {
	both := roundTrip(t, result.AgentResult, `{"output":{"greeting":"Hello"},"content":"Hello","metadata":{"steps":[1,2]},"finish_reason":"stop"}`)
	assert.JSONEq(t, `{"greeting":"Hello"}`, string(both.Data))
	assert.Equal(t, "Hello", both.Content)
	textual := roundTrip(t, result.AgentResult, `{"content":"Hello"}`)
	assert.Equal(t, `"Hello"`, string(textual.Data), "text alone is the outcome")
	assert.True(t, roundTrip(t, result.AgentResult, `{}`).IsSuccess(), "no error is success")

	list, err := result.Encode(result.AgentResult, result.Success([]int{1, 2}))
	require.NoError(t, err)
	assert.JSONEq(t, `{"retake":{"data":[1,2]}}`, string(list), "output is an object or nothing")
	back, err := result.Decode[[]int](result.AgentResult, list)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, back.Data)
}

// The text of a run without data, and a text beside data that does not fit the form, stand there once.
func TestAgentResultHoldsItsTextOnce(t *testing.T) {
	beside := func(data string) raw {
		return raw{Status: result.StatusSuccess, Data: json.RawMessage(data), Meta: result.Meta{Content: "The Nile."}}
	}
	for name, c := range map[string]struct {
		r   raw
		doc string
	}{
		"no data":       {raw{Status: result.StatusSuccess, Meta: result.Meta{Content: "The Nile."}}, `{"content":"The Nile.","retake":{"content_is":"text"}}`},
		"the text":      {raw{Status: result.StatusSuccess, Data: json.RawMessage(`"The Nile."`)}, `{"content":"The Nile."}`},
		"both":          {beside(`"The Nile."`), `{"content":"The Nile.","retake":{"content_is":"both"}}`},
		"another text":  {beside(`"Nile"`), `{"content":"The Nile.","retake":{"data":"Nile"}}`},
		"a list":        {beside(`["Nile"]`), `{"content":"The Nile.","retake":{"data":["Nile"]}}`},
		"null":          {beside(`null`), `{"content":"The Nile.","retake":{"data":null}}`},
		"an object":     {beside(`{"river":"Nile"}`), `{"content":"The Nile.","output":{"river":"Nile"}}`},
		"in progress":   {raw{Status: result.StatusInProgress, Meta: result.Meta{Content: "The Nile."}}, `{"content":"The Nile.","retake":{"status":"in-progress"}}`},
		"an empty text": {raw{Status: result.StatusSuccess, Data: json.RawMessage(`""`)}, `{"content":"","retake":{"data":""}}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.doc, encode(t, result.AgentResult, c.r))
			throughAll(t, c.r)
			for _, form := range result.Forms() {
				there := decode(t, form, encode(t, form, c.r))
				assert.Equal(t, c.doc, encode(t, result.AgentResult, there), "by way of %s", form)
				assert.NotContains(t, encode(t, form, decode(t, result.AgentResult, c.doc)), "agent_result", "%s keeps nothing beside it", form)
			}
		})
	}
	changed := decode(t, result.AgentResult, `{"content":"The Danube.","retake":{"content_is":"text"}}`)
	assert.Equal(t, "The Danube.", changed.Content)
	assert.Nil(t, changed.Data)
	refused(t, result.AgentResult, `{"content":"x","retake":{"content_is":"data"}}`, `retake/content_is: expected one of "text", "both", got "data"`)
}

// Python writes None for every unset field, and AgentResult has many.
func TestAgentResultAsEmitted(t *testing.T) {
	r := decode(t, result.AgentResult, `{"output":null,"content":"part of","raw":null,"usage":null,"cost":null,"metadata":null,
		"finish_reason":"error","error":{"code":"server_error","type":"ReadError","message":"","status_code":null,"retryable":false},
		"rate_limit":{"limited":false,"retry_after":null,"windows":[{"name":"w","resource":"requests","remaining":null,"limit":5}]},
		"provider_data":{"provider":"openai","model":null,"raw_headers":{"X-Request-Id":["a","b"],"age":3,"gone":null}},"trace":[null]}`)
	assert.JSONEq(t, `{"content":"part of","raw":null,"finish_reason":"error",
		"error":{"code":"server_error","type":"ReadError","message":"","retryable":false},
		"rate_limit":{"limited":false,"windows":[{"name":"w","resource":"requests","limit":5}]},
		"provider_data":{"provider":"openai","raw_headers":{"x-request-id":"a, b","age":"3"}},"trace":[null]}`, encode(t, result.AgentResult, r))
	throughAll(t, r)

	roundTrip(t, result.AgentResult, `{"content":"x","rate_limit":{"limited":false}}`)
	roundTrip(t, result.AgentResult, `{"content":"x","rate_limit":{"limited":false,"windows":[]},"usage":{},"error":{}}`)
	roundTrip(t, result.AgentResult, `{"output":{},"error":{"code":"timeout","message":"x","param":"n"}}`)
	roundTrip(t, result.AgentResult, `{"error":{"code":"rate_limit","message":"x","status_code":"429"}}`)
	untold := decode(t, result.AgentResult, `{"error":{"message":"boom"}}`)
	assert.Equal(t, fault.Unknown, untold.Error.Class)
}

func TestAgentResultRefused(t *testing.T) {
	refused(t, result.AgentResult, `{"output":{"a":1},"error":{"code":"timeout"}}`, `output: expected nothing here beside an error`)
	refused(t, result.AgentResult, `{"output":{"a":1},"retake":{"status":"in-progress"}}`, `output: expected nothing here while the result is in progress`)
	refused(t, result.AgentResult, `{"error":"timeout"}`, `error: expected object, got string`)
	refused(t, result.AgentResult, `{"output":[1]}`, `output: expected object, got array`)
	refused(t, result.AgentResult, `{"status":"success","data":1}`, `(whole): required, expected at least one member of an agent result (output, content, error, …)`)
	refused(t, result.AgentResult, `{"cost":{"input":"much"}}`, `cost/input: expected amount in US dollars, 0 or more, got string`)
	refused(t, result.AgentResult, `{"usage":{"input_tokens":-1}}`, `usage/input_tokens: expected whole number, 0 or more, got -1`)
	refused(t, result.AgentResult, `{"error":{"code":"timeout","status_code":42}}`, `error/status_code: expected HTTP status, got 42`)
	refused(t, result.AgentResult, `{"rate_limit":{"windows":[{"name":"a"},{"remaining":-1}]}}`, `rate_limit/windows/1/remaining: expected whole number, 0 or more, got -1`)
	refused(t, result.AgentResult, `{"rate_limit":{"windows":[3]}}`, `rate_limit/windows/0: expected object, got 3`)
	refused(t, result.AgentResult, `{"provider_data":{"raw_headers":{"a":{}}}}`, `provider_data/raw_headers/a: expected string or list of strings, got object`)
}

// "Adapter Responsibilities": an adapter turns a failed response into a result.
func TestAgentResultFromAResponse(t *testing.T) {
	headers := http.Header{}
	headers.Set("Retry-After", "60")
	headers.Set("X-Ratelimit-Remaining-Requests-Minute", "0")
	headers.Set("X-Ratelimit-Limit-Requests-Minute", "60")
	headers.Set("X-Request-Id", "req_abc123")
	headers.Set("Set-Cookie", "session=1")
	r := result.FromResponse[json.RawMessage](fault.Response{
		Provider: "cerebras", Model: "llama-4-scout-17b", Status: 429, Type: "RateLimitError", Message: "Too many requests",
		Headers: headers, Now: time.Date(2024, 1, 26, 15, 30, 0, 0, time.UTC),
	})
	assert.JSONEq(t, `{"error":{"code":"rate_limit","type":"RateLimitError","message":"Too many requests","status_code":429,"retryable":true},
		"finish_reason":"error",
		"rate_limit":{"limited":true,"retry_after":60,"windows":[{"name":"requests_per_minute","resource":"requests","remaining":0,"limit":60}]},
		"provider_data":{"provider":"cerebras","model":"llama-4-scout-17b","request_id":"req_abc123","raw_headers":{"retry-after":"60",
			"x-ratelimit-remaining-requests-minute":"0","x-ratelimit-limit-requests-minute":"60","x-request-id":"req_abc123"}}}`,
		encode(t, result.AgentResult, r))
	throughAll(t, r)
	assert.Equal(t, fault.Unknown, result.FromResponse[int](fault.Response{Status: 200}).Error.Class)
}
