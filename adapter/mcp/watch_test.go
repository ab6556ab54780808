package mcp_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/loop/observe"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/tool"
)

func notify(ctx context.Context, req *sdk.CallToolRequest, n float64, message string) error {
	return req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
		ProgressToken: req.Params.GetProgressToken(), Progress: n, Total: 3, Message: message,
	})
}

func TestProgressGoesThrough(t *testing.T) {
	heard := make(chan string)
	server := newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := notify(ctx, req, 1, "asking the bank"); err != nil {
			return nil, err
		}
		if err := notify(ctx, req, 2, ""); err != nil {
			return nil, err
		}
		select { // the SDK orders no notification before a result
		case <-heard:
		case <-ctx.Done():
		}
		return text("paid"), nil
	})
	var watch mcp.Watch
	var others []float64
	session := inMemory(t, server, watch.Options(&sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if others = append(others, req.Params.Progress); len(others) == 2 {
				close(heard)
			}
		},
	}))
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	require.NoError(t, err)
	var reports []string
	out := tools[0].Invoke(tool.WithInvocation(t.Context(), tool.Invocation{
		Report: func(p []byte) { reports = append(reports, string(p)) },
	}), []byte(`{}`))
	require.NoError(t, out.Err)
	assert.Equal(t, []string{`{"message":"asking the bank","progress":1,"total":3}`, `{"progress":2,"total":3}`}, reports)
	assert.Equal(t, []float64{1, 2}, others)
	assert.JSONEq(t, `{"progress":2,"total":3}`, string(out.Progress))
}

// The tokens of calls can be guessed: a server tells nothing of the calls of another one.
func TestAServerReportsOfItsOwnCallsAlone(t *testing.T) {
	heard := make(chan struct{})
	var watch mcp.Watch
	options := watch.Options(&sdk.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { close(heard) },
	})
	other := newServer("look", nil)
	inMemory(t, other, options)
	server := newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for session := range other.Sessions() {
			if err := session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Message: "paid twice"}); err != nil {
				return nil, err
			}
		}
		<-heard
		return text("paid"), nil
	})
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, options), mcp.DefaultConfig(), mcp.WithWatch(&watch))
	require.NoError(t, err)
	out := tools[0].Invoke(tool.WithInvocation(t.Context(), tool.Invocation{
		Report: func(p []byte) { assert.Fail(t, "it was told", "%s", p) },
	}), []byte(`{}`))
	require.NoError(t, out.Err)
	assert.Empty(t, out.Progress)
}

// Each report is a line of the journal: a server that reports without end, or at length, is heard now and
// then.
func TestAFloodOfProgressIsHeardNowAndThen(t *testing.T) {
	const flood = 1000
	heard := make(chan string)
	server := newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for n := range flood {
			if err := notify(ctx, req, float64(n), strings.Repeat("é", 5000)); err != nil {
				return nil, err
			}
		}
		<-heard
		return text("paid"), nil
	})
	var watch mcp.Watch
	session := inMemory(t, server, watch.Options(&sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if req.Params.Progress == flood-1 {
				close(heard)
			}
		},
	}))
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithWatch(&watch))
	require.NoError(t, err)
	reports, most := 0, 0
	out := tools[0].Invoke(tool.WithInvocation(t.Context(), tool.Invocation{
		Report: func(p []byte) { reports, most = reports+1, max(most, len(p)) },
	}), []byte(`{}`))
	require.NoError(t, out.Err)
	assert.GreaterOrEqual(t, reports, 100)
	assert.Less(t, reports, flood/2)
	assert.Less(t, most, 1200)
}

func TestWithoutAWatchNoProgressIsAskedFor(t *testing.T) {
	server := newServer("pay", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		assert.Nil(t, req.Params.GetProgressToken())
		return text("paid"), nil
	})
	assert.Equal(t, `"paid"`, string(one(t, server).Invoke(t.Context(), []byte(`{}`)).Result))
}

func TestCancellationGoesThrough(t *testing.T) {
	for _, version := range []string{"", "2025-06-18"} {
		started, ended := make(chan struct{}), make(chan error, 1)
		server := newServer("pay", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			close(started)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		})
		here, there := sdk.NewInMemoryTransports()
		_, err := server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		session, err := sdk.NewClient(self, nil).Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
		require.NoError(t, err)
		tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-started; cancel() }()
		out := tools[0].Invoke(ctx, []byte(`{}`))
		require.ErrorIs(t, out.Err, context.Canceled)
		assert.Equal(t, fault.Cancelled, fault.Classify(fault.Response{Err: out.Err}).Class)
		require.ErrorIs(t, <-ended, context.Canceled, "the server heard of it")
		require.NoError(t, session.Close())
	}
}

// A call without progress is given up. Progress restarts its time.
func TestACallTakesNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for n := range 3 {
				select {
				case <-time.After(45 * time.Second):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				if err := notify(ctx, req, float64(n+1), ""); err != nil {
					return nil, err
				}
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		var watch mcp.Watch
		here, there := sdk.NewInMemoryTransports()
		serving, err := server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		session, err := sdk.NewClient(self, watch.Options(nil)).Connect(t.Context(), here, nil)
		require.NoError(t, err)
		tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithWatch(&watch))
		require.NoError(t, err)

		began := time.Now()
		out := tools[0].Invoke(t.Context(), []byte(`{}`))
		var failed *fault.ProviderError
		require.ErrorAs(t, out.Err, &failed)
		assert.Equal(t, fault.Timeout, failed.Class)
		assert.False(t, failed.Final)
		assert.Equal(t, 3*45*time.Second+time.Minute, time.Since(began))
		require.NoError(t, session.Close())
		_ = serving.Wait() // it says that the pipe is closed
	})
}

func TestAChangedListIsNoticed(t *testing.T) {
	for _, version := range []string{"", "2025-06-18"} {
		server := newServer("pay", always(text("paid"), nil))
		changed := make(chan struct{}, 1)
		var watch mcp.Watch
		here, there := sdk.NewInMemoryTransports()
		_, err := server.Connect(t.Context(), there, nil)
		require.NoError(t, err)
		session, err := sdk.NewClient(self, watch.Options(&sdk.ClientOptions{
			ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
		})).Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
		require.NoError(t, err)
		list := func() []string {
			tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig(), mcp.WithWatch(&watch))
			require.NoError(t, err)
			return namesOf(tools)
		}
		assert.Equal(t, []string{"pay"}, list())
		assert.False(t, watch.Changed(session))
		server.AddTool(&sdk.Tool{Name: "refund", InputSchema: map[string]any{"type": "object"}}, always(text("ok"), nil))
		<-changed
		assert.True(t, watch.Changed(session))
		assert.Equal(t, []string{"pay", "refund"}, list())
		assert.False(t, watch.Changed(session))
		require.NoError(t, session.Close())
	}
}

// In a whole run, the observers get a server's progress.
func TestProgressIsToldToObservers(t *testing.T) {
	told := make(chan string, 1)
	server := newServer("pay", func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if err := notify(ctx, req, 1, "asking the bank"); err != nil {
			return nil, err
		}
		select {
		case p := <-told:
			return text(p), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	var watch mcp.Watch
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, watch.Options(nil)), mcp.DefaultConfig(), mcp.WithWatch(&watch))
	require.NoError(t, err)
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "pay", `{}`)), looptest.Say("Paid.")),
		loop.WithObserver(observe.ObserverFunc(func(_ context.Context, n observe.Notice) {
			if n.Kind == observe.Progressed {
				told <- n.Action + string(n.Progress)
			}
		})))
	require.NoError(t, err)
	assert.Equal(t, `pay{"message":"asking the bank","progress":1,"total":3}`, answers(r)[0].Text)
}
