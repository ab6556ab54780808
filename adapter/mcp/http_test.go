package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
)

// overHTTP runs a server behind a loopback address. What is sent to it is answered with status where that is not 0.
func overHTTP(t testing.TB, server *sdk.Server, opts *sdk.ClientOptions, status *int) *sdk.ClientSession {
	t.Helper()
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if *status != 0 && req.Method == http.MethodPost {
			http.Error(w, "upstream says no", *status)
			return
		}
		serve.ServeHTTP(w, req)
	}))
	t.Cleanup(web.Close)
	session, err := sdk.NewClient(self, opts).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: web.URL, MaxRetries: -1}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// The SDK tells most statuses by words alone, and words decide nothing.
func TestWhatAnAnswerOfAWebServerIs(t *testing.T) {
	for status, want := range map[int]fault.Class{404: fault.Network, 429: fault.ToolExecution, 503: fault.ToolExecution, 400: fault.ToolExecution} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			var answer int
			session := overHTTP(t, newServer("get", always(text("ok"), nil)), nil, &answer)
			tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
			require.NoError(t, err)
			answer = status
			out := tools[0].Invoke(t.Context(), []byte(`{}`))
			var failed *fault.ProviderError
			require.ErrorAs(t, out.Err, &failed)
			assert.Equal(t, want, failed.Class, failed.Error())
		})
	}
}
