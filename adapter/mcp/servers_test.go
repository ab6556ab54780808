package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/tool"
)

// serverEnv makes the test binary the server with that name, over standard input and output.
const serverEnv = "RETAKE_MCP_TEST_SERVER"

var stdioServers = map[string]func() *sdk.Server{"trips": tripServer, "retake": retakeServer}

func TestMain(m *testing.M) {
	serve := stdioServers[os.Getenv(serverEnv)]
	if serve == nil {
		os.Exit(m.Run())
	}
	// Such a server stops at the end of its input.
	if err := serve().Run(context.Background(), &sdk.StdioTransport{}); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var self = &sdk.Implementation{Name: "trips", Version: "v1"}

// newServer makes a server with one tool that takes any object.
func newServer(name string, h sdk.ToolHandler) *sdk.Server {
	server := sdk.NewServer(self, nil)
	server.AddTool(&sdk.Tool{
		Name: name, Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &sdk.ToolAnnotations{IdempotentHint: true},
	}, h)
	return server
}

func always(result *sdk.CallToolResult, err error) sdk.ToolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return result, err }
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

func inMemory(t testing.TB, server *sdk.Server, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	_, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := sdk.NewClient(self, opts).Connect(t.Context(), here, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// overStdio runs the named server as a child process.
func overStdio(t testing.TB, server string, opts *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+server)
	cmd.Stderr = os.Stderr
	session, err := sdk.NewClient(self, opts).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// one is the only tool of a server, listed in memory.
func one(t testing.TB, server *sdk.Server, change ...func(*mcp.Config)) *tool.Tool {
	t.Helper()
	cfg := mcp.DefaultConfig()
	for _, c := range change {
		c(&cfg)
	}
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), cfg)
	require.NoError(t, err)
	require.Len(t, tools, 1)
	return tools[0]
}

// trusting is the default config with trusted hints.
func trusting() mcp.Config {
	cfg := mcp.DefaultConfig()
	cfg.TrustHints = true
	return cfg
}

func find(t testing.TB, tools []*tool.Tool, name string) *tool.Tool {
	t.Helper()
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	found, ok := set.Get(name)
	require.True(t, ok, "no tool %q", name)
	return found
}

// Booking and Receipt are argument and result of the tool book of the SDK's own server.
type Booking struct {
	City   string `json:"city"`
	Nights int    `json:"nights"`
}

type Receipt struct {
	Number string `json:"number"`
	Calls  int    `json:"calls"`
}

// tripServer is a server of the SDK: typed tools, which the SDK checks, and raw ones.
func tripServer() *sdk.Server {
	server := sdk.NewServer(self, nil)
	calls := 0
	sdk.AddTool(server, &sdk.Tool{Name: "book", Description: "Book a hotel room."},
		func(_ context.Context, _ *sdk.CallToolRequest, b Booking) (*sdk.CallToolResult, Receipt, error) {
			calls++
			return nil, Receipt{Number: fmt.Sprintf("R-%s-%d", strings.ToLower(b.City), b.Nights), Calls: calls}, nil
		})
	sdk.AddTool(server, &sdk.Tool{Name: "search", Description: "Search hotels."},
		func(context.Context, *sdk.CallToolRequest, Booking) (*sdk.CallToolResult, any, error) {
			return nil, nil, errors.New("no hotel in that city is free")
		})
	object := json.RawMessage(`{"type":"object"}`)
	server.AddTool(&sdk.Tool{Name: "map", Description: "A map.", InputSchema: object}, always(text(strings.Repeat("x", 10<<20)), nil))
	server.AddTool(&sdk.Tool{
		Name: "crash", Description: "Ends its server.", InputSchema: object, Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			me, err := os.FindProcess(os.Getpid())
			if err != nil {
				return nil, err
			}
			if err := me.Kill(); err != nil {
				return nil, err
			}
			select {} // the process ends here
		})
	return server
}

// rewrite changes the tool list of a server.
func rewrite(server *sdk.Server, change func(*sdk.ListToolsResult)) *sdk.Server {
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, req)
			if list, ok := result.(*sdk.ListToolsResult); ok {
				for n, t := range list.Tools {
					own := *t
					list.Tools[n] = &own
				}
				change(list)
			}
			return result, err
		}
	})
	return server
}

func call(id, name, args string) message.Call {
	return message.Call{ID: id, Name: name, Arguments: args}
}

// foreign are words of libraries and of the SDK that no model may read.
var foreign = []string{"validating", "jsonschema", "calling \"", "JSON-RPC", "json: ", "EOF", "-326", "pydantic", "validation error"}

func noForeignWords(t testing.TB, shown string) {
	t.Helper()
	for _, w := range foreign {
		require.NotContains(t, shown, w)
	}
}
