package mcp_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/tool"
)

// hinted is a server with hints about its tools.
func hinted() *sdk.Server {
	server := sdk.NewServer(self, nil)
	for name, hints := range map[string]*sdk.ToolAnnotations{
		"read": {ReadOnlyHint: true}, "put": {IdempotentHint: true}, "burn": {DestructiveHint: new(true), IdempotentHint: true},
		"safe": {DestructiveHint: new(false)}, "silent": nil,
	} {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: hints}, always(text("ok"), nil))
	}
	return server
}

// Hints are only a claim. Calls are repeated only for a caller who trusts them.
func TestHintsDeclareOnlyWhereTheyAreTrusted(t *testing.T) {
	all := map[string]tool.Declared{
		"read": tool.DeclaredReadOnly, "put": tool.DeclaredIdempotent, "burn": tool.DeclaredIdempotent, "safe": "", "silent": "",
	}
	for name, c := range map[string]struct {
		change func(*mcp.Config)
		want   map[string]tool.Declared
	}{
		"by default":  {func(*mcp.Config) {}, map[string]tool.Declared{}},
		"all of them": {func(c *mcp.Config) { c.TrustHints = true }, all},
		"one of them": {func(c *mcp.Config) { c.TrustHintsOf = []string{"put"} }, map[string]tool.Declared{"put": tool.DeclaredIdempotent}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mcp.DefaultConfig()
			c.change(&cfg)
			tools, err := mcp.Tools(t.Context(), inMemory(t, hinted(), nil), cfg)
			require.NoError(t, err)
			for _, one := range tools {
				assert.Equal(t, c.want[one.Name()], one.Declared(), one.Name())
			}
		})
	}
	cfg := mcp.DefaultConfig()
	cfg.TrustHintsOf = []string{"reed"}
	_, err := mcp.Tools(t.Context(), inMemory(t, hinted(), nil), cfg)
	require.ErrorContains(t, err, `TrustHintsOf: there is no tool "reed"; use one of`)
}

// A tool's declarations are sent to clients, which may trust them.
func TestDeclarationsAreServedAsHints(t *testing.T) {
	nothing := func(context.Context, struct{}) (string, error) { return "ok", nil }
	set, err := tool.NewSet(tool.New("read", "", nothing, tool.ReadOnly()), tool.New("put", "", nothing, tool.Idempotent()), tool.New("pay", "", nothing))
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set))
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), trusting())
	require.NoError(t, err)
	for _, far := range tools {
		near, _ := set.Get(far.Name())
		assert.Equal(t, near.Declared(), far.Declared(), far.Name())
	}
}
