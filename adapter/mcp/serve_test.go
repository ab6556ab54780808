package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/feedback"
	"github.com/retake-go/retake/tool"
)

// Room is the argument of a retake tool. JSON Schema cannot express its last rule.
type Room struct {
	City string `json:"city" validate:"required"`
	From int    `json:"from" validate:"min=1"`
	To   int    `json:"to"   validate:"gtfield=From"`
	How  string `json:"how,omitempty"`
}

func bookRoom(ctx context.Context, r Room) (any, error) {
	how, unsure := strings.CutPrefix(r.How, "unsure ")
	if unsure {
		if err := tool.Doubt(ctx); err != nil {
			return nil, err
		}
	}
	switch how {
	case "ask":
		return nil, tool.AskAgain(fault.Issue{Pointer: "/city", Rule: "known", Expected: "a city with an airport"})
	case "fail":
		return nil, tool.Fail("All rooms are taken.")
	case "doubt":
		return nil, &tool.FailedError{Text: "The hotel did not answer.", InDoubt: true, Whole: true}
	case "later":
		return nil, tool.TryLater(errors.New("the till is closed"), 90*time.Second)
	case "break":
		return nil, errors.New("pq: relation rooms does not exist")
	case "down":
		return nil, fault.Typed(fault.ProviderError{Class: fault.Unavailable, Message: "db is starting"})
	case "panic":
		panic("oh no")
	case "scalar":
		return 7, nil
	case "text":
		return "7", nil
	case "key":
		return []string{tool.IdempotencyKey(ctx), tool.CallID(ctx)}, nil
	}
	return map[string]any{"number": "R-1", "id": int64(9007199254740993)}, nil
}

func rooms(t testing.TB) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(tool.New("hotel/book", "Book a room.", bookRoom))
	require.NoError(t, err)
	return set
}

// A tool that only reads is never in doubt, whatever it says.
func TestAServedReadOnlyToolIsNeverInDoubt(t *testing.T) {
	set, err := tool.NewSet(tool.New("hotel/book", "Look at a room.", bookRoom, tool.ReadOnly()))
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set))
	session := inMemory(t, server, nil)
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	for _, how := range []string{"unsure yes", "unsure later", "unsure fail", "doubt", "break"} {
		args := json.RawMessage(`{"city":"Lisbon","from":1,"to":2,"how":"` + how + `"}`)
		assert.False(t, tools[0].Invoke(t.Context(), args).InDoubt, how)
		told, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "hotel_book", Arguments: args})
		require.NoError(t, err)
		assert.NotContains(t, told.Content[0].(*sdk.TextContent).Text, "may or may not", how)
	}
}

func retakeServer() *sdk.Server {
	set, err := tool.NewSet(tool.New("hotel/book", "Book a room.", bookRoom))
	if err != nil {
		panic(err)
	}
	server := sdk.NewServer(self, nil)
	if err := mcp.Serve(server, set); err != nil {
		panic(err)
	}
	return server
}

// What a client without retake gets.
func TestWhatClientsAreTold(t *testing.T) {
	session := inMemory(t, retakeServer(), nil)
	for name, c := range map[string]struct{ args, text, structured string }{
		"a result": {
			`{"city":"Lisbon","from":1,"to":2}`, `{"id":9007199254740993,"number":"R-1"}`, "",
		},
		"wrong arguments": {
			`{"from":"one","to":2}`,
			"Automatic check, not a message from the user: the arguments of your call of hotel_book are not valid, and the tool was not run.\n" +
				"- city: required, expected string (at least 1 character)\n- from: expected integer (at least 1), got string\n" +
				"Call hotel_book again with all arguments corrected.",
			`{"issues":[{"pointer":"/city","rule":"required","expected":"string (at least 1 character)","got":"","source":"schema"},` +
				`{"pointer":"/from","rule":"type","expected":"integer (at least 1)","got":"string","source":"schema"}]}`,
		},
		"asked again": {
			`{"city":"Lisbon","from":1,"to":2,"how":"ask"}`,
			"Automatic check, not a message from the user: the tool hotel_book looked at your arguments and asks for others.\n" +
				"- city: expected \"a city with an airport\"\nCall hotel_book again with all arguments, changed as it asks.",
			`{"issues":[{"pointer":"/city","rule":"known","expected":"a city with an airport","got":"","source":"tool"}]}`,
		},
		"failed": {`{"city":"Lisbon","from":1,"to":2,"how":"fail"}`, "All rooms are taken.", ""},
		"in doubt": {
			`{"city":"Lisbon","from":1,"to":2,"how":"doubt"}`,
			"The call failed, and its effect may or may not have happened.\nThe hotel did not answer.", "",
		},
		"later": {`{"city":"Lisbon","from":1,"to":2,"how":"later"}`, "Not done: the tool is not ready for this call. The same call may help later.", ""},
		"later, in doubt": {
			`{"city":"Lisbon","from":1,"to":2,"how":"unsure later"}`,
			"The tool is not ready for this call, and its effect may or may not have happened. The same call may help later.", "",
		},
		"broke":    {`{"city":"Lisbon","from":1,"to":2,"how":"break"}`, "The call failed, and its effect may or may not have happened.", ""},
		"down":     {`{"city":"Lisbon","from":1,"to":2,"how":"down"}`, "The call failed, and its effect may or may not have happened.", ""},
		"panicked": {`{"city":"Lisbon","from":1,"to":2,"how":"panic"}`, "The call failed, and its effect may or may not have happened.", ""},
		"a scalar": {`{"city":"Lisbon","from":1,"to":2,"how":"scalar"}`, "7", ""},
		"a text":   {`{"city":"Lisbon","from":1,"to":2,"how":"text"}`, "7", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "hotel_book", Arguments: json.RawMessage(c.args)})
			require.NoError(t, err)
			var texts []string
			for _, b := range r.Content {
				texts = append(texts, b.(*sdk.TextContent).Text)
			}
			assert.Equal(t, c.text, strings.Join(texts, "\n"))
			assert.Equal(t, !strings.HasPrefix(name, "a "), r.IsError)
			if c.structured == "" {
				assert.Nil(t, r.StructuredContent)
				return
			}
			got, err := json.Marshal(r.StructuredContent)
			require.NoError(t, err)
			assert.JSONEq(t, c.structured, string(got))
		})
	}
}

// retake to MCP to retake, over each transport: the outcome of a tool arrives unchanged.
func TestRoundTrip(t *testing.T) {
	for name, session := range map[string]*sdk.ClientSession{
		"stdio": overStdio(t, "retake", nil), "memory": inMemory(t, retakeServer(), nil), "http": overHTTP(t, retakeServer(), nil, nil, &refusal{}),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := mcp.DefaultConfig()
			cfg.Rename = map[string]string{"hotel_book": "hotel/book"}
			tools, err := mcp.Tools(t.Context(), session, cfg)
			require.NoError(t, err)
			far, near := tools[0], rooms(t).All()[0]
			assert.Equal(t, near.Name(), far.Name())
			assert.Equal(t, near.Description(), far.Description())
			assert.JSONEq(t, string(near.Parameters()), string(far.Parameters()))
			ctx := tool.WithInvocation(t.Context(), tool.Invocation{Key: "k-1", CallID: "c1"})
			for _, args := range []string{
				`{"city":"Lisbon","from":1,"to":2}`, `{"city":"","from":1,"to":2}`, `[]`, `{"city":"Lisbon","from":2,"to":1}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"ask"}`, `{"city":"Lisbon","from":1,"to":2,"how":"fail"}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"doubt"}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"scalar"}`, `{"city":"Lisbon","from":1,"to":2,"how":"text"}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"key"}`, `{"city":"Lisbon","from":1,"to":2,"how":"unsure yes"}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"unsure text"}`, `{"city":"Lisbon","from":1,"to":2,"how":"unsure ask"}`,
				`{"city":"Lisbon","from":1,"to":2,"how":"unsure fail"}`,
			} {
				want, got := near.Invoke(ctx, []byte(args)), far.Invoke(ctx, []byte(args))
				for n, i := range want.Issues {
					if i.Source == fault.FromRules {
						want.Issues[n].Source = fault.FromTool // the far tool has run: it asked its server
					}
				}
				assert.Equal(t, want, got, args)
			}
			for how, class := range map[string]fault.Class{"break": fault.ToolExecution, "panic": fault.ToolExecution, "down": fault.Unavailable} {
				out := far.Invoke(ctx, []byte(`{"city":"Lisbon","from":1,"to":2,"how":"`+how+`"}`))
				var broke *fault.ProviderError
				require.ErrorAs(t, out.Err, &broke)
				assert.Equal(t, class, broke.Class, how)
				assert.NotContains(t, broke.Error(), "pq:")
			}
			for how, doubt := range map[string]bool{"later": false, "unsure later": true} {
				out := far.Invoke(ctx, []byte(`{"city":"Lisbon","from":1,"to":2,"how":"`+how+`"}`))
				later, ok := out.Later()
				require.True(t, ok)
				assert.Equal(t, 90*time.Second, later.After)
				assert.Equal(t, doubt, out.InDoubt, how)
			}
		})
	}
}

func TestErrorsOfToolsGoToTheOperator(t *testing.T) {
	server := sdk.NewServer(self, nil)
	type told struct {
		tool string
		err  error
	}
	heard := make(chan told, 2)
	require.NoError(t, mcp.Serve(server, rooms(t), mcp.WithErrors(func(_ context.Context, tool string, err error) { heard <- told{tool, err} })))
	session := inMemory(t, server, nil)
	for _, how := range []string{"break", "panic"} {
		_, err := session.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "hotel_book", Arguments: json.RawMessage(`{"city":"Lisbon","from":1,"to":2,"how":"` + how + `"}`),
		})
		require.NoError(t, err)
	}
	broke, panicked := <-heard, <-heard
	assert.Equal(t, "hotel/book", broke.tool)
	assert.EqualError(t, broke.err, "pq: relation rooms does not exist")
	var p *fault.PanicError
	assert.ErrorAs(t, panicked.err, &p)
}

func TestAServedToolsContext(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	slow := tool.New("slow", "Takes long.", func(ctx context.Context, _ struct{}) (string, error) {
		for _, p := range []any{0, map[string]any{"progress": 0}, "packing", map[string]any{"progress": 1.5, "total": 4, "message": "half"}, map[string]any{"at": "gate"}, nil} {
			if err := tool.Progress(ctx, p); err != nil {
				return "", err
			}
		}
		close(started)
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	})
	set, err := tool.NewSet(slow)
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set))
	got := make(chan sdk.ProgressNotificationParams, 9)
	session := inMemory(t, server, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { got <- *req.Params },
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	params := &sdk.CallToolParams{Name: "slow"}
	params.SetProgressToken("p")
	_, err = session.CallTool(ctx, params)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)
	for _, want := range []sdk.ProgressNotificationParams{
		{Progress: 0}, {Progress: 1, Message: "packing"}, {Progress: 1.5, Total: 4, Message: "half"},
		{Progress: 2, Message: `{"at":"gate"}`}, {Progress: 3, Message: "null"},
	} {
		p := <-got
		assert.Equal(t, want, sdk.ProgressNotificationParams{Progress: p.Progress, Total: p.Total, Message: p.Message})
		assert.Equal(t, "p", p.ProgressToken)
	}
}

func TestWhatCannotBeServed(t *testing.T) {
	raw := func(name, schema string) *tool.Tool {
		made, err := tool.Raw(name, "", []byte(schema), func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil })
		require.NoError(t, err)
		return made
	}
	set, err := tool.NewSet(raw("ok", `{"properties":{"a":{}}}`), raw("any", `{}`), raw("list", `{"type":["object","null"]}`))
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.EqualError(t, mcp.Serve(server, set), `mcp: tool "list": the type of its schema is ["object","null"], want "object"`)

	set, err = tool.NewSet(raw("ok", `{"properties":{"a":{}}}`), raw("any", `{}`))
	require.NoError(t, err)
	require.NoError(t, mcp.Serve(server, set))
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
	require.NoError(t, err)
	assert.Equal(t, []string{"any", "ok"}, namesOf(tools), "the SDK lists by name")
	assert.JSONEq(t, `{"type":"object","properties":{"a":{}}}`, string(find(t, tools, "ok").Parameters()))
	assert.Equal(t, "null", string(find(t, tools, "ok").Invoke(t.Context(), []byte(`{}`)).Result))

	header, err := tool.NewSet(raw("h", `{"type":"object","properties":{"a":{"type":"array","x-mcp-header":"A"}}}`))
	require.NoError(t, err)
	require.ErrorContains(t, mcp.Serve(server, header), `mcp: tool "h": `, "what the SDK panics on is an error")

	require.EqualError(t, mcp.Serve(nil, set), "mcp: the server is nil; make one with NewServer")
	require.EqualError(t, mcp.Serve(server, set, nil), "mcp: option 1 is nil; leave it out")
	require.ErrorContains(t, mcp.Serve(server, set, mcp.WithErrors(nil)), "the function is nil")
	require.ErrorContains(t, mcp.Serve(server, set, mcp.WithLimits(feedback.Limits{})), "mcp: limits: max_issues")
}

// Structured content comes with an output schema, as the protocol wants it, and only then.
func TestStructuredContentHasAnOutputSchema(t *testing.T) {
	type receipt struct {
		ID int64 `json:"id"`
	}
	set, err := tool.NewSet(
		tool.New("book", "", func(context.Context, struct{}) (receipt, error) { return receipt{9007199254740993}, nil }),
		tool.New("some", "", func(context.Context, struct{}) (any, error) { return receipt{1}, nil }),
	)
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set))
	session := inMemory(t, server, nil)
	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, one := range listed.Tools {
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: one.Name})
		require.NoError(t, err)
		assert.Equal(t, one.Name == "book", one.OutputSchema != nil, one.Name)
		assert.Equal(t, one.Name == "book", got.StructuredContent != nil, one.Name)
	}
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	assert.Equal(t, `{"id":9007199254740993}`, string(find(t, tools, "book").Invoke(t.Context(), []byte(`{}`)).Result))
}

// The trace context goes in _meta, in both directions.
func TestTraceContextIsInMeta(t *testing.T) {
	type key struct{}
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	set, err := tool.NewSet(tool.New("book", "", func(ctx context.Context, _ struct{}) (string, error) {
		return ctx.Value(key{}).(string) + " " + tool.IdempotencyKey(ctx), nil
	}))
	require.NoError(t, err)
	server := sdk.NewServer(self, nil)
	require.NoError(t, mcp.Serve(server, set, mcp.WithContext(func(ctx context.Context, meta map[string]any) context.Context {
		return context.WithValue(ctx, key{}, meta["traceparent"])
	})))
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig(), mcp.WithMeta(func(ctx context.Context) map[string]any {
		return map[string]any{"traceparent": ctx.Value(key{}), mcp.MetaIdempotencyKey: "not this"}
	}))
	require.NoError(t, err)
	ctx := tool.WithInvocation(context.WithValue(t.Context(), key{}, parent), tool.Invocation{Key: "k-1"})
	assert.Equal(t, `"`+parent+` k-1"`, string(tools[0].Invoke(ctx, []byte(`{}`)).Result))
}
