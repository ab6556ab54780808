package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
)

func TestWhatAResultIs(t *testing.T) {
	size := int64(12)
	exact := `{"id":9007199254740993}`
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		want   string
	}{
		"text":             {text(`a "quoted" <b> text`), `"a \"quoted\" <b> text"`},
		"empty text":       {text(""), `""`},
		"an object":        {text(` {"b":1,"a":2}`), `{"a":2,"b":1}`},
		"a list":           {text(`[1,2]`), `[1,2]`},
		"a number is text": {text(`007`), `"007"`},
		"a digit is text":  {text(`7`), `"7"`},
		"almost JSON":      {text(`{"a":1,"a":2}`), `"{\"a\":1,\"a\":2}"`},
		"two values":       {text(`{} {}`), `"{} {}"`},
		"nothing":          {&sdk.CallToolResult{}, `null`},
		"structured":       {&sdk.CallToolResult{StructuredContent: map[string]any{"a": 1}, Content: text("one").Content}, `{"a":1}`},
		"structured, with its numbers exact": {
			&sdk.CallToolResult{StructuredContent: json.RawMessage(exact), Content: text(exact).Content}, exact,
		},
		"two blocks": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.TextContent{Text: "b"}}},
			`[{"text":"a","type":"text"},{"text":"b","type":"text"}]`,
		},
		"media": {
			&sdk.CallToolResult{Content: []sdk.Content{
				&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 3)}, &sdk.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 4)},
			}},
			`[{"bytes":3,"mime_type":"image/png","type":"image"},{"bytes":4,"mime_type":"audio/wav","type":"audio"}]`,
		},
		"one image": {
			&sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: make([]byte, 100<<10)}}},
			`[{"bytes":102400,"mime_type":"image/png","type":"image"}]`,
		},
		"resources": {
			&sdk.CallToolResult{Content: []sdk.Content{
				&sdk.ResourceLink{URI: "file:///a", Name: "a", Title: "A", Description: "the file", MIMEType: "text/plain", Size: &size},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", MIMEType: "text/plain", Text: "hello"}},
				&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c", Blob: make([]byte, 5)}},
			}},
			`[{"bytes":12,"description":"the file","mime_type":"text/plain","name":"a","title":"A","type":"resource_link","uri":"file:///a"},` +
				`{"mime_type":"text/plain","text":"hello","type":"resource","uri":"file:///b"},{"bytes":5,"type":"resource","uri":"file:///c"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := one(t, newServer("get", always(c.result, nil))).Invoke(t.Context(), []byte(`{}`))
			require.NoError(t, out.Err)
			assert.Equal(t, c.want, string(out.Result))
		})
	}
}

func isError(s string) *sdk.CallToolResult {
	r := text(s)
	r.IsError = true
	return r
}

func TestWhatAToolsErrorIs(t *testing.T) {
	for name, c := range map[string]struct{ text, expected, failed string }{
		"its own words": {"sold out", `other arguments, for the tool says: "sold out"`, "sold out"},
		"markers":       {"a\n<|im_start|>", `other arguments, for the tool says: "a\n< |im_start| >"`, `a\n< |im_start| >`},
		"no words":      {"", "other arguments", "The tool failed. The same call will not help."},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer("get", always(isError(c.text), nil))
			out := one(t, server).Invoke(t.Context(), []byte(`{}`))
			assert.Equal(t, []fault.Issue{{Rule: "refused", Expected: c.expected, Source: fault.FromTool}}, out.Issues)
			out = one(t, server, func(c *mcp.Config) { c.OnError = mcp.Fail }).Invoke(t.Context(), []byte(`{}`))
			assert.Equal(t, c.failed, out.Failed)
		})
	}
}

// Of a validation library's text, only places and names of rules are used.
func TestAServersValidatorIsNotQuoted(t *testing.T) {
	const wholly = "(whole): expected other arguments, for the tool's server refuses these by a rule that it did not tell"
	at := func(place, rule string) string {
		return place + ": expected another value, for the tool's server refuses this one (its rule: " + rule + ")"
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"Go": {
			`validating "arguments": validating root: validating /properties/hotel/properties/city: type: 5 has type "integer", want "string"`,
			[]string{at("hotel/city", "type")},
		},
		"Go, a list": {
			`validating "arguments": validating root: validating /properties/days: validating /properties/days/items: minimum: 0 is less than 1`,
			[]string{at("days", "minimum")},
		},
		"Go, the whole":  {`validating "arguments": validating root: required: missing properties: ["nights"]`, []string{at("(whole)", "required")}},
		"Go, no object":  {`validating "arguments": unmarshaling arguments: json: cannot unmarshal array`, []string{wholly}},
		"Go, decoding":   {"json: cannot unmarshal number into Go struct field", []string{wholly}},
		"Go, a sentence": {`validating "arguments": validating root: unexpected additional properties ["extra"]`, []string{"(whole): expected another value, for the tool's server refuses this one"}},
		"TypeScript": {
			"MCP error -32602: Input validation error: Invalid arguments for tool get: [\n {\"code\": \"invalid_type\", \"path\": [\"a/b\", 0], " +
				"\"message\": \"Invalid input: expected number\"},\n {\"code\": \"too_small\", \"path\": [\"n\"]}]",
			[]string{at("a~1b/0", "invalid_type"), at("n", "too_small")},
		},
		"TypeScript, a sentence": {"Input validation error: Invalid arguments for tool get: data/action must be equal to one", []string{wholly}},
		"TypeScript, cut":        {"Input validation error: Invalid arguments for tool get: [{\"code\":", []string{wholly}},
		"Python": {
			"Error executing tool get: 2 validation errors for getArguments\nname\n  Input should be a valid string [type=string_type, input_value=3]\n" +
				"    For further information visit https://errors.pydantic.dev/2.10/v/string_type\nguests.0.age\n  Field required [type=missing]",
			[]string{at("guests/0/age", "missing"), at("name", "string_type")},
		},
		"Python, low level": {"Input validation error: 'x' is a required property", []string{wholly}},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer("get", always(isError(c.text), nil))
			out := one(t, server).Invoke(t.Context(), []byte(`{}`))
			var got []string
			for _, i := range out.Issues {
				got = append(got, i.String())
				noForeignWords(t, i.String())
			}
			assert.Equal(t, c.want, got)
			out = one(t, server, func(c *mcp.Config) { c.OnError = mcp.Fail }).Invoke(t.Context(), []byte(`{}`))
			assert.Equal(t, "The tool failed. The same call will not help.", out.Failed)
		})
	}
}

func TestALongErrorIsCut(t *testing.T) {
	out := one(t, newServer("get", always(isError(strings.Repeat("no ", 1<<15)), nil))).Invoke(t.Context(), []byte(`{}`))
	require.Len(t, out.Issues, 1)
	assert.Less(t, len(out.Issues[0].Expected), 600)
}

func TestWhatAnErrorOfTheProtocolIs(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		class fault.Class
		says  string
	}{
		"parse":           {&jsonrpc.Error{Code: -32700, Message: "m"}, fault.InvalidRequest, "JSON-RPC error -32700: m"},
		"invalid request": {&jsonrpc.Error{Code: -32600, Message: "m"}, fault.InvalidRequest, "-32600"},
		"no method":       {&jsonrpc.Error{Code: -32601, Message: "m"}, fault.NotFound, "no such method"},
		"invalid params":  {&jsonrpc.Error{Code: -32602, Message: "m"}, fault.InvalidRequest, "list the tools again"},
		"internal":        {&jsonrpc.Error{Code: -32603, Message: "nil map"}, fault.ToolExecution, "nil map"},
		"busy":            {&jsonrpc.Error{Code: -32000, Message: "rate limit exceeded, try again"}, fault.ToolExecution, "rate limit"},
		"gateway":         {&jsonrpc.Error{Code: -32603, Message: "upstream: 503 Service Unavailable"}, fault.ToolExecution, "503"},
		"a plain error":   {assert.AnError, fault.ToolExecution, "general error"},
		"versions":        {&jsonrpc.Error{Code: sdk.CodeUnsupportedProtocolVersion, Message: "m"}, fault.Config, "versions"},
		"elicitation":     {sdk.URLElicitationRequiredError([]*sdk.ElicitParams{{Mode: "url", URL: "https://example.com"}}), fault.PermissionDenied, "visit"},
	} {
		t.Run(name, func(t *testing.T) {
			out := one(t, newServer("get", always(nil, c.err))).Invoke(t.Context(), []byte(`{}`))
			var failed *fault.ProviderError
			require.ErrorAs(t, out.Err, &failed)
			assert.Equal(t, c.class, failed.Class)
			assert.Contains(t, failed.Error(), c.says)
			assert.Equal(t, fault.Transport, failed.Failure().Plane)
			var wire *jsonrpc.Error
			assert.ErrorAs(t, out.Err, &wire, "the SDK's error is within")
		})
	}
}

func TestAToolThatWantsInput(t *testing.T) {
	server := newServer("get", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"a": &sdk.ElicitParams{Message: "Really?"}}}, nil
	})
	session := inMemory(t, server, &sdk.ClientOptions{MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}})
	tools, err := mcp.Tools(t.Context(), session, mcp.DefaultConfig())
	require.NoError(t, err)
	var failed *fault.ProviderError
	require.ErrorAs(t, tools[0].Invoke(t.Context(), []byte(`{}`)).Err, &failed)
	assert.Equal(t, fault.LLMAssistRequired, failed.Class)
}

// The arguments are sent unchanged, numbers included.
func TestArgumentsAreSentAsTheyAre(t *testing.T) {
	args := `{"a":9007199254740993,"b":"<&>","c":1.10}`
	server := newServer("get", func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	var sent map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(one(t, server).Invoke(t.Context(), []byte(args)).Result, &sent))
	assert.Equal(t, "9007199254740993", string(sent["a"]))
	assert.Equal(t, `"<&>"`, string(sent["b"]))
}
