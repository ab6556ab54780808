package check

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/adk/v2/tool/toolconfirmation"

	"github.com/retake-go/retake/bench/work"
)

const (
	name        = "place_order"
	description = "Place an order."
)

// placed is the result of the tools. It is small, because the check before it is measured.
type placed struct {
	OK bool `json:"ok"`
}

// frameworks are the typed tools of agent frameworks. Those that check JSON Schemas get retake's, so that
// they check the same rules. The one that only decodes has the validator in its tool.
func frameworks(t testing.TB) []checker {
	return []checker{{"eino_validator", eino(t)}, {"adk", adk(t)}, {"mcp", mcpTool(t)}}
}

func eino(t testing.TB) func([]byte) string {
	v := work.Validator()
	made, err := utils.InferTool(name, description, func(_ context.Context, o work.Order) (placed, error) {
		sinkOrder = o
		return placed{true}, v.Struct(o)
	})
	require.NoError(t, err)
	return func(doc []byte) string {
		_, err := made.InvokableRun(t.Context(), string(doc))
		return textOf(err)
	}
}

// toolContext has only what a function tool needs of a context.
type toolContext struct{ agent.Context }

func (toolContext) ToolConfirmation() *toolconfirmation.ToolConfirmation { return nil }

// adk starts from the model's bytes, too: it decodes the map that the tool gets.
func adk(t testing.TB) func([]byte) string {
	cfg := functiontool.Config{Name: name, Description: description, InputSchema: googleSchema(t, work.OrderSchema)}
	made, err := functiontool.New(cfg, func(_ agent.Context, o work.Order) (placed, error) {
		sinkOrder = o
		return placed{true}, nil
	})
	require.NoError(t, err)
	runnable, ok := made.(interface {
		Run(agent.Context, any) (map[string]any, error)
	})
	require.True(t, ok)
	return func(doc []byte) string {
		var args map[string]any
		if err := json.Unmarshal(doc, &args); err != nil {
			return err.Error()
		}
		_, err := runnable.Run(toolContext{}, args)
		return textOf(err)
	}
}

// mcpTool calls a typed tool as the SDK's server does after a request came in, without the transport:
// middleware gets the server's own handler.
func mcpTool(t testing.TB) func([]byte) string {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: description, InputSchema: googleSchema(t, work.OrderSchema)},
		func(_ context.Context, _ *mcp.CallToolRequest, o work.Order) (*mcp.CallToolResult, placed, error) {
			sinkOrder = o
			return nil, placed{true}, nil
		})
	var handle mcp.MethodHandler
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handle = next
		return next
	})
	ctx, here := context.Background(), connected(t, server)
	return func(doc []byte) string {
		result, err := handle(ctx, "tools/call", &mcp.CallToolRequest{Session: here, Params: &mcp.CallToolParamsRaw{Name: name, Arguments: doc}})
		if err != nil {
			return err.Error()
		}
		if r := result.(*mcp.CallToolResult); r.IsError {
			return r.Content[0].(*mcp.TextContent).Text
		}
		return ""
	}
}

// connected is a session of a server and a client over the SDK's in-memory transport.
func connected(t testing.TB, server *mcp.Server) *mcp.ServerSession {
	here, there := mcp.NewInMemoryTransports()
	ctx := context.Background()
	served, err := server.Connect(ctx, here, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(ctx, there, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		require.NoError(t, served.Wait())
	})
	return served
}
