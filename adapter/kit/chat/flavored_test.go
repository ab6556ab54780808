package chat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/chat"
	"github.com/retake-go/retake/adapter/kit/kittest"
	"github.com/retake-go/retake/schema"
	"github.com/retake-go/retake/tool"
)

const anyType = `"type":["object","array","string","number","boolean","null"]`

// flavors are schemas of a member that Moonshot's validator refuses, and what is sent for them.
var flavors = map[string]struct{ is, sent string }{
	"no type":               {`{"description":"d"}`, `{"description":"d",` + anyType + `}`},
	"anything":              {`true`, `{"description":"Any value.",` + anyType + `}`},
	"members of no type":    {`{"properties":{"x":{"type":"string"}}}`, `{"type":"object","properties":{"x":{"type":"string"}}}`},
	"items of no type":      {`{"items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"}}`},
	"a list of anything":    {`{"type":"array"}`, `{"type":"array","items":{"description":"Any value.",` + anyType + `}}`},
	"an enum":               {`{"enum":["x","y"]}`, `{"type":"string","enum":["x","y"]}`},
	"an enum with null":     {`{"type":"string","enum":["x",null]}`, `{"type":["string","null"],"enum":["x",null]}`},
	"an enum of two types":  {`{"enum":["x",1]}`, `{"description":"(enum [\"x\",1])",` + anyType + `}`},
	"a constant":            {`{"const":5}`, `{"type":"number","enum":[5]}`},
	"a type beside anyOf":   {`{"type":"string","anyOf":[{"minLength":1},{"enum":["y"]}]}`, `{"type":"string","description":"(anyOf [{\"minLength\":1},{\"enum\":[\"y\"],\"type\":\"string\"}])"}`},
	"words beside anyOf":    {`{"title":"t","anyOf":[{"type":"string"},{"type":"null"}]}`, `{"title":"t","anyOf":[{"type":"string"},{"type":"null"}]}`},
	"one of":                {`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
	"a reference":           {`{"$ref":"#/$defs/d"}`, `{"$ref":"#/$defs/d"}`},
	"words beside one":      {`{"$ref":"#/$defs/d","description":"d"}`, `{"description":"d","anyOf":[{"$ref":"#/$defs/d"}]}`},
	"rules beside one":      {`{"$ref":"#/$defs/d","type":"string","minLength":2}`, `{"description":"(type \"string\", minLength 2)","anyOf":[{"$ref":"#/$defs/d"}]}`},
	"a reference elsewhere": {`{"$ref":"#/properties/b"}`, `{"description":"($ref \"#/properties/b\")",` + anyType + `}`},
	"a member that is none": {`{"type":"object","properties":{},"required":["x"]}`, `{"type":"object","properties":{},"description":"(required [\"x\"])","required":[]}`},
	"all of":                {`{"type":"string","allOf":[{"minLength":1}]}`, `{"type":"string","description":"(allOf [{\"minLength\":1}])"}`},
}

// offered is what is sent for the member a of the arguments of a tool.
func offered(t *testing.T, cfg chat.Config, is string) string {
	t.Helper()
	doc := `{"type":"object","properties":{"a":` + is + `,"b":{"type":"string"}},"$defs":{"d":{"type":"string","description":"t"}}}`
	f, err := tool.Raw("f", "", []byte(doc), nothing)
	require.NoError(t, err)
	req := hello()
	req.Tools = []*tool.Tool{f}
	var body struct {
		Tools []struct {
			Function struct {
				Parameters struct {
					Properties struct{ A json.RawMessage }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(sent(t, overChat(cfg), chatSays, req)), &body))
	return string(body.Tools[0].Function.Parameters.Properties.A)
}

// Moonshot refuses every request of a run with one such schema, also behind gateways
// (https://github.com/MoonshotAI/kimi-cli/issues/1595, https://github.com/anomalyco/opencode/issues/39995).
func TestMoonshotGetsTypedSchemas(t *testing.T) {
	for name, c := range flavors {
		t.Run(name, func(t *testing.T) {
			for _, cfg := range []chat.Config{{Model: "k3", Provider: "moonshot"}, {Model: "moonshotai/kimi-k3", Provider: "openrouter"}} {
				assert.JSONEq(t, c.sent, offered(t, cfg, c.is))
			}
			assert.NotContains(t, offered(t, chat.Config{Model: "m"}, c.is), anyType, "another server")
			checkFlavor(t, c.is, c.sent)
		})
	}
}

// checkFlavor checks that the schema which is sent excludes nothing of its type that the tool's own accepts.
func checkFlavor(t *testing.T, is, sent string) {
	if strings.Contains(is, "$ref") {
		return
	}
	own, err := schema.Compile([]byte(is))
	require.NoError(t, err)
	flavored, err := schema.Compile([]byte(sent))
	require.NoError(t, err)
	for _, v := range []string{`"x"`, `"y"`, `""`, `1`, `5`, `null`, `{}`, `{"x":"y"}`, `[]`, `["x"]`} {
		isTyped := strings.HasPrefix(is, `{"properties"`) && v[0] != '{' || strings.HasPrefix(is, `{"items"`) && v[0] != '['
		if own.Check([]byte(v)) == nil && !isTyped {
			assert.Empty(t, flavored.Check([]byte(v)), v)
		}
	}
}

func TestDefinitionsGoWhereMoonshotReadsThem(t *testing.T) {
	f, err := tool.Raw("f", "", []byte(`{"type":"object","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"type":"string"}}}`), nothing)
	require.NoError(t, err)
	req := hello()
	req.Tools = []*tool.Tool{f}
	body := sent(t, overChat(chat.Config{Model: "kimi-k3"}), chatSays, req)
	assert.Contains(t, body, `"$ref":"#/$defs/d"`)
	assert.Contains(t, body, `"$defs":{"d":{"type":"string"}}`)
}

// Moonshot refuses names that begin with a digit (https://github.com/MoonshotAI/kimi-cli/issues/2531).
func TestANameThatBeginsWithADigitIsSentWithALineBefore(t *testing.T) {
	f, err := tool.Raw("21st.find", "", []byte(`{"type":"object"}`), nothing)
	require.NoError(t, err)
	req := hello()
	req.Tools = []*tool.Tool{f}
	assert.Contains(t, sent(t, overChat(chat.Config{Model: "m"}), chatSays, req), `"name":"_21st_find"`)
	s := kittest.Serve(t, "200 OK\n\n"+`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"_21st_find","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
	model, err := overChat(chat.Config{Model: "m"}).New(s.URL, s.Client)
	require.NoError(t, err)
	reply, err := model.Reply(t.Context(), req)
	require.NoError(t, err)
	assert.Equal(t, "21st.find", reply.Calls[0].Name)
}
