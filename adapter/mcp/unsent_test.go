package mcp_test

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/looptest"
)

// pays is a server whose only tool counts its calls. It declares nothing that a client trusts.
func pays(calls *int) *sdk.Server {
	return newServer("pay", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		*calls++
		return text("paid"), nil
	})
}

// paid runs one call of pay, by the default config, and returns what the model read of it.
func paid(t *testing.T, session *sdk.ClientSession, before func(), opts ...mcp.Option) string {
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), opts...)
	require.NoError(t, err)
	before()
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Done.")))
	require.NoError(t, err)
	return answers(r)[0].Text
}

// A call on a closed connection was never sent, so it is made again on a new one, whatever its tool declares.
func TestACallOnAClosedConnectionIsMadeOnANewOne(t *testing.T) {
	var calls int
	again := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { return inMemory(t, pays(&calls), nil), nil })
	session := inMemory(t, pays(&calls), nil)
	assert.Equal(t, "paid", paid(t, session, func() { require.NoError(t, session.Close()) }, again), "closed here")
	session = overStdio(t, "trips", nil)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	crashed := find(t, tools, "crash").Invoke(t.Context(), []byte(`{}`))
	_, later := crashed.Later()
	assert.False(t, later, "the call that ended the server was sent")
	next := find(t, tools, "book").Invoke(t.Context(), []byte(`{"city":"Lisbon","nights":2}`))
	_, later = next.Later()
	assert.True(t, later, "the next one was not")
	assert.Equal(t, 1, calls)
}

func TestWithoutANewConnectionNothingIsInDoubt(t *testing.T) {
	var calls int
	session := inMemory(t, pays(&calls), nil)
	told := paid(t, session, func() { require.NoError(t, session.Close()) })
	assert.Equal(t, "Not done: the tool is not ready for this call, and was asked 4 times.", told)
	assert.Zero(t, calls)
}

// web is an MCP server over HTTP on an address that can be closed and opened again.
type web struct {
	address string
	server  *httptest.Server
}

func (w *web) open(t *testing.T, h http.Handler) {
	listener, err := net.Listen("tcp", cmp.Or(w.address, "127.0.0.1:0"))
	require.NoError(t, err)
	w.address = listener.Addr().String()
	w.server = httptest.NewUnstartedServer(h)
	w.server.Listener = listener
	w.server.Start()
	t.Cleanup(w.server.Close)
}

func (w *web) close() {
	w.server.CloseClientConnections()
	w.server.Close()
}

func (w *web) connect(t testing.TB) *sdk.ClientSession {
	session, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + w.address, MaxRetries: -1, HTTPClient: mcp.HTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}),
		DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func handler(server *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
}

// Nobody listens: the call did not leave. It is made when the server is back, which knows no session.
func TestACallThatIsRefusedAConnectionIsMadeLater(t *testing.T) {
	var calls int
	var w web
	w.open(t, handler(pays(&calls)))
	reconnects := 0
	again := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) {
		reconnects++
		return w.connect(t), nil
	})
	session := w.connect(t)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), again)
	require.NoError(t, err)
	w.close()
	out := tools[0].Invoke(t.Context(), []byte(`{}`))
	_, later := out.Later()
	require.True(t, later, "%v", out.Err)

	w.open(t, handler(pays(&calls)))
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Done.")))
	require.NoError(t, err)
	assert.Equal(t, "paid", answers(r)[0].Text)
	assert.Equal(t, 1, calls)
	assert.Equal(t, 1, reconnects, "the new server does not know the session")
}

// A server that sends on to a page has had the call, whether anybody listens there or not.
func TestACallThatIsSentOnToAPageIsInDoubt(t *testing.T) {
	var calls int
	var page, w web
	page.open(t, http.NotFoundHandler())
	page.close()
	serve, sendsOn := handler(pays(&calls)), false
	w.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if !sendsOn {
			serve.ServeHTTP(rw, req)
			return
		}
		serve.ServeHTTP(httptest.NewRecorder(), req)
		http.Redirect(rw, req, "http://"+page.address, http.StatusSeeOther)
	}))
	told := paid(t, w.connect(t), func() { sendsOn = true })
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", told)
	assert.Equal(t, 1, calls)
}

// Servers say in several ways that they do not know a session. Each opens another one. The last two are what
// servers of the SDKs for Python and TypeScript say.
func TestASessionThatIsGoneIsOpenedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a text":   {http.StatusNotFound, "session not found"},
		"JSON-RPC": {http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		"Python":   {http.StatusBadRequest, "Bad Request: No valid session ID provided"},
		// https://github.com/mcp-use/mcp-use/issues/1133, https://github.com/DAWNCR0W/affine-mcp-server/issues/301,
		// https://github.com/mark3labs/mcp-go/pull/689
		"TypeScript, kept elsewhere": {http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}`},
		"TypeScript, by hand":        {http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID or not an initialize request"},"id":null}`},
		"mcp-go":                     {http.StatusBadRequest, "Invalid session ID"},
		"TypeScript":                 {http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
		// https://github.com/modelcontextprotocol/rust-sdk/issues/689
		"Rust":        {http.StatusUnauthorized, "Unauthorized: Session not found"},
		"by its code": {http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			var calls int
			var w web
			forgets := false
			serve := handler(pays(&calls))
			w.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				if forgets && req.Header.Get("Mcp-Session-Id") != "" {
					forgets = false
					rw.Header().Set("Content-Type", "application/json")
					rw.WriteHeader(c.status)
					_, _ = rw.Write([]byte(c.body))
					return
				}
				serve.ServeHTTP(rw, req)
			}))
			again := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { return w.connect(t), nil })
			assert.Equal(t, "paid", paid(t, w.connect(t), func() { forgets = true }, again))
			assert.Equal(t, 1, calls)
		})
	}
}

// The code of a closed connection is a server's own here: the call was sent, and is not made again. The code
// of an unknown method may be that of a request that the tool made itself, after its effect: servers of the
// SDK for TypeScript pass it on.
func TestAServersOwnErrorIsNoClosedConnection(t *testing.T) {
	for _, code := range []int64{-32003, -32004, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams} {
		calls := 0
		server := newServer("pay", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			calls++
			return nil, &jsonrpc.Error{Code: code, Message: "paid, but the receipt is lost"}
		})
		reconnect := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { return inMemory(t, server, nil), nil })
		assert.Equal(t, "The call failed, and its effect may or may not have happened.", paid(t, inMemory(t, server, nil), func() {}, reconnect))
		assert.Equal(t, 1, calls)
	}
}

// An unsent call keeps its word even where it ends with its context.
func TestACallThatWaitsForAConnectionWasNotSent(t *testing.T) {
	var calls int
	session := inMemory(t, pays(&calls), nil)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithReconnect(func(ctx context.Context) (*sdk.ClientSession, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	require.NoError(t, err)
	require.NoError(t, session.Close())
	lost := tools[0].Invoke(t.Context(), []byte(`{}`))
	_, later := lost.Later()
	assert.True(t, later)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := tools[0].Invoke(ctx, []byte(`{}`))
	_, later = out.Later()
	assert.True(t, later)
	require.ErrorIs(t, out.Err, context.Canceled)
}

// A server that starts slowly may be ready only when the call is over. The call was not sent, and the next
// one takes the new session.
func TestACallWhoseConnectionComesTooLateWasNotSent(t *testing.T) {
	var calls int
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	session := inMemory(t, pays(&calls), nil)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) {
		cancel()
		return inMemory(t, pays(&calls), nil), nil
	}))
	require.NoError(t, err)
	require.NoError(t, session.Close())
	lost := tools[0].Invoke(t.Context(), []byte(`{}`))
	_, later := lost.Later()
	require.True(t, later)
	out := tools[0].Invoke(ctx, []byte(`{}`))
	_, later = out.Later()
	assert.True(t, later)
	require.ErrorIs(t, out.Err, context.Canceled)
	assert.Zero(t, calls)
	made := tools[0].Invoke(t.Context(), []byte(`{}`))
	require.NoError(t, made.Err)
	assert.Equal(t, 1, calls)
}

// Any other refusal of the arguments is none of the session.
func TestABadRequestIsNoLostSession(t *testing.T) {
	var calls int
	var w web
	serve := handler(pays(&calls))
	refuses, reconnects := false, 0
	w.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if refuses {
			refuses = false
			http.Error(rw, "Bad Request: the body is empty", http.StatusBadRequest)
			return
		}
		serve.ServeHTTP(rw, req)
	}))
	again := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { reconnects++; return w.connect(t), nil })
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", paid(t, w.connect(t), func() { refuses = true }, again))
	assert.Zero(t, reconnects)
}
