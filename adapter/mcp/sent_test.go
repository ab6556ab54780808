package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/tool"
)

// forgetful is a server that pays, and forgets the session of its clients once it has paid for n 1: the next
// request of that session is refused.
type forgetful struct {
	web
	// cuts reports that it cuts the connections then, too.
	cuts    bool
	paid    atomic.Int64
	forgets atomic.Bool
	began   chan struct{}
	// over ends the call.
	over chan struct{}
}

func (f *forgetful) start(t *testing.T) {
	f.began, f.over = make(chan struct{}), make(chan struct{})
	server := newServer("pay", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if !strings.Contains(string(req.Params.Arguments), `"n":1`) {
			return text("paid"), nil
		}
		if f.paid.Add(1) > 1 {
			return text("paid twice"), nil
		}
		f.forgets.Store(true)
		close(f.began)
		if f.cuts {
			f.server.CloseClientConnections()
		}
		<-f.over
		return text("paid"), nil
	})
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
	f.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Mcp-Session-Id") != "" && f.forgets.CompareAndSwap(true, false) {
			http.Error(rw, "session not found", http.StatusNotFound)
			return
		}
		serve.ServeHTTP(rw, req)
	}))
	t.Cleanup(func() { close(f.over) })
}

// tools are those of the server for a client, which connects again.
func (f *forgetful) tools(t *testing.T, client *http.Client) []*tool.Tool {
	connect := func() *sdk.ClientSession {
		session, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: "http://" + f.address, HTTPClient: client, DisableStandaloneSSE: true}, nil)
		require.NoError(t, err)
		t.Cleanup(func() { _ = session.Close() })
		return session
	}
	tools, err := mcp.Tools(t.Context(), connect(), mcp.DefaultConfig(),
		mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { return connect(), nil }))
	require.NoError(t, err)
	return tools
}

// clients are what clients a session may have: that of this package, and any other.
func clients() map[string]*http.Client {
	return map[string]*http.Client{"typed": mcp.HTTPClient(nil), "plain": {Transport: &http.Transport{}}}
}

// A session that is gone says nothing of a call that the server has: the connection broke after its effect,
// and the request for the rest of the answer is refused. The call is in doubt, and is not made again.
func TestACallWhoseAnswerIsLostWithItsSessionIsInDoubt(t *testing.T) {
	for kind, client := range clients() {
		t.Run(kind, func(t *testing.T) {
			f := &forgetful{cuts: true}
			f.start(t)
			r, err := run(t, f.tools(t, client), looptest.NewModel(looptest.Call(call("c1", "pay", `{"n":1}`)), looptest.Say("Done.")))
			require.NoError(t, err)
			assert.Equal(t, int64(1), f.paid.Load())
			assert.Equal(t, "The call failed, and its effect may or may not have happened.", answers(r)[0].Text)
			assert.Len(t, r.InDoubt, 1)
		})
	}
}

// Nor does it if another call is refused with it. That other one was not made, as the package's client knows.
func TestACallBesideOneThatIsRefusedIsInDoubt(t *testing.T) {
	for kind, client := range clients() {
		t.Run(kind, func(t *testing.T) {
			f := &forgetful{}
			f.start(t)
			pay := f.tools(t, client)[0]
			first := make(chan tool.Outcome, 1)
			go func() { first <- pay.Invoke(t.Context(), []byte(`{"n":1}`)) }()
			<-f.began
			second := pay.Invoke(t.Context(), []byte(`{"n":2}`))
			_, later := second.Later()
			assert.Equal(t, kind == "typed", later, "%v", second.Err)
			out := <-first
			require.Error(t, out.Err)
			_, later = out.Later()
			assert.False(t, later, "the server has the first")
		})
	}
}
