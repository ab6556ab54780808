package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/tool"
)

// named is a server whose tools answer with their names. It lists two on a page.
func named(names ...string) *sdk.Server {
	server := sdk.NewServer(self, &sdk.ServerOptions{PageSize: 2})
	for _, name := range names {
		server.AddTool(&sdk.Tool{Name: name, Title: "T", InputSchema: json.RawMessage(`{"type":"object"}`)}, always(text(name), nil))
	}
	return server
}

func namesOf(tools []*tool.Tool) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name())
	}
	return names
}

func TestNames(t *testing.T) {
	all := []string{"a b", "c", "d.e", "f", "g"}
	for name, c := range map[string]struct {
		change func(*mcp.Config)
		want   []string
		says   string
	}{
		"as they are":    {func(*mcp.Config) {}, []string{"a_b", "c", "d.e", "f", "g"}, ""},
		"prefix":         {func(c *mcp.Config) { c.Prefix = "x/" }, []string{"x/a_b", "x/c", "x/d.e", "x/f", "x/g"}, ""},
		"some, renamed":  {func(c *mcp.Config) { c.Only, c.Rename = []string{"g", "c"}, map[string]string{"g": "gg"} }, []string{"c", "gg"}, ""},
		"unknown":        {func(c *mcp.Config) { c.Only = []string{"h"} }, nil, `Only: there is no tool "h"; use one of ["a b" "c" "d.e" "f" "g"]`},
		"unknown rename": {func(c *mcp.Config) { c.Rename = map[string]string{"h": "i"} }, nil, `Rename: there is no tool "h"`},
		"one name twice": {func(c *mcp.Config) { c.Rename = map[string]string{"c": "f"} }, nil, `tools "c" and "f" would both get the name "f"; change one with Rename`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mcp.DefaultConfig()
			c.change(&cfg)
			tools, err := mcp.Tools(t.Context(), inMemory(t, named(all...), nil), cfg)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, namesOf(tools))
			assert.Equal(t, "T", tools[0].Description())
		})
	}
	tools, err := mcp.Tools(t.Context(), inMemory(t, named("a b"), nil), mcp.DefaultConfig())
	require.NoError(t, err)
	assert.Equal(t, `"a b"`, string(tools[0].Invoke(t.Context(), []byte(`{}`)).Result), "it is called by the server's name")
}

func TestPrefixAndNameTogetherMayBeTooLong(t *testing.T) {
	cfg := mcp.DefaultConfig()
	cfg.Prefix = fmt.Sprintf("%0128d", 0)
	_, err := mcp.Tools(t.Context(), inMemory(t, named("a"), nil), cfg)
	require.ErrorContains(t, err, "must be 1 to 128 of the characters")
}

func TestConfigSaysAllThatIsWrong(t *testing.T) {
	require.NoError(t, mcp.DefaultConfig().Validate())
	cfg := mcp.Config{Prefix: "ü", Rename: map[string]string{"b": "", "a": "x y"}, Only: []string{}, MaxMediaBytes: -1, Transport: "udp"}
	assert.EqualError(t, cfg.Validate(), `OnError: "", want "fail" or "ask_again"
Schemas: "", want "refuse_list", "leave_out" or "offer_unchecked"
MaxDescriptionBytes: 0, want at least 1
MaxSchemaBytes: 0, want at least 1
MaxTools: 0, want at least 1
MaxErrorBytes: 0, want at least 1
MaxResultBytes: 0, want at least 2
MaxMediaBytes: -1, want at least 0
CallTimeout: 0s, want more than 0, or Unlimited
Transport: "udp", want "pipe", "tcp", or nothing
Prefix: "ü", want characters of A-Z a-z 0-9 _ . / - only
Rename["a"]: "x y", want 1 to 128 of the characters A-Z a-z 0-9 _ . / -
Rename["b"]: "", want 1 to 128 of the characters A-Z a-z 0-9 _ . / -
Only: is empty, want at least one name, or nil for all tools`)
	_, err := mcp.Tools(t.Context(), nil, cfg)
	require.ErrorContains(t, err, "mcp: config: OnError")
	_, err = mcp.Tools(t.Context(), nil, mcp.DefaultConfig())
	require.EqualError(t, err, "mcp: the session is nil; connect the client first")
	_, err = mcp.Tools(t.Context(), nil, mcp.DefaultConfig(), nil)
	require.EqualError(t, err, "mcp: option 1 is nil; leave it out")
}

func TestAListThatCannotBeFetched(t *testing.T) {
	server := named("a")
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no tools here"}
			}
			return next(ctx, method, req)
		}
	})
	session := inMemory(t, server, nil)
	_, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	var failed *fault.ProviderError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, fault.NotFound, failed.Class)
	assert.ErrorContains(t, err, `mcp: the tools of server "trips": `)

	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user left")
	cancel(why)
	_, err = mcp.Tools(gone, session, mcp.DefaultConfig())
	assert.ErrorIs(t, err, why)
}

// wide is the schema of an object with so many members.
func wide(members int) json.RawMessage {
	properties := map[string]any{}
	for n := range members {
		properties[fmt.Sprint("p", n)] = map[string]any{}
	}
	text, _ := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return text
}

// What a server says of its tools is in every prompt: it is bounded, and the model or the user is told.
func TestWhatAServerSaysOfItsToolsIsBounded(t *testing.T) {
	server := sdk.NewServer(self, nil)
	server.AddTool(&sdk.Tool{Name: "a", Description: strings.Repeat("long ", 700_000), InputSchema: wide(1)}, always(text("a"), nil))
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
	require.NoError(t, err)
	assert.Less(t, len(tools[0].Description()), 17<<10)
	assert.Contains(t, tools[0].Description(), "(cut: the description has 3500000 bytes)")

	server.AddTool(&sdk.Tool{Name: "b", InputSchema: wide(30_000)}, always(text("b"), nil))
	_, err = mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
	require.ErrorContains(t, err, `tool "b": the input schema cannot be used: it has 348922 bytes, at most MaxSchemaBytes (262144) are offered`)

	larger := mcp.DefaultConfig()
	larger.MaxSchemaBytes = 1 << 20
	_, err = mcp.Tools(t.Context(), inMemory(t, server, nil), larger)
	require.ErrorContains(t, err, `tool "b": the input schema cannot be used: schema: counts as 30001 subschemas, at most 10000 are compiled`)
}

// Listing ends with its context, and compiles no schema after that.
func TestListingEndsWithItsContext(t *testing.T) {
	server := sdk.NewServer(self, nil)
	for n := range 50 {
		server.AddTool(&sdk.Tool{Name: fmt.Sprint("t", n), InputSchema: wide(2)}, always(text("a"), nil))
	}
	ctx, cancel := context.WithCancel(t.Context())
	client := sdk.NewClient(self, nil)
	client.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(of context.Context, method string, r sdk.Request) (sdk.Result, error) {
			result, err := next(of, method, r)
			if method == "tools/list" {
				cancel()
			}
			return result, err
		}
	})
	here, there := sdk.NewInMemoryTransports()
	_, err := server.Connect(t.Context(), there, nil)
	require.NoError(t, err)
	session, err := client.Connect(t.Context(), here, nil)
	require.NoError(t, err)
	_, err = mcp.Tools(ctx, session, mcp.DefaultConfig())
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, `tool "t0": its schema was not compiled: context canceled`)
}
