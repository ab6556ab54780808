package mcp_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
)

// refusal is the answer of a web server in front of the MCP server; the zero value is none.
type refusal struct {
	status int
	wait   string
	body   string
	// left is the number of requests that are still refused.
	left int
}

// overHTTP runs a server on a loopback address. It refuses calls while says has some left.
func overHTTP(t testing.TB, server *sdk.Server, opts *sdk.ClientOptions, client *http.Client, says *refusal) *sdk.ClientSession {
	t.Helper()
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if says.left > 0 && req.Method == http.MethodPost {
			says.left--
			if says.wait != "" {
				w.Header().Set("Retry-After", says.wait)
			}
			http.Error(w, says.body, says.status)
			return
		}
		serve.ServeHTTP(w, req)
	}))
	t.Cleanup(web.Close)
	session, err := sdk.NewClient(self, opts).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1, HTTPClient: client}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// refused makes one call that the web server refuses, and returns its error.
func refused(t *testing.T, client *http.Client, says refusal, then ...func()) *fault.ProviderError {
	var now refusal
	session := overHTTP(t, newServer("get", always(text("ok"), nil)), nil, client, &now)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	now = says
	for _, f := range then {
		f()
	}
	out := tools[0].Invoke(t.Context(), []byte(`{}`))
	var failed *fault.ProviderError
	require.ErrorAs(t, out.Err, &failed)
	return failed
}

// The SDK reports most statuses as text only, and text decides nothing.
func TestWhatAnAnswerOfAWebServerIsByWords(t *testing.T) {
	for status, want := range map[int]fault.Class{404: fault.Network, 429: fault.ToolExecution, 503: fault.ToolExecution, 400: fault.ToolExecution} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			assert.Equal(t, want, refused(t, nil, refusal{status: status, body: "upstream says no", left: 1}).Class)
		})
	}
}

func TestWhatAnAnswerOfAWebServerIsByType(t *testing.T) {
	for name, c := range map[string]struct {
		says  refusal
		class fault.Class
		after time.Duration
	}{
		"no session":  {refusal{status: 404}, fault.Network, 0},
		"bad request": {refusal{status: 400}, fault.ToolExecution, 0},
		"timeout":     {refusal{status: 408}, fault.Timeout, 0},
		"rate limit":  {refusal{status: 429, wait: "7"}, fault.RateLimit, 7 * time.Second},
		"error":       {refusal{status: 500}, fault.Unavailable, 0},
		"bad gateway": {refusal{status: 502}, fault.Unavailable, 0},
		"unavailable": {refusal{status: 503, wait: "2"}, fault.Unavailable, 2 * time.Second},
		"gateway":     {refusal{status: 504}, fault.Timeout, 0},
		"overloaded":  {refusal{status: 529}, fault.Overloaded, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c.says.left, c.says.body = 1, "upstream says no"
			failed := refused(t, mcp.HTTPClient(nil), c.says)
			assert.Equal(t, c.class, failed.Class, failed.Error())
			assert.Equal(t, c.after, failed.RetryAfter)
		})
	}
}

func TestAServerThatIsNotThereIsANetworkFault(t *testing.T) {
	gone := false
	down := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodPost || !gone {
			return http.DefaultTransport.RoundTrip(req)
		}
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	})}
	failed := refused(t, mcp.HTTPClient(down), refusal{}, func() { gone = true })
	assert.Equal(t, fault.Network, failed.Class, failed.Error())
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A declared tool is called again after the wait that the web server asks for. The model does not notice.
func TestADeclaredToolIsCalledAgainAfterARefusalOfTheWebServer(t *testing.T) {
	var now refusal
	session := overHTTP(t, newServer("get", always(text("ok"), nil)), nil, mcp.HTTPClient(nil), &now)
	tools, err := mcp.Tools(t.Context(), session, trusting())
	require.NoError(t, err)
	now = refusal{status: 429, wait: "3", body: "slow down", left: 2}
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "get", `{}`)), looptest.Say("Done.")))
	require.NoError(t, err)
	assert.Equal(t, `ok`, answers(r)[0].Text)
	assert.Zero(t, now.left)
	assert.GreaterOrEqual(t, r.Waited, 6*time.Second)
}

func TestATryIsNotMadeAgainForAToolThatIsNotDeclared(t *testing.T) {
	var now refusal
	session := overHTTP(t, newServer("get", always(text("ok"), nil)), nil, mcp.HTTPClient(nil), &now)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	now = refusal{status: 503, left: 2}
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "get", `{}`)), looptest.Say("Done.")))
	require.NoError(t, err)
	assert.True(t, answers(r)[0].IsError)
	assert.Equal(t, 1, now.left, "one request was made")
}

// The key is removed from the text of a gateway that repeats it.
func TestNoKeyIsInAnErrorOfAWebServer(t *testing.T) {
	for _, secret := range []string{"sk-proj-Zq8xV2mN4bT7rW1pLs0d", "eyJhbGciOiJIUzI1NiJ9.Zq8xV2mN4bT7rW1pLs0d.x"} {
		for status, body := range map[int]string{
			401: `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Incorrect API key provided: {key}"}}`,
			403: `Bearer {key} may not`, 429: `{"error":{"message":"key={key} is exhausted"}}`, 503: `Authorization: Bearer {key} timed out`,
		} {
			for name, client := range map[string]*http.Client{"words": nil, "types": mcp.HTTPClient(nil)} {
				t.Run(fmt.Sprint(status, name), func(t *testing.T) {
					failed := refused(t, client, refusal{status: status, body: strings.ReplaceAll(body, "{key}", secret), left: 1})
					assert.NotContains(t, failed.Error(), secret)
					assert.NotContains(t, failed.Failure().Message, secret)
				})
			}
		}
	}
}

// The SDK reads a body whole, however long it is, and an event of a stream.
func TestABodyWithoutEndIsNotRead(t *testing.T) {
	for _, c := range []struct {
		status int
		kind   string
	}{{http.StatusOK, "application/json"}, {http.StatusForbidden, "application/json"}, {http.StatusOK, "text/event-stream"}} {
		const most = 256 << 20
		var sent atomic.Int64
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			w.WriteHeader(c.status)
			for chunk := bytes.Repeat([]byte(" "), 1<<20); sent.Load() < most; {
				n, err := w.Write(chunk)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}))
		_, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: web.URL, MaxRetries: -1, HTTPClient: mcp.HTTPClient(nil)}, nil)
		assert.Error(t, err, c)
		web.Close()
		assert.Less(t, sent.Load(), int64(most/4), c)
	}
}

// Many events may be longer together than one may be.
func TestAStreamMayBeLong(t *testing.T) {
	const progress = 20
	server := newServer("get", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for n := range progress {
			if err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(),
				Progress: float64(n), Message: strings.Repeat("x", 1<<20)}); err != nil {
				return nil, err
			}
		}
		return text("ok"), nil
	})
	var watch mcp.Watch
	session := overHTTP(t, server, watch.Options(nil), mcp.HTTPClient(nil), new(refusal))
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	require.NoError(t, err)
	assert.Equal(t, `"ok"`, string(tools[0].Invoke(t.Context(), []byte(`{}`)).Result))
}
