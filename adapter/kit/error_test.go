package kit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/ratelimit"
)

func TestErrorsAreReadInTheFormsOfAllProviders(t *testing.T) {
	for body, want := range map[string]kit.Said{
		// OpenAI, Anthropic, Gemini whole and streamed, Ollama, OpenRouter in a choice, vLLM, the Responses
		// API.
		`{"error":{"message":"slow","type":"requests","code":"rate_limit_exceeded"}}`:             {Code: "rate_limit_exceeded", Sentence: "slow"},
		`{"type":"error","error":{"type":"overloaded_error","message":"m"},"request_id":"req_1"}`: {Code: "overloaded_error", Sentence: "m", RequestID: "req_1"},
		`{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`:                      {Code: "RESOURCE_EXHAUSTED", Sentence: "m", Status: 429},
		`[{"error":{"code":503,"message":"m"}}]`:                                                  {Sentence: "m", Status: 503},
		`{"error":"busy","status":503}`:                                                           {Sentence: "busy", Status: 503},
		`{"choices":[{"error":{"code":502,"message":"m"}}]}`:                                      {Sentence: "m", Status: 502},
		`{"object":"error","message":"m","type":"BadRequestError","code":400}`:                    {Code: "BadRequestError", Sentence: "m", Status: 400},
		`{"type":"response.failed","response":{"error":{"code":"server_error","message":"m"}}}`:   {Code: "server_error", Sentence: "m"},
		`{"detail":"no such model"}`:                                                              {Sentence: "no such model"},
		// FastAPI (vLLM), Mistral, Cloudflare, MiniMax, Baidu, z.ai, NVIDIA.
		`{"detail":[{"type":"missing","loc":["body"],"msg":"Field required"}]}`:                                       {Sentence: "Field required"},
		`{"object":"error","message":{"detail":[{"msg":"Extra inputs"}]},"type":"invalid_request_error","code":null}`: {Code: "invalid_request_error", Sentence: "Extra inputs"},
		`{"success":false,"errors":[{"code":10000,"message":"Authentication error"}],"result":null}`:                  {Code: "10000", Sentence: "Authentication error"},
		`{"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}`:                                  {Code: "1002", Sentence: "rate limit exceeded(RPM)"},
		`{"error_code":336003,"error_msg":"too long"}`:                                                                {Code: "336003", Sentence: "too long"},
		`{"code":500,"msg":"404 NOT_FOUND","success":false}`:                                                          {Sentence: "404 NOT_FOUND", Status: 500},
		`{"type":"urn:x","status":404,"title":"Not Found","detail":"no such function"}`:                               {Code: "urn:x", Sentence: "no such function", Status: 404},
		`{"errors":["no such model"]}`:                                                                                {Sentence: "no such model"},
		// Bodies that are no error or cannot be read.
		`{"error":{},"choices":"x","response":7,"message":{"role":"user"}}`: {},
		`{"error":{"code":"two words","message":7}}`:                        {},
		`"text"`: {}, `[]`: {}, `<html>`: {}, ``: {},
		`{"error":{"message":{"error":"Violated guardrail policy","lakera_response":{}},"type":"None","code":"400"}}`: {Code: "None", Sentence: "Violated guardrail policy", Status: 400},
		// Vertex AI for Claude, and Google's SDK in a gateway: the error of another stands in the sentence.
		`{"error":{"code":400,"message":"{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"too long\"},\"request_id\":\"req_2\"}","status":"INVALID_ARGUMENT"}}`: {
			Code: "invalid_request_error", Sentence: "too long", RequestID: "req_2", Status: 400},
		`{"error":{"message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"m\",\n    \"status\": \"RESOURCE_EXHAUSTED\"\n  }\n}\n","code":429,"status":"Too Many Requests"}}`: {
			Code: "RESOURCE_EXHAUSTED", Sentence: "m", Status: 429},
		`{"error":{"message":"{\"city\":\"Oslo\"} is no address","code":"bad"}}`: {Code: "bad", Sentence: `{"city":"Oslo"} is no address`},
		`{"error":{"message":"{\"error\":{}}","code":"bad"}}`:                    {Code: "bad", Sentence: `{"error":{}}`},
		// OpenRouter: what the provider behind it said, as its body or as a text.
		`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}","provider_name":"P"}}}`: {
			Code: "context_length_exceeded", Sentence: "Provider returned error: too long", Status: 400},
		`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"m is temporarily rate-limited upstream"}}}`: {
			Sentence: "Provider returned error: m is temporarily rate-limited upstream", Status: 429},
		`{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"{}"}}}`: {Sentence: "Provider returned error", Status: 502},
		`{"detail":{"error":"Model busy, retry later"}}`:                                     {Sentence: "Model busy, retry later"},
	} {
		assert.Equal(t, want, kit.ReadError([]byte(body)), body)
	}
}

func TestAFailureIsJudgedByWhatSaysItBest(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		status  int
		trouble kit.Trouble
		text    string
		class   fault.Class
	}{
		"a refusal": {t.Context(), 429, kit.Trouble{Cause: io.EOF},
			"p: 429 rate_limit: slow", fault.RateLimit},
		"a refusal without a word": {t.Context(), 503, kit.Trouble{Cause: io.EOF}, "p: 503 unavailable: service unavailable", fault.Unavailable},
		"an error in a good response": {t.Context(), 200, kit.Trouble{Cause: &kit.ReportedError{Body: []byte(`{"error":{"code":529,"message":"m"}}`)}},
			"p: 529 overloaded: m", fault.Overloaded},
		"a code that stands for a body": {t.Context(), 200, kit.Trouble{Cause: &kit.ReportedError{Code: "overloaded", Say: "not finished"}},
			"p: 200 overloaded: not finished", fault.Overloaded},
		"an error that says nothing known": {t.Context(), 200, kit.Trouble{Cause: &kit.ReportedError{Body: []byte(`{"error":"hm"}`)}, Otherwise: 500},
			"p: 200 unavailable: hm", fault.Unavailable},
		"garbage": {t.Context(), 200, kit.Trouble{Cause: &kit.UnreadableError{Got: "a page"}},
			"p: 200 invalid_response: unreadable response: a page", fault.InvalidResponse},
		"a broken connection": {t.Context(), 200, kit.Trouble{Cause: kit.ErrEnded},
			"p: 200 network: the response ended before the reply was complete: unexpected EOF", fault.Network},
		"a client's own time limit": {t.Context(), 0, kit.Trouble{Cause: context.DeadlineExceeded},
			"p: timeout: the client's own time limit for a request has passed", fault.Timeout},
		"a caller who left": {over, 0, kit.Trouble{Cause: io.EOF}, "p: cancelled: context canceled: EOF", fault.Cancelled},
		"the model's own call": {t.Context(), 200, kit.Trouble{Cause: kit.Unusable("MALFORMED_FUNCTION_CALL", "no JSON")},
			"p: 200 MALFORMED_FUNCTION_CALL: no JSON", fault.ToolValidation},
		"one at Bedrock": {t.Context(), 200, kit.Trouble{Cause: kit.Unusable("malformed_tool_use", "no JSON")},
			"p: 200 malformed_tool_use: no JSON", fault.ToolValidation},
		"a reply at Bedrock": {t.Context(), 200, kit.Trouble{Cause: kit.Unusable("malformed_model_output", "no text")},
			"p: 200 malformed_model_output: no text", fault.ToolValidation},
		"the model's own call over OpenAI's API": {t.Context(), 200, kit.Trouble{Cause: kit.Unusable("function_call_filter: UNEXPECTED_TOOL_CALL", "")},
			"p: 200 unknown_tool", fault.UnknownTool},
		// https://github.com/ollama/ollama/issues/12380, https://github.com/ggml-org/llama.cpp/issues/24644
		"a call that the server could not read": {t.Context(), 200, kit.Trouble{Cause: &kit.ReportedError{Body: []byte(`{"error":"XML syntax error on line 7: expected element name after <"}`)}},
			"p: 200 tool_validation: XML syntax error on line 7: expected element name after <", fault.ToolValidation},
		"a call that llama.cpp could not read": {t.Context(), 200, kit.Trouble{Cause: &kit.ReportedError{Body: []byte(`{"error":{"code":500,"message":"Failed to parse input at pos 184: x"}}`)}},
			"p: 500 tool_validation: Failed to parse input at pos 184: x", fault.ToolValidation},
	} {
		t.Run(name, func(t *testing.T) {
			h := kit.Head{Provider: "p", Status: c.status}
			if name == "a refusal" {
				h.Refusal = []byte(`{"error":{"message":"slow"}}`)
			}
			err := h.Fail(c.ctx, c.trouble)
			assert.EqualError(t, err, c.text)
			own, ok := errors.AsType[*kit.Error](err)
			require.True(t, ok)
			assert.Equal(t, []any{c.class, c.class}, []any{own.Class, own.Failure().Class})
			_, limited := errors.AsType[*ratelimit.LimitedError](err)
			assert.Equal(t, c.status != 0, limited, "only a response has rate limits")
		})
	}
}

func TestAHeadTellsOfItsResponse(t *testing.T) {
	h := kit.Head{Provider: "openai", Key: "the-very-key"}
	h.Came(nil)
	assert.Zero(t, h.Status)
	assert.Zero(t, h.Limits(nil))
	header := http.Header{}
	header.Set("Date", "Mon, 05 Jan 2026 12:00:00 GMT")
	header.Set("X-Request-Id", "the-very-key")
	header.Set("Cf-Ray", "ray-1")
	header.Set("Retry-After", "Mon, 05 Jan 2026 12:00:09 GMT")
	h.Came(&http.Response{StatusCode: 429, Header: header})
	assert.Equal(t, "ray-1", h.RequestID(), "a key is no id")
	assert.Equal(t, 9*time.Second, h.Limits(nil).RetryAfter.Duration, "by the server's own clock")
}

// itself wraps itself, and circle does so among others: errors.Is and errors.As never return from them.
type (
	itself struct{}
	circle struct{}
)

func (e itself) Error() string   { return "itself" }
func (e itself) Unwrap() error   { return e }
func (e circle) Error() string   { return "circle" }
func (e circle) Unwrap() []error { return []error{e, io.EOF, e} }

func TestAnErrorThatWrapsItselfIsJudged(t *testing.T) {
	for _, cause := range []error{itself{}, circle{}} {
		err := new(kit.Head).Fail(t.Context(), kit.Trouble{Cause: cause})
		assert.NotErrorIs(t, err, http.ErrBodyNotAllowed)
		_, found := errors.AsType[*url.Error](err)
		assert.False(t, found)
	}
}

func TestABodyWithoutEndFails(t *testing.T) {
	n, err := io.Copy(io.Discard, kit.Bounded(io.NopCloser(endless{})))
	_, unreadable := errors.AsType[*kit.UnreadableError](err)
	assert.True(t, unreadable, err)
	assert.LessOrEqual(t, n, int64(kit.MaxReply))
	whole, err := io.ReadAll(kit.Bounded(io.NopCloser(strings.NewReader("all"))))
	require.NoError(t, err)
	assert.Equal(t, "all", string(whole))
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// The watcher of a request gets its response.
func TestAWatchedRequestTellsOfItsResponse(t *testing.T) {
	var seen []ratelimit.Response
	ctx := ratelimit.Watch(t.Context(), func(r ratelimit.Response) { seen = append(seen, r) })
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost", nil)
	require.NoError(t, err)
	h := kit.Head{Provider: "azure", Known: "openai", Model: "gpt-4o"}
	h.Came(&http.Response{StatusCode: 200, Header: http.Header{"X-Request-Id": {"r-1"}}, Request: req})
	require.Len(t, seen, 1)
	assert.Equal(t, "openai", seen[0].Provider)
	assert.Equal(t, "gpt-4o", seen[0].Model)
	assert.Equal(t, map[string][]string{"X-Request-Id": {"r-1"}}, seen[0].Headers)
}

func TestPostSendsTheKeyAndRefusesWhatIsNoSuccess(t *testing.T) {
	for _, key := range []string{"", "a-key-of-the-server"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent, _ := io.ReadAll(r.Body)
			w.WriteHeader(map[string]int{`1`: 200, `2`: 300, `3`: 503}[string(sent)])
			_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.Header.Get("Accept"))
		}))
		defer server.Close()
		head := &kit.Head{Key: key}
		resp, err := head.Post(t.Context(), server.Client(), server.URL, "", []byte(`1`))
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		auth := ""
		if key != "" {
			auth = "Bearer " + key
		}
		assert.Equal(t, strings.TrimSpace(auth+" application/json"), strings.TrimSpace(string(got)))
		for body, status := range map[string]int{"2": 300, "3": 503} {
			_, err = head.Post(t.Context(), server.Client(), server.URL, "", []byte(body))
			assert.EqualError(t, err, fmt.Sprintf("the server answered %d", status))
		}
	}
}

// Servers that speak OpenAI's API have it below /v1, and whoever leaves that out of the address gets a 404
// that says nothing. One that says what was not found needs no advice.
func TestAnAddressWithoutItsVersionIsExplained(t *testing.T) {
	const advice = " (check the base URL, and whether the version, such as /v1, belongs in it)"
	for body, want := range map[string]string{
		"404 page not found\n":        "not found" + advice, // Ollama, and what is made with Go
		`{"detail":"Not Found"}`:      "Not Found" + advice, // vLLM
		"<html>404 Not Found</html>":  "not found" + advice,
		`{"error":"no such adapter"}`: "no such adapter",
		`{"error":{"message":"Invalid URL (POST /chat/completions)","type":"invalid_request_error"}}`: "Invalid URL (POST /chat/completions)",
		`{"error":{"message":"not found","type":"invalid_request_error","code":"response_gone"}}`:     "not found",
	} {
		h := &kit.Head{Provider: "example", Status: http.StatusNotFound, Refusal: []byte(body)}
		assert.Equal(t, want, fault.FailureOf(h.Fail(t.Context(), kit.Trouble{})).Message, body)
	}
}
