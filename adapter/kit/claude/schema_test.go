package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit/claude"
)

func TestToolSchemas(t *testing.T) {
	const open = `{"type":"object"}`
	for name, c := range map[string]struct {
		schema, want string
		words        bool
	}{
		"as it is":                  {`{"type":"object","properties":{"b":{"type":"integer","minimum":1},"a":{"anyOf":[{"type":"string"}]}},"required":["a"]}`, `{"type":"object","properties":{"b":{"type":"integer","minimum":1},"a":{"anyOf":[{"type":"string"}]}},"required":["a"]}`, false},
		"no type":                   {`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, false},
		"two types":                 {`{"type":["object","null"],"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, false},
		"alternatives at the top":   {`{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"object","properties":{"a":{},"b":{}}}`, true},
		"a reference at the top":    {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}`, open, true},
		"a name that is refused":    {`{"type":"object","properties":{"a b":{}}}`, open, true},
		"any name within":           {`{"type":"object","properties":{"a":{"items":{"properties":{"$top":{}}}}}}`, `{"type":"object","properties":{"a":{"items":{"properties":{"$top":{}}}}}}`, false},
		"an old draft that is same": {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{}}}`, `{"type":"object","properties":{"a":{"$ref":"#/definitions/A"}},"definitions":{"A":{}}}`, false},
		"an old draft that is not":  {`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, open, true},
		"this draft":                {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`, open, false},
		"no object":                 {`true`, open, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, words := claude.ToolSchema([]byte(c.schema))
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.words, strings.HasSuffix(words, c.schema) && words != "", words)
		})
	}
}

func TestOutputSchemas(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"as it is":             {`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`},
		"rules become words":   {`{"type":"object","properties":{"a":{"type":"string","description":"A city.","maxLength":3,"pattern":"^A"}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"A city. (maxLength 3, pattern \"^A\")"}},"additionalProperties":false}`},
		"formats and items":    {`{"type":"object","properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","format":"phone"},"c":{"type":"array","items":{"type":"integer"},"minItems":2},"d":{"type":"array","items":{"type":"null"},"minItems":1}}}`, `{"type":"object","properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","description":"(format \"phone\")"},"c":{"type":"array","items":{"type":"integer"},"description":"(minItems 2)"},"d":{"type":"array","items":{"type":"null"},"minItems":1}},"additionalProperties":false}`},
		"alternatives":         {`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"const":1}]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"const":1}]}},"additionalProperties":false}`},
		"definitions":          {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"x"}},"$defs":{"A":{"type":"object","properties":{"n":{"enum":[1,"{"]}}}}}`, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"n":{"enum":[1,"{"]}},"additionalProperties":false}},"additionalProperties":false}`},
		"annotations":          {`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","properties":{"a":{"type":"boolean","default":true,"x-echo":true}}}`, `{"type":"object","title":"T","properties":{"a":{"type":"boolean"}},"additionalProperties":false}`},
		"an empty object":      {`{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false}`},
		"a list":               {`{"type":"array","items":{"type":"string"}}`, ""},
		"a map":                {`{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		"an open object":       {`{"type":"object"}`, ""},
		"open on purpose":      {`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}`, ""},
		"anything":             {`{"type":"object","properties":{"a":{}}}`, ""},
		"true":                 {`{"type":"object","properties":{"a":true}}`, ""},
		"items of any kind":    {`{"type":"object","properties":{"a":{"type":"array"}}}`, ""},
		"required and absent":  {`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, ""},
		"not":                  {`{"type":"object","properties":{"a":{"type":"string","not":{"const":"x"}}}}`, ""},
		"conditions":           {`{"type":"object","properties":{"a":{"type":"string"}},"if":{},"then":{}}`, ""},
		"a list in an enum":    {`{"type":"object","properties":{"a":{"enum":[["x"]]}}}`, ""},
		"an object as const":   {`{"type":"object","properties":{"a":{"const":{}}}}`, ""},
		"objects in allOf":     {`{"type":"object","properties":{"a":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}}},{"type":"object","properties":{"y":{"type":"string"}}}]}}}`, ""},
		"a reference in allOf": {`{"type":"object","properties":{"a":{"allOf":[{"$ref":"#/$defs/A"}]}},"$defs":{"A":{"type":"string"}}}`, ""},
		"two alternatives":     {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"oneOf":[{"type":"string"}]}}}`, ""},
		"a list of itself":     {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`, ""},
		"itself":               {`{"type":"object","properties":{"a":{"$ref":"#"}}}`, ""},
		"elsewhere":            {`{"type":"object","properties":{"a":{"$ref":"https://example.com/a"}}}`, ""},
		"many optional":        {`{"type":"object","properties":{` + many(25, `{"type":"string"}`) + `}}`, ""},
		"many unions":          {`{"type":"object","properties":{` + many(17, `{"type":["string","null"]}`) + `}}`, ""},
		"no object":            {`[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := claude.OutputSchema([]byte(c.schema))
			require.Equal(t, c.want != "", ok)
			if ok {
				assert.Equal(t, c.want, string(got))
			}
		})
	}
}

func many(n int, schema string) string {
	list := make([]string, n)
	for k := range list {
		list[k] = `"p` + strings.Repeat("x", k) + `":` + schema
	}
	return strings.Join(list, ",")
}

// Each definition refers twice to the next one. Each is visited once, not 2^40 times.
func TestDeepDefinitionsAreReadOnce(t *testing.T) {
	defs := []string{`"D40":{"type":"string"}`}
	for n := range 40 {
		name, next := "D"+itoa(n), "#/$defs/D"+itoa(n+1)
		defs = append(defs, `"`+name+`":{"anyOf":[{"$ref":"`+next+`"},{"$ref":"`+next+`"}]}`)
	}
	_, ok := claude.OutputSchema([]byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + strings.Join(defs, ",") + `}}`))
	assert.False(t, ok, "40 alternatives are more than the API takes")
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func FuzzSchemas(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"oneOf":[{"type":"string","maxLength":1}]}}}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-07/schema#","anyOf":[{"type":"object"}],"properties":{"ü":true}}`)
	f.Fuzz(func(t *testing.T, doc string) {
		if !json.Valid([]byte(doc)) {
			return
		}
		tools, _ := claude.ToolSchema([]byte(doc))
		require.True(t, json.Valid(tools), string(tools))
		output, ok := claude.OutputSchema([]byte(doc))
		require.True(t, !ok || json.Valid(output), string(output))
	})
}
