package mcp_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/mcp"
	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/looptest"
	"github.com/retake-go/retake/tool"
)

// withSchema is a server whose only tool has a schema that the SDK would not write.
func withSchema(schema any) *sdk.Server {
	return rewrite(newServer("get", always(text("ok"), nil)), func(l *sdk.ListToolsResult) { l.Tools[0].InputSchema = schema })
}

func TestSchemasThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct{ schema, says string }{
		"none":                {`null`, "there is none"},
		"no schema":           {`{"type":5}`, "schema: type"},
		"unknown reference":   {`{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"}}}`, "schema:"},
		"outside":             {`{"$ref":"https://example.com/s.json"}`, "outside of the document"},
		"false":               {`false`, "it is false, want an object"},
		"true":                {`true`, "it is true, want an object"},
		"not everything":      {`{"type":"object","not":{}}`, "its not excludes everything"},
		"not true":            {`{"not":true}`, "its not excludes everything"},
		"a string":            {`{"type":"string"}`, "its type is string"},
		"some types":          {`{"type":["string","null"]}`, "its type is [string null]"},
		"enum":                {`{"enum":["a"]}`, "its enum has no object"},
		"const":               {`{"const":1}`, "its const is no object"},
		"minProperties":       {`{"minProperties":2,"maxProperties":1}`, "minProperties is above"},
		"allOf":               {`{"allOf":[{},{"type":"array"}]}`, "in its allOf its type is array"},
		"anyOf":               {`{"anyOf":[false,{"type":"array"}]}`, "in every branch of its anyOf it is false"},
		"required and false":  {`{"type":"object","properties":{"a":false},"required":["a"]}`, `the required member "a" accepts nothing`},
		"required, forbidden": {`{"required":["a"],"additionalProperties":false}`, `the member "a" is required and not allowed`},
	} {
		t.Run(name, func(t *testing.T) {
			server := withSchema(json.RawMessage(c.schema))
			cfg := mcp.DefaultConfig()
			_, err := mcp.Tools(t.Context(), inMemory(t, server, nil), cfg)
			require.ErrorContains(t, err, `mcp: the tools of server "trips": tool "get": the input schema cannot be used: `)
			require.ErrorContains(t, err, c.says)

			cfg.Schemas = mcp.LeaveOut
			tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), cfg)
			require.NoError(t, err)
			assert.Empty(t, tools)

			cfg.Schemas = mcp.OfferUnchecked
			tools, err = mcp.Tools(t.Context(), inMemory(t, server, nil), cfg)
			require.NoError(t, err)
			assert.JSONEq(t, `{"type":"object"}`, string(tools[0].Parameters()))
			assert.Equal(t, `"ok"`, string(tools[0].Invoke(t.Context(), []byte(`{"any":"thing"}`)).Result))
			if c.schema != "null" {
				assert.Contains(t, tools[0].Description(), "A tool.\nThe arguments, as its server describes them: ")
			}
		})
	}
}

// TypeBox writes tuples as drafts before 2020-12 do, and names no draft.
func TestASchemaThatNamesNoDraftMayBeOfAnOlderOne(t *testing.T) {
	const tuple = `{"type":"object","properties":{"at":{"type":"array","items":[{"type":"number"},{"type":"string"}],"additionalItems":false,"minItems":2}}`
	server := rewrite(newServer("get", always(text("ok"), nil)), func(l *sdk.ListToolsResult) {
		l.Tools[0].InputSchema, l.Tools[0].OutputSchema = json.RawMessage(tuple+"}"), json.RawMessage(tuple+`,"required":["at"]}`)
	})
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
	require.NoError(t, err)
	result := tools[0].Invoke(t.Context(), []byte(`{"at":["x","y"]}`))
	require.Len(t, result.Issues, 1)
	assert.Equal(t, "at/0: expected number, got string", result.Issues[0].String())
	for _, named := range []string{`,"$schema":"https://json-schema.org/draft/2020-12/schema"}`, `,"required":5}`} {
		_, err = mcp.Tools(t.Context(), inMemory(t, withSchema(json.RawMessage(tuple+named)), nil), mcp.DefaultConfig())
		require.ErrorContains(t, err, "items: expected boolean or object")
	}
}

// A schema of some kilobytes keeps nobody for hours.
func TestDeepSchemasAreLookedAtOnce(t *testing.T) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		const levels = 60
		deep := strings.Repeat(`{"`+keyword+`":[`, levels) + `{"type":"string"}` + strings.Repeat(`]}`, levels)
		_, err := mcp.Tools(t.Context(), inMemory(t, withSchema(json.RawMessage(deep)), nil), mcp.DefaultConfig())
		assert.ErrorContains(t, err, "its type is string")
	}
}

func TestSchemasThatAreStrictCanBeUsed(t *testing.T) {
	for _, schema := range []string{
		`{}`, `{"type":["object","null"]}`, `{"enum":[{"a":1}]}`, `{"anyOf":[false,{"type":"object"}]}`, `{"not":{"required":["a"]}}`,
		`{"required":["ab"],"patternProperties":{"^a":{}},"additionalProperties":false}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"n":{"type":"integer"}},"properties":{"n":{"$ref":"#/definitions/n"}}}`,
	} {
		_, err := mcp.Tools(t.Context(), inMemory(t, withSchema(json.RawMessage(schema)), nil), mcp.DefaultConfig())
		assert.NoError(t, err, schema)
	}
}

// The server's tool does not follow its listed schema. The model reads what its server says.
func TestAServerThatLiesAboutItsSchema(t *testing.T) {
	server := sdk.NewServer(self, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "book", Description: "Book."},
		func(context.Context, *sdk.CallToolRequest, Booking) (*sdk.CallToolResult, any, error) {
			return text("booked"), nil, nil
		})
	rewrite(server, func(l *sdk.ListToolsResult) {
		l.Tools[0].InputSchema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"integer"}}}`)
	})
	tools, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
	require.NoError(t, err)
	r, err := run(t, tools, looptest.NewModel(
		looptest.Call(call("c1", "book", `{"city":5,"nights":2}`)), looptest.Say("I cannot book."),
	))
	require.NoError(t, err)
	assert.Contains(t, answers(r)[0].Text, `The tool says: "validating \"arguments\": validating root: validating /properties/city: type: 5 has type`)
}

func TestAToolThatIsGone(t *testing.T) {
	server := newServer("get", always(text("ok"), nil))
	gone := one(t, server)
	server.RemoveTools("get")
	r, err := run(t, []*tool.Tool{gone}, looptest.NewModel(looptest.Call(call("c1", "get", `{}`)), looptest.Say("Sorry.")))
	require.NoError(t, err)
	assert.Equal(t, "The call failed, and its effect may or may not have happened.", answers(r)[0].Text)
}

func TestResultsAreHeldToTheirSchema(t *testing.T) {
	promised := map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}, "required": []any{"n"}}
	server := func(result *sdk.CallToolResult) *sdk.Server {
		return rewrite(newServer("get", always(result, nil)), func(l *sdk.ListToolsResult) { l.Tools[0].OutputSchema = promised })
	}
	good := &sdk.CallToolResult{StructuredContent: map[string]any{"n": 1}}
	assert.Equal(t, `{"n":1}`, string(one(t, server(good)).Invoke(t.Context(), []byte(`{}`)).Result))
	assert.Equal(t, "sold out", one(t, server(isError("sold out"))).Invoke(t.Context(), []byte(`{}`)).Failed, "an error need not keep to it")

	bad := &sdk.CallToolResult{StructuredContent: map[string]any{"n": "one", "m": 2}}
	for name, c := range map[string]struct {
		result *sdk.CallToolResult
		says   string
	}{
		"another type": {bad, "the result of tool \"get\" is not what its output schema says: n: expected integer, got string"},
		"no structure": {text("n is 1"), "(whole): expected object (member: n), got null"},
	} {
		t.Run(name, func(t *testing.T) {
			err := one(t, server(c.result)).Invoke(t.Context(), []byte(`{}`)).Err
			require.ErrorContains(t, err, c.says)
			var wrong *mcp.ResultError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, "get", wrong.Tool)
			var failed *fault.ProviderError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, fault.InvalidResponse, failed.Class)
			out := one(t, server(c.result), func(c *mcp.Config) { c.CheckResults = false }).Invoke(t.Context(), []byte(`{}`))
			assert.NotEmpty(t, out.Result)
		})
	}

	broken := rewrite(newServer("get", always(good, nil)), func(l *sdk.ListToolsResult) { l.Tools[0].OutputSchema = map[string]any{"type": 5} })
	_, err := mcp.Tools(t.Context(), inMemory(t, broken, nil), mcp.DefaultConfig())
	require.ErrorContains(t, err, `tool "get": the output schema cannot be used (set CheckResults to false to ignore it): schema: type`)
}

func TestListsThatCannotBeUsed(t *testing.T) {
	twice := func(l *sdk.ListToolsResult) { l.Tools = append(l.Tools, l.Tools[0]) }
	nameless := func(l *sdk.ListToolsResult) { l.Tools[0].Name = "" }
	many := func(l *sdk.ListToolsResult) {
		for n := range 1000 {
			own := *l.Tools[0]
			own.Name = strconv.Itoa(n)
			l.Tools = append(l.Tools, &own)
		}
	}
	for name, c := range map[string]struct {
		change func(*sdk.ListToolsResult)
		says   string
	}{
		"a name twice": {twice, `two tools have the name "get"`},
		"no name":      {nameless, "tool 1 of the list has no name"},
		"too many":     {many, "the list has more than MaxTools (1000) tools"},
	} {
		t.Run(name, func(t *testing.T) {
			server := rewrite(newServer("get", always(text("ok"), nil)), c.change)
			_, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestPagesWithoutAnEnd(t *testing.T) {
	for name, c := range map[string]struct {
		next func(page int) string
		says string
	}{
		"in a circle": {func(int) string { return "same" }, `the list has endless pages: page 2 continues with the cursor "same"`},
		"ever new":    {strconv.Itoa, `the list has endless pages: page 1001 continues with the cursor "1001"`},
	} {
		t.Run(name, func(t *testing.T) {
			page := 0
			server := newServer("get", always(text("ok"), nil))
			server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
					if method != "tools/list" {
						return next(ctx, method, req)
					}
					page++
					return &sdk.ListToolsResult{Tools: []*sdk.Tool{}, NextCursor: c.next(page)}, nil
				}
			})
			_, err := mcp.Tools(t.Context(), inMemory(t, server, nil), mcp.DefaultConfig())
			require.ErrorContains(t, err, c.says)
		})
	}
}
