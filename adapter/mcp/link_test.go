package mcp_test

import (
	"context"
	"errors"
	"net"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
)

// The child is killed during a call. The policy repeats the call with a new child, and the model does not
// notice.
func TestALostServerIsReplaced(t *testing.T) {
	first := overStdio(t, "trips", nil)
	var replaced int
	tools, err := mcp.Tools(t.Context(), first, trusting(), mcp.WithReconnect(
		func(context.Context) (*sdk.ClientSession, error) {
			replaced++
			return inMemory(t, newServer("crash", always(text("still here"), nil)), nil), nil
		}))
	require.NoError(t, err)
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "crash", `{}`)), looptest.Say("Done.")))
	require.NoError(t, err)
	shown := answers(r)
	require.Len(t, shown, 1)
	assert.Equal(t, `still here`, shown[0].Text)
	assert.False(t, shown[0].IsError)
	assert.Equal(t, 1, replaced)
}

func TestTheCallThatIsMadeAgainHasTheSameKey(t *testing.T) {
	keys := make(chan any, 2)
	answer := always(text("done"), nil)
	server := func(then sdk.ToolHandler) *sdk.Server {
		return newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			keys <- req.Params.Meta[mcp.MetaIdempotencyKey]
			assert.Equal(t, "c1", req.Params.Meta[mcp.MetaCallID])
			return then(ctx, req)
		})
	}
	ours, theirs := net.Pipe()
	_, err := server(func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text("paid"), theirs.Close() // the call was made, and its answer is lost
	}).Connect(t.Context(), &sdk.IOTransport{Reader: theirs, Writer: theirs}, nil)
	require.NoError(t, err)
	first, err := sdk.NewClient(self, nil).Connect(t.Context(), &sdk.IOTransport{Reader: ours, Writer: ours}, nil)
	require.NoError(t, err)
	tools, err := mcp.Tools(t.Context(), first, trusting(), mcp.WithReconnect(
		func(context.Context) (*sdk.ClientSession, error) { return inMemory(t, server(answer), nil), nil }))
	require.NoError(t, err)
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Paid.")))
	require.NoError(t, err)
	assert.Equal(t, `done`, answers(r)[0].Text)
	key := <-keys
	assert.NotEmpty(t, key)
	assert.Equal(t, key, <-keys)
}

func TestAReconnectThatFailsIsTriedAgain(t *testing.T) {
	session := inMemory(t, newServer("pay", always(text("done"), nil)), nil)
	down := errors.New("still down")
	connects := []func() (*sdk.ClientSession, error){
		func() (*sdk.ClientSession, error) { return nil, down },
		func() (*sdk.ClientSession, error) { return nil, nil },
		func() (*sdk.ClientSession, error) {
			return inMemory(t, newServer("pay", always(text("done"), nil)), nil), nil
		},
	}
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithReconnect(
		func(context.Context) (*sdk.ClientSession, error) {
			next := connects[0]
			connects = connects[1:]
			return next()
		}))
	require.NoError(t, err)
	require.NoError(t, session.Close())
	for n, want := range []error{sdk.ErrConnectionClosed, down, nil} {
		out := tools[0].Invoke(t.Context(), []byte(`{}`))
		var lost *fault.ProviderError
		require.ErrorAs(t, out.Err, &lost, "call %d", n)
		assert.Equal(t, fault.Network, lost.Class)
		assert.False(t, lost.Final)
		if want != nil {
			require.ErrorIs(t, out.Err, want)
		}
	}
	assert.Equal(t, `"done"`, string(tools[0].Invoke(t.Context(), []byte(`{}`)).Result))
}

func TestAWaitForTheConnectionEndsWithItsContext(t *testing.T) {
	session := inMemory(t, newServer("pay", always(text("done"), nil)), nil)
	connecting, release := make(chan struct{}), make(chan struct{})
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithReconnect(
		func(context.Context) (*sdk.ClientSession, error) {
			close(connecting)
			<-release
			return inMemory(t, newServer("pay", always(text("done"), nil)), nil), nil
		}))
	require.NoError(t, err)
	require.NoError(t, session.Close())
	require.Error(t, tools[0].Invoke(t.Context(), []byte(`{}`)).Err)
	done := make(chan string)
	go func() { done <- string(tools[0].Invoke(t.Context(), []byte(`{}`)).Result) }()
	<-connecting
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, tools[0].Invoke(gone, []byte(`{}`)).Err, context.Canceled)
	close(release)
	assert.Equal(t, `"done"`, <-done)
}
