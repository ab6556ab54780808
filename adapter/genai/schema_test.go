package genai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSchemasAreSaidInTheKeywordsThatTheAPITakes(t *testing.T) {
	for name, c := range map[string]struct{ from, want string }{
		"order":      {`{"type":"object","properties":{"z":{"type":"string"},"a":{}}}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{}}}`},
		"booleans":   {`{"properties":{"a":true,"b":{"items":false}},"additionalProperties":false}`, `{"properties":{"a":{},"b":{"items":{}}},"additionalProperties":false}`},
		"told":       {`{"minLength":1,"type":"string","description":"City.","pattern":"^\"R"}`, `{"type":"string","description":"City. (minLength 1, pattern \"^\\\"R\")"}`},
		"no words":   {`{"exclusiveMinimum":0}`, `{"description":"(exclusiveMinimum 0)"}`},
		"left out":   {`{"$schema":"x","discriminator":{},"xml":{},"default":1}`, `{}`},
		"conditions": {`{"not":{"required":["a"]},"if":{},"then":false,"dependentRequired":{"a":["b"]}}`, `{"description":"(not {\"required\":[\"a\"]}, if {}, then false, dependentRequired {\"a\":[\"b\"]})"}`},
		"all of one": {`{"description":"D.","allOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{"minLength":1}}}`, `{"description":"D.","anyOf":[{"$ref":"#/$defs/d"}],"$defs":{"d":{"description":"(minLength 1)"}}}`},
		"all of two": {`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{"description":"(allOf [{\"required\":[\"a\"]},{\"required\":[\"b\"]}])"}`},
		"both":       {`{"anyOf":[{"type":"string"}],"allOf":[{"minLength":1}],"enum":["a","b"],"const":"a"}`, `{"anyOf":[{"type":"string"}],"enum":["a","b"],"description":"(allOf [{\"minLength\":1}], const \"a\")"}`},
		"enum":       {`{"type":["string","null"],"enum":["a",null,1.5,-2]}`, `{"type":["string","null"],"enum":["a",1.5,-2]}`},
		"mixed enum": {`{"enum":["a",false]}`, `{"description":"(enum [\"a\",false])"}`},
		"true":       {`{"const":true}`, `{"description":"(enum [true])"}`},
		"names":      {`{"type":"object","patternProperties":{"^x-":{}},"additionalProperties":false}`, `{"type":"object","description":"(patternProperties {\"^x-\":{}})"}`},
		"no enum":    {`{"enum":[null]}`, `{"description":"(enum [null])"}`},
		"const":      {`{"const":"a"}`, `{"enum":["a"]}`},
		"references": {`{"properties":{"a":{"$ref":"#/definitions/n"},"b":{"$ref":"#/definitions/n","description":"B"}},"definitions":{"n":{"minLength":2}}}`, `{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"description":"B","anyOf":[{"$ref":"#/$defs/n"}]}},"$defs":{"n":{"description":"(minLength 2)"}}}`},
		"lists":      {`{"anyOf":[{"minLength":1},true],"prefixItems":[{"const":1}],"oneOf":7}`, `{"anyOf":[{"description":"(minLength 1)"},{}],"prefixItems":[{"enum":[1]}]}`},
		"maps":       {`{"additionalProperties":{"multipleOf":2}}`, `{"additionalProperties":{"description":"(multipleOf 2)"}}`},
	} {
		assert.Equal(t, c.want, string(narrow([]byte(c.from))), name)
	}
	assert.Equal(t, `{"type":"object"}`, string(parameters([]byte(`{}`))))
	assert.Equal(t, `{"type":"object"}`, string(parameters([]byte(`true`))))
}

func FuzzSchema(f *testing.F) {
	for _, seed := range []string{
		`{}`, `true`, `{"properties":{"a":true}}`, `{"$ref":"#","anyOf":[]}`, `{"const":{"a":1}}`, `{"description":1,"minLength":1}`, `{"$defs":[],"$ref":{}}`,
		`{"enum":{},"const":1}`, `{"items":[{}],"pattern":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		got := narrow(raw)
		require.True(t, json.Valid(got), "%s", got)
		require.JSONEq(t, string(got), string(narrow(got)), "what is narrow stays as it is")
		require.True(t, json.Valid(parameters(raw)))
	})
}
