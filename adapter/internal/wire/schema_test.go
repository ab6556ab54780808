package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/internal/wire"
)

// One schema, in the words of each provider.
func TestASchemaInEveryDialect(t *testing.T) {
	const doc = `{"type":"object","properties":{"a":{"type":"string","description":"A.","minLength":2,"x-unit":"m"},"b":{"oneOf":[{"const":1},true]}},"additionalProperties":false}`
	for name, c := range map[string]struct {
		to   wire.Dialect
		want string
	}{
		"openai": {wire.OpenAI(), doc},
		"strict": {wire.Strict(), ""},
		"gemini": {wire.Gemini(), `{"type":"object","properties":{"a":{"type":"string","description":"A. (minLength 2)"},"b":{"oneOf":[{"enum":[1]},{}]}},"additionalProperties":false}`},
		"tools":  {wire.OllamaTools(), `{"type":"object","properties":{"a":{"type":"string","description":"A.","minLength":2,"x-unit":"m"},"b":{"anyOf":[{"enum":[1]},{}]}},"additionalProperties":false}`},
		"own":    {wire.Dialect{wire.Others: wire.Keep, "properties": wire.Nest, "oneOf": wire.Say}, strings.Replace(doc, `"oneOf":[{"const":1},true]`, `"description":"(oneOf [{\"const\":1},true])"`, 1)},
	} {
		down := wire.Downgrade{To: c.to, Check: func(*wire.Member) wire.Treatment { return wire.Keep }}
		sent, ok := down.Schema(json.RawMessage(doc))
		assert.Equal(t, c.want != "", ok, name)
		if ok {
			assert.Equal(t, c.want, string(sent), name)
		}
	}
}

func TestEachSchemaIsConvertedOnce(t *testing.T) {
	doc := `{"properties":{"a":{"items":{}},"b":true},"anyOf":[{"not":{}},7],"$defs":{"c":{}},"items":[{"title":"old"}],"enum":[{"properties":{}}]}`
	depth := 0
	mark := func(o wire.Object, convert func(wire.Object) wire.Object) wire.Object {
		at := depth
		depth++
		o = convert(o)
		depth--
		return append(o, wire.Field("depth", wire.List(append(wire.Items(o.Get("depth")), json.RawMessage{byte('0' + at)})...)))
	}
	all := wire.Downgrade{To: wire.OpenAI(), Each: mark}
	sent, ok := all.Schema(json.RawMessage(doc))
	assert.True(t, ok)
	assert.JSONEq(t, `{"properties":{"a":{"items":{"depth":[2]},"depth":[1]},"b":true},"anyOf":[{"not":{"depth":[2]},"depth":[1]},7],
		"$defs":{"c":{"depth":[1]}},"items":[{"title":"old","depth":[1]}],"enum":[{"properties":{}}],"depth":[0]}`, string(sent))
	deep := strings.Repeat(`{"items":`, 200) + "{}" + strings.Repeat("}", 200)
	sent, _ = wire.Downgrade{To: wire.OpenAI(), Each: mark}.Schema(json.RawMessage(deep))
	assert.Equal(t, 101, strings.Count(string(sent), "depth"), "what lies deeper is left as it is")
}

// Every dialect says what becomes of every keyword, and asks only about keywords that it can be asked about.
func TestTheTableHasNoHoles(t *testing.T) {
	for name, dialect := range map[string]wire.Dialect{
		"OpenAI": wire.OpenAI(), "Strict": wire.Strict(), "StrictBounds": wire.StrictBounds(), "Anthropic": wire.Anthropic(),
		"Gemini": wire.Gemini(), "OllamaTools": wire.OllamaTools(), "OllamaGrammar": wire.OllamaGrammar(),
	} {
		for keyword, treatment := range dialect {
			assert.NotEmpty(t, treatment, "%s: %s", name, keyword)
		}
		assert.Equal(t, wire.Nest, dialect["properties"], name)
		assert.NotContains(t, []wire.Treatment{wire.Say, wire.Check}, dialect[wire.NoObject], name)
	}
}
