package mcp_test

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/session"
)

// A server that refuses a request by its status has not made the call: it is made again, whatever its tool
// declares. Only the package's client knows.
func TestACallThatIsRefusedIsNotInDoubt(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusTooManyRequests} {
		for kind, client := range clients() {
			t.Run(kind+http.StatusText(status), func(t *testing.T) {
				play := func(times int) (told string, calls int, waited time.Duration) {
					var says refusal
					session := overHTTP(t, pays(&calls), nil, client, &says)
					again := mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) {
						left := says.left // the gate lets in who says hello
						says.left = 0
						defer func() { says.left = left }()
						return overHTTP(t, pays(&calls), nil, client, &says), nil
					})
					tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), again)
					require.NoError(t, err)
					says = refusal{status: status, wait: "3", body: "not now", left: times}
					r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Done.")))
					require.NoError(t, err)
					return answers(r)[0].Text, calls, r.Waited
				}
				told, calls, waited := play(1)
				if kind == "plain" {
					assert.Equal(t, "The call failed, and its effect may or may not have happened.", told)
					return
				}
				assert.Equal(t, "paid", told)
				assert.Equal(t, 1, calls)
				if status == http.StatusTooManyRequests {
					assert.GreaterOrEqual(t, waited, 3*time.Second)
				}
				told, calls, _ = play(1000)
				assert.Equal(t, "Not done: the tool is not ready for this call, and was asked 4 times.", told)
				assert.Zero(t, calls)
			})
		}
	}
}

// With a 403 a gateway may hold back the result of a call that was made.
func TestAForbiddenCallIsInDoubt(t *testing.T) {
	var calls int
	var says refusal
	session := overHTTP(t, pays(&calls), nil, mcp.HTTPClient(nil), &says)
	told := paid(t, session, func() { says = refusal{status: http.StatusForbidden, body: "blocked", left: 1000} })
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", told)
	assert.LessOrEqual(t, 998, says.left, "the call is not made again")
}

// cutShort leaves out what an answer has after its first bytes.
type cutShort struct {
	http.ResponseWriter
	keep int
}

func (c *cutShort) Write(p []byte) (int, error) {
	keep := min(c.keep, len(p))
	c.keep -= keep
	_, err := c.ResponseWriter.Write(p[:keep])
	return len(p), err
}

func (c *cutShort) Flush() { c.ResponseWriter.(http.Flusher).Flush() }

// An answer that breaks off is a lost connection, also over HTTP, where the session goes on: a declared tool
// is called again, with its key. Any other call is in doubt.
func TestAnAnswerThatBreaksOffIsALostConnection(t *testing.T) {
	for name, keep := range map[string]int{"at its beginning": 0, "within": 20, "within its data": 60} {
		for _, whole := range []bool{false, true} {
			for n := range 4 {
				declared, ended := n%2 == 0, n/2 == 0 // ended as if it were whole, by an old proxy
				keys := make(chan any, 3)
				server := newServer("pay", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					keys <- req.Params.Meta[mcp.MetaIdempotencyKey]
					return text("paid"), nil
				})
				var cuts atomic.Int32
				serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
					&sdk.StreamableHTTPOptions{JSONResponse: whole})
				var w web
				w.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
					if req.Method != http.MethodPost || cuts.Add(-1) < 0 {
						serve.ServeHTTP(rw, req)
						return
					}
					serve.ServeHTTP(&cutShort{rw, keep}, req)
					if whole && !ended {
						panic(http.ErrAbortHandler)
					}
				}))
				cfg := mcp.DefaultConfig()
				cfg.TrustHints = declared
				tools, err := mcp.Tools(t.Context(), w.connect(t), cfg,
					mcp.WithReconnect(func(context.Context) (*sdk.ClientSession, error) { return w.connect(t), nil }))
				require.NoError(t, err)
				cuts.Store(1)
				r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Done.")))
				require.NoError(t, err, name)
				if declared {
					assert.Equal(t, "paid", answers(r)[0].Text, name)
					require.Len(t, keys, 2)
					assert.Equal(t, <-keys, <-keys)
					assert.True(t, slices.ContainsFunc(r.Attempts, func(a session.Attempt) bool { return a.Class == fault.Network }), name)
					continue
				}
				assert.Equal(t, "The call failed, and its effect may or may not have happened.", answers(r)[0].Text)
				assert.Len(t, keys, 1)
				assert.Len(t, r.InDoubt, 1)
				assert.Contains(t, r.ToolFailures[0].Text, "pay: the connection is lost: ", name)
			}
		}
	}
}

// What is left of an answer that was cut off is asked for again while the server is away.
func TestAnAnswerIsResumedOnceTheServerIsBack(t *testing.T) {
	calls, refuses, cuts := 0, 0, false
	began, cut := make(chan struct{}), make(chan struct{})
	server := newServer("pay", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		calls++
		close(began)
		select {
		case <-cut:
		case <-ctx.Done():
		}
		return text("paid"), nil
	})
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{EventStore: sdk.NewMemoryEventStore(nil)})
	var w web
	w.open(t, http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		switch {
		case req.Header.Get("Last-Event-Id") != "" && refuses > 0:
			if refuses--; refuses == 0 {
				defer close(cut)
			}
			rw.WriteHeader(http.StatusBadGateway)
		case req.Method == http.MethodPost && cuts:
			go func() {
				<-began
				w.server.CloseClientConnections()
			}()
			fallthrough
		default:
			serve.ServeHTTP(rw, req)
		}
	}))
	session, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: "http://" + w.address, HTTPClient: mcp.HTTPClient(nil), DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	assert.Equal(t, "paid", paid(t, session, func() { refuses, cuts = 1, true }))
	assert.Equal(t, 1, calls)
}
