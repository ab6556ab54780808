package fault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
)

// awsError has the methods of smithy's errors.
type awsError struct {
	code   string
	status int
}

func (e awsError) Error() string       { return "operation error: " + e.code }
func (e awsError) ErrorCode() string   { return e.code }
func (e awsError) HTTPStatusCode() int { return e.status }

// acmeError is a user's own typed error.
type acmeError struct{ fault.ProviderError }

// clientTimeout passes itself off as context.DeadlineExceeded, as http.Client does.
type clientTimeout struct{}

func (clientTimeout) Error() string {
	return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
}
func (clientTimeout) Timeout() bool     { return true }
func (clientTimeout) Temporary() bool   { return true }
func (clientTimeout) Is(err error) bool { return err == context.DeadlineExceeded }

func TestGoErrors(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		err  error
		want fault.Class
	}{
		"cancelled":                 {fmt.Errorf("model: %w", context.Canceled), fault.Cancelled},
		"deadline_of_the_caller":    {&url.Error{Op: "Post", URL: "u", Err: context.DeadlineExceeded}, fault.DeadlineExceeded},
		"deadline_among_many":       {errors.Join(errors.New("a"), context.DeadlineExceeded), fault.DeadlineExceeded},
		"timeout_of_the_client":     {&url.Error{Op: "Post", URL: "u", Err: clientTimeout{}}, fault.Timeout},
		"timeout_of_the_dialer":     {&net.OpError{Op: "dial", Err: clientTimeout{}}, fault.Timeout},
		"refused":                   {&url.Error{Op: "Post", URL: "u", Err: refused}, fault.Network},
		"refused_as_it_comes":       {&url.Error{Op: "Post", URL: "u", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}}, fault.Network},
		"timed_out_as_it_comes":     {&url.Error{Op: "Post", URL: "u", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ETIMEDOUT)}}, fault.Timeout},
		"reset_as_it_comes":         {&url.Error{Op: "Post", URL: "u", Err: &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}}, fault.Network},
		"no_such_host":              {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, fault.Network},
		"name_lookup_timed_out":     {&net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}, fault.Timeout},
		"odd_network_error":         {&net.OpError{Op: "read", Err: errors.New("odd")}, fault.Network},
		"broken_pipe":               {syscall.EPIPE, fault.Network},
		"no_such_file":              {&fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT}, fault.NotFound},
		"file_denied":               {&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}, fault.PermissionDenied},
		"disk_full":                 {&fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}, fault.IO},
		"truncated_json":            {json.Unmarshal([]byte("{"), new(int)), fault.InvalidResponse},
		"aws_code":                  {fmt.Errorf("x: %w", awsError{"ThrottlingException", 400}), fault.RateLimit},
		"aws_status":                {awsError{"Odd", 503}, fault.Unavailable},
		"words":                     {errors.New("API returned unexpected status code: 429: slow"), fault.RateLimit},
		"words_of_go":               {errors.New(`Post "https://api.example": EOF`), fault.Network},
		"odd":                       {errors.New("odd"), fault.Unknown},
		"empty":                     {errors.New(""), fault.Unknown},
		"our_own_tool_error":        {fmt.Errorf("x: %w", &fault.ToolValidationError{Tool: "t"}), fault.ToolValidation},
		"our_own_output_error":      {&fault.StructuredOutputError{}, fault.StructuredOutput},
		"our_own_reducer_error":     {&fault.ReducerError{}, fault.Reducer},
		"our_own_provider_error":    {fmt.Errorf("x: %w", fault.Typed(fault.ProviderError{Class: fault.Quota})), fault.Quota},
		"one_made_of_ours":          {&acmeError{fault.ProviderError{Class: fault.Quota, Message: "odd"}}, fault.Quota},
		"our_own_over_its_own_text": {fault.Typed(fault.ProviderError{Class: fault.Billing, Message: "rate limit"}), fault.Billing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := fault.Classify(fault.Response{Err: c.err})
			assert.Equal(t, c.want, v.Class)
			assert.Equal(t, c.want.Plane(), v.Plane)
			assert.Equal(t, v, fault.ClassifyError(c.err))
		})
	}
}

// What http.Client really returns when its own timeout, and when its caller's deadline, passes.
func TestTimeoutsOfTheStandardClient(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })

	_, err := (&http.Client{Timeout: time.Millisecond}).Get(server.URL)
	require.Error(t, err)
	assert.Equal(t, fault.Timeout, fault.Classify(fault.Response{Err: err}).Class, "%v", err)

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request)
	require.Error(t, err)
	assert.Equal(t, fault.DeadlineExceeded, fault.Classify(fault.Response{Err: err}).Class, "%v", err)

	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	request = request.WithContext(ctx)
	_, err = http.DefaultClient.Do(request)
	require.Error(t, err)
	assert.Equal(t, fault.Cancelled, fault.Classify(fault.Response{Err: err}).Class, "%v", err)
}

func TestStatusWinsOverACancelledContext(t *testing.T) {
	t.Parallel()
	v := fault.Classify(fault.Response{Status: 429, Err: context.Canceled})
	assert.Equal(t, fault.RateLimit, v.Class)
	v = fault.Classify(fault.Response{Status: 200, Err: context.Canceled})
	assert.Equal(t, fault.Cancelled, v.Class, "in the middle of a stream")
}

func TestHugeAndDeepBodies(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"over_the_bound": `{"error":{"code":"insufficient_quota","pad":"` + strings.Repeat("x", 1<<20) + `"}}`,
		"deep":           strings.Repeat("[", 200_000),
		"deep_objects":   strings.Repeat(`{"error":`, 100_000),
		"binary":         string([]byte{0, 1, 2, 0xff, 0xfe}),
		"cut_off":        `{"error":{"message":"rate`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, fault.Unavailable, fault.Classify(fault.Response{Status: 500, Body: []byte(body)}).Class)
		})
	}
}

// panicking panics when it is asked for its failure, mute when it is asked for its text.
type (
	panicking struct{ error }
	mute      struct{ error }
)

func (panicking) Failure() fault.Failure { panic("a nil pointer within") }

// What the response says counts, and an error whose methods panic says nothing.
func TestErrorsWhoseMethodsPanic(t *testing.T) {
	for _, err := range []error{panicking{errors.New("odd")}, fmt.Errorf("booking: %w", panicking{errors.New("odd")}), mute{}} {
		assert.Equal(t, fault.Unknown, fault.ClassifyError(err).Class)
		assert.Equal(t, fault.RateLimit, fault.Classify(fault.Response{Status: 429, Err: err}).Class)
	}
}

func TestEndlessChainOfErrors(t *testing.T) {
	t.Parallel()
	err := errors.New("end")
	for range 2_000 {
		err = fmt.Errorf("w: %w", err)
	}
	assert.Equal(t, fault.Unknown, fault.Classify(fault.Response{Err: err}).Class)
}

func TestWireForm(t *testing.T) {
	t.Parallel()
	v := fault.Classify(fault.Response{Provider: "openai", Status: 429, Headers: map[string][]string{"Retry-After": {"1.0001"}}})
	out, err := json.Marshal(v)
	require.NoError(t, err)
	assert.JSONEq(t, `{"code":"rate_limit","plane":"transport","retryable":true,"names":{"result_envelope":"llm-rate-limit",
		"agent_result":"rate_limit","agent_error":"RATE_LIMITED"},"retry_after_ms":1001,
		"user_message":"OpenAI is receiving too many requests from you right now. Try again in 2 seconds."}`, string(out))
	out, err = json.Marshal(fault.Classify(fault.Response{Status: 400}))
	require.NoError(t, err)
	assert.NotContains(t, string(out), "retry_after_ms", "unknown is absent")
	out, err = json.Marshal(fault.Verdict{})
	require.NoError(t, err)
	assert.Equal(t, "null", string(out))
}

// In agent errors 5xx, overload and connection failures are NETWORK_ERROR, and gateway timeouts are TIMEOUT.
func TestWordsOfAgentErrors(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"network", "fetch failed", "socket hang up", "ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EPIPE",
		"bad gateway", "service unavailable", "overloaded", "500 Internal Server Error", "HTTP 502", "status 503", "529 overloaded"} {
		assert.Equal(t, "NETWORK_ERROR", fault.Classify(fault.Response{Message: word}).Class.Names().AgentError, word)
	}
	for _, word := range []string{"gateway timeout", "504 Gateway Time-out", "timeout", "timed out", "HTTP 504"} {
		assert.Equal(t, "TIMEOUT", fault.Classify(fault.Response{Message: word}).Class.Names().AgentError, word)
	}
	for status := 500; status < 600; status++ {
		name := fault.Classify(fault.Response{Status: status}).Class.Names().AgentError
		assert.Contains(t, []string{"NETWORK_ERROR", "TIMEOUT"}, name, status)
	}
}

// The type of the error for each status.
func TestWhichTypeAStatusBelongsTo(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]any{
		500: new(*fault.APIError), 503: new(*fault.APIError), 529: new(*fault.APIError),
		401: new(*fault.AuthError), 403: new(*fault.AuthError), 429: new(*fault.RateLimitError),
		404: new(*fault.ModelNotFoundError), 408: new(*fault.TimeoutError), 504: new(*fault.TimeoutError),
	} {
		assert.True(t, errors.As(fault.AsError(fault.Response{Status: status}), want), "%d is no %T", status, want)
	}
}

func TestHeaderCaseAndOrderDoNotMatter(t *testing.T) {
	t.Parallel()
	headers := map[string][]string{"retry-after": {"3"}, "x-should-retry": {"false"}, "x-amzn-errortype": {"ThrottlingException"}}
	want := fault.Classify(fault.Response{Status: 400, Headers: headers})
	require.Equal(t, fault.RateLimit, want.Class)
	require.False(t, want.Retryable)
	rapid.Check(t, func(t *rapid.T) {
		mixed := map[string][]string{}
		for name, values := range headers {
			if rapid.Bool().Draw(t, "upper") {
				name = strings.ToUpper(name)
			}
			mixed[name] = values
		}
		require.Equal(t, want, fault.Classify(fault.Response{Status: 400, Headers: mixed}))
	})
}

// Text of the model is never read for words or codes.
func TestFailedGenerationIsNotRead(t *testing.T) {
	t.Parallel()
	for _, wrote := range []string{"insufficient_quota", "billing: 429 rate limit", `{"error":{"code":"invalid_api_key"}}`} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": "Failed", "code": "tool_use_failed", "failed_generation": wrote}})
		require.NoError(t, err)
		v := fault.Classify(fault.Response{Provider: "groq", Status: 400, Body: body})
		assert.Equal(t, fault.ToolValidation, v.Class)
		assert.NotContains(t, v.Message, wrote)
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("openai", 429, "insufficient_quota", "You exceeded", []byte(`{"error":{"type":"x","code":429,"details":[{"reason":"A"}]}}`))
	f.Add("groq", 400, "", "", []byte(`{"error":{"code":"tool_use_failed","failed_generation":""}}`))
	f.Add("", 200, "", "529 {", []byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n"))
	f.Add("openrouter", 402, "x#y:z", "try again in 5.2s", []byte(`[{"error":{"metadata":{"raw":"{\"a\":1}"}}}]`))
	f.Add("bedrock", 0, "", "429 too", []byte(`{"throttlingException":{"message":1}}`))
	f.Add("openai", 200, "", "", []byte(`{"choices":[{"finish_reason":"stop"}]}`))
	f.Add("", 0, "model", "model * not found", []byte(`{"detail":[{"msg":1}],"choices":[{"error":{}}]}`))
	f.Fuzz(func(t *testing.T, provider string, status int, code, message string, body []byte) {
		r := fault.Response{Provider: provider, Status: status, Code: code, Message: message, Body: body}
		v := fault.Classify(r)
		require.Equal(t, v, fault.Classify(r), "the same again")
		if !v.Failed() {
			require.Equal(t, fault.Verdict{}, v)
			return
		}
		require.NotEmpty(t, v.Class.Plane(), v.Class)
		require.GreaterOrEqual(t, v.RetryAfter, time.Duration(0))
		require.LessOrEqual(t, v.RetryAfter, 367*24*time.Hour)
		require.NotContains(t, v.Message, "\n")
		out, err := json.Marshal(v)
		require.NoError(t, err)
		require.True(t, json.Valid(out))
		require.Error(t, fault.AsError(r))
	})
}

func TestErrorDocumentsAreOneObject(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"null": "got null", "[]": "got array", `{} {}`: "something follows", `{} }`: "something follows", `{} x`: "something follows", "": "cut off or empty",
	} {
		_, err := fault.ReadResponse([]byte(doc))
		assert.ErrorContains(t, err, want, doc)
	}
	_, err := fault.ReadResponse([]byte(" {} \n"))
	assert.NoError(t, err)
}

func FuzzReadResponse(f *testing.F) {
	f.Add([]byte(`{"provider":"openai","status":"429","code":1,"headers":{"a":["b",1]},"body":{"error":1}}`))
	f.Add([]byte(`{"body":"text"}`))
	f.Add([]byte(`{"status":"many","headers":7}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := fault.ReadResponse(doc)
		if err == nil {
			fault.Classify(r)
		} else {
			require.NotContains(t, err.Error(), "fault.")
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	r := fault.Response{Provider: "openai", Status: 429, Headers: map[string][]string{"Retry-After": {"2"}, "Content-Type": {"application/json"}},
		Body: []byte(`{"error":{"message":"Rate limit reached for gpt-4o. Please try again in 2s.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`)}
	b.ReportAllocs()
	for b.Loop() {
		fault.Classify(r)
	}
}

func BenchmarkClassifyWords(b *testing.B) {
	err := errors.New("something that no rule has any words for, over and over and over again")
	b.ReportAllocs()
	for b.Loop() {
		fault.ClassifyError(err)
	}
}

// A wrong address, a file or an old response is no missing model, and users are not told to choose another.
func TestANotFoundThatNamesNoModelIsARefusedRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		r    fault.Response
		want fault.Class
	}{
		"a page of text":        {fault.Response{Body: []byte("404 page not found")}, fault.InvalidRequest},
		"a page":                {fault.Response{Body: []byte("<html><title>404 Not Found</title></html>")}, fault.InvalidRequest},
		"a framework's":         {fault.Response{Body: []byte(`{"detail":"Not Found"}`)}, fault.InvalidRequest},
		"an address":            {fault.Response{Body: []byte(`{"error":{"message":"Invalid URL (POST /v1/chat)","type":"invalid_request_error"}}`)}, fault.InvalidRequest},
		"a code and no model":   {fault.Response{Body: []byte(`{"type":"error","error":{"type":"not_found_error","message":"Not found"}}`)}, fault.InvalidRequest},
		"google's entity":       {fault.Response{Body: []byte(`{"error":{"code":404,"message":"Requested entity was not found.","status":"NOT_FOUND"}}`)}, fault.InvalidRequest},
		"a file":                {fault.Response{Body: []byte(`{"error":{"message":"No such File object: file-1"}}`)}, fault.InvalidRequest},
		"a response of nothing": {fault.Response{Headers: map[string][]string{"Date": {"now"}}}, fault.InvalidRequest},
		"a model":               {fault.Response{Body: []byte(`{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}`)}, fault.ModelNotFound},
		"a code of a model":     {fault.Response{Body: []byte(`{"error":{"message":"Not found","code":"model_not_found"}}`)}, fault.ModelNotFound},
		"the status alone":      {fault.Response{}, fault.ModelNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.r.Provider, c.r.Status = "openai", 404
			assert.Equal(t, c.want, fault.Classify(c.r).Class)
		})
	}
}

// Some providers tell an empty account by the status of a broken server (MiniMax), and a plan that is used up
// by that of a key without rights (Kimi). Another try is useless, and another provider may help.
func TestMoneyIsReadBesideTheStatusOfSomethingElse(t *testing.T) {
	t.Parallel()
	for body, c := range map[string]struct {
		status int
		want   fault.Class
	}{
		`{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}`:                  {500, fault.Billing},
		`{"type":"error","error":{"type":"insufficient_balance_error","message":"insufficient balance (1008)"}}`: {500, fault.Billing},
		`{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`:                        {500, fault.Unavailable},
		`{"error":{"type":"permission_error","message":"You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle."},"type":"error"}`: {
			403, fault.Quota},
		`{"message":"Model access is denied due to INVALID_PAYMENT_INSTRUMENT: a payment instrument must be provided.","__type":"AccessDeniedException"}`: {
			403, fault.Billing},
		`{"error":{"type":"permission_error","message":"Your key does not have access to this resource."},"type":"error"}`: {403, fault.Permission},
	} {
		assert.Equal(t, c.want, fault.Classify(fault.Response{Status: c.status, Body: []byte(body)}).Class, body)
	}
}

// An error that knows its failure is classified by it, not by the words of its cause.
func TestAnErrorThatKnowsItsFailureIsWhatItSays(t *testing.T) {
	words := errors.New("the server said 429 too many requests")
	for name, c := range map[string]struct {
		err  error
		want fault.Verdict
	}{
		"a class and a wait": {&fault.TransportError{Class: fault.Overloaded, RetryAfter: 9 * time.Second, Cause: words},
			fault.Verdict{Class: fault.Overloaded, Plane: fault.Transport, Retryable: true, RetryAfter: 9 * time.Second, Asked: true}},
		"a class of the user's own": {&fault.ClassError{Class: "mine", Cause: words}, fault.Verdict{Class: "mine", Plane: fault.Transport}},
		"final":                     {fmt.Errorf("asking: %w", fault.Typed(fault.ProviderError{Class: fault.RateLimit, Final: true})), fault.Verdict{Class: fault.RateLimit, Plane: fault.Transport}},
		"of the correction plane":   {&fault.ClassError{Class: fault.ToolValidation, Cause: words}, fault.Verdict{Class: fault.ToolValidation, Plane: fault.Correction, Retryable: true}},
		"without a class":           {&fault.ProviderError{Message: words.Error()}, fault.Verdict{Class: fault.RateLimit, Plane: fault.Transport, Retryable: true}},
	} {
		got := fault.ClassifyError(c.err)
		got.Message, got.Metadata = "", fault.Metadata{}
		assert.Equal(t, c.want, got, name)
	}
	answered := fault.Response{Err: fault.Typed(fault.ProviderError{Class: fault.Overloaded, RetryAfter: time.Hour, Final: true}),
		Headers: map[string][]string{"Retry-After": {"2"}, "X-Should-Retry": {"true"}}}
	got := fault.Classify(answered)
	assert.Equal(t, 2*time.Second, got.RetryAfter, "the response says more than an error of before")
	assert.True(t, got.Retryable)
}
