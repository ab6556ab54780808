package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/loop"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/message"
	"github.com/retake-go/retake/session"
	"github.com/retake-go/retake/tool"
)

// transports are the ways to reach every server of these tests.
var transports = []struct {
	name    string
	connect func(testing.TB, *sdk.ClientOptions) *sdk.ClientSession
}{
	{"stdio", func(t testing.TB, o *sdk.ClientOptions) *sdk.ClientSession { return overStdio(t, "trips", o) }},
	{"memory", func(t testing.TB, o *sdk.ClientOptions) *sdk.ClientSession { return inMemory(t, tripServer(), o) }},
	{"http", func(t testing.TB, o *sdk.ClientOptions) *sdk.ClientSession {
		return overHTTP(t, tripServer(), o, nil, &refusal{})
	}},
}

// run is a whole run of the loop through the tools of a server.
func run(t testing.TB, tools []*tool.Tool, model *looptest.Model, opts ...loop.Option) (loop.Result, error) {
	t.Helper()
	set, err := tool.NewSet(tools...)
	require.NoError(t, err)
	s, err := session.New(session.Config{ID: "order-42"})
	require.NoError(t, err)
	opts = append(opts, loop.WithClock(looptest.NewClock()))
	l, err := loop.New(model, loop.Config{Tools: set}, opts...)
	require.NoError(t, err)
	return l.Run(t.Context(), s, loop.Input{Prompt: "Two nights in Lisbon."})
}

// answers are the tool messages that the model of a run got.
func answers(r loop.Result) []message.Message {
	var all []message.Message
	for _, m := range r.Transcript {
		if m.Role == message.Tool {
			all = append(all, m)
		}
	}
	return all
}

func TestAModelIsPutRightBeforeItsServerHearsOfIt(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			tools, err := mcp.Tools(t.Context(), tr.connect(t, nil), mcp.DefaultConfig())
			require.NoError(t, err)
			r, err := run(t, tools, looptest.NewModel(
				looptest.Call(call("c1", "book", `{"city":"Lisbon","nights":"two"}`)),
				looptest.Call(call("c2", "book", `{"city":"Lisbon","nights":2}`)),
				looptest.Say("Booked."),
			))
			require.NoError(t, err)
			shown := answers(r)
			require.Len(t, shown, 2)
			assert.True(t, shown[0].IsError)
			assert.Contains(t, shown[0].Text, "nights: expected integer, got string")
			noForeignWords(t, shown[0].Text)
			// The server counted one call: the bad one was not sent.
			assert.Equal(t, `{"calls":1,"number":"R-lisbon-2"}`, shown[1].Text)
		})
	}
}

func TestAnErrorOfTheToolIsItsFailure(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			tools, err := mcp.Tools(t.Context(), tr.connect(t, nil), mcp.DefaultConfig())
			require.NoError(t, err)
			out := find(t, tools, "search").Invoke(t.Context(), []byte(`{"city":"Lisbon","nights":2}`))
			assert.Equal(t, tool.Outcome{Failed: "no hotel in that city is free", InDoubt: true, Whole: true}, out)
		})
	}
}

func TestTenMegabytesAreCut(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			cfg := mcp.DefaultConfig()
			cfg.CallTimeout = mcp.Unlimited // a slow machine is not what is tested
			tools, err := mcp.Tools(t.Context(), tr.connect(t, nil), cfg)
			require.NoError(t, err)
			r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "map", `{}`)), looptest.Say("No map.")))
			require.NoError(t, err)
			shown := answers(r)[0]
			assert.False(t, shown.IsError)
			assert.True(t, strings.HasSuffix(shown.Text, "xxx… [The result is cut: it has 10485762 bytes, and at most 65536 are shown.]"), shown.Text[65000:])
			assert.Less(t, len(shown.Text), 65536+200)
		})
	}
}

// A result above the bound is the beginning of itself, as a text. The call was made.
func TestTheBoundOfAResult(t *testing.T) {
	server := newServer("get", always(text("12345678"), nil)) // 10 bytes as JSON
	bound := func(most int) string {
		out := one(t, server, func(c *mcp.Config) { c.MaxResultBytes = most }).Invoke(t.Context(), []byte(`{}`))
		require.NoError(t, out.Err)
		return string(out.Result)
	}
	assert.Equal(t, `"12345678"`, bound(10))
	assert.Equal(t, `"1234… [The result is cut: it has 10 bytes, and at most 9 are shown.]"`, bound(9))
	assert.Equal(t, `" [The result is cut: it has 10 bytes, and at most 2 are shown.]"`, bound(2))

	// All of it is escapes: it is cut shorter.
	server = newServer("get", always(text(strings.Repeat("\x01", 1000)), nil))
	assert.LessOrEqual(t, len(bound(600)), 600+128)
	assert.Greater(t, len(bound(600)), 500)

	// It is not held to the output schema, and stays a success.
	promised := map[string]any{"type": "object", "required": []any{"n"}}
	long := &sdk.CallToolResult{StructuredContent: map[string]any{"n": strings.Repeat("n", 100)}}
	server = rewrite(newServer("get", always(long, nil)), func(l *sdk.ListToolsResult) { l.Tools[0].OutputSchema = promised })
	assert.Contains(t, bound(50), `"{\"n\":\"nnnnn`)
}

func TestAServerThatDiesInACallIsAFaultOfTheTransport(t *testing.T) {
	tools, err := mcp.Tools(t.Context(), overStdio(t, "trips", nil), mcp.DefaultConfig())
	require.NoError(t, err)
	r, err := run(t, tools, looptest.NewModel(looptest.Call(call("c1", "crash", `{}`)), looptest.Say("It is gone.")))
	require.NoError(t, err)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", answers(r)[0].Text)
	assert.Equal(t, fault.Network, r.Attempts[0].Class)

	out := find(t, tools, "book").Invoke(t.Context(), []byte(`{"city":"Lisbon","nights":2}`))
	var lost *fault.ProviderError
	require.ErrorAs(t, out.Err, &lost)
	assert.Equal(t, fault.Network, lost.Class)
	assert.True(t, lost.Final, "no policy can heal it")
	assert.Contains(t, lost.Message, "book: the connection is lost: ")
	assert.Contains(t, lost.Message, "WithReconnect")
	assert.Equal(t, "trips", lost.Provider)
}
