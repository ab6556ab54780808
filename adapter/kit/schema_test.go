package kit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/retake-go/retake/adapter/kit"
)

// One schema, in the words of each provider.
func TestASchemaInEveryDialect(t *testing.T) {
	const doc = `{"type":"object","properties":{"a":{"type":"string","description":"A.","minLength":2,"x-unit":"m"},"b":{"oneOf":[{"const":1},true]}},"additionalProperties":false}`
	for name, c := range map[string]struct {
		to   kit.Dialect
		want string
	}{
		"openai": {kit.OpenAI(), strings.Replace(doc, "true", `{"description":"Any value."}`, 1)},
		"strict": {kit.Strict(), ""},
		"gemini": {kit.Gemini(), `{"type":"object","properties":{"a":{"type":"string","description":"A. (minLength 2)"},"b":{"oneOf":[{"enum":[1]},{}]}},"additionalProperties":false}`},
		"tools":  {kit.OllamaTools(), `{"type":"object","properties":{"a":{"type":"string","description":"A.","minLength":2,"x-unit":"m"},"b":{"anyOf":[{"enum":[1]},{}]}},"additionalProperties":false}`},
		"own":    {kit.Dialect{kit.Others: kit.Keep, "properties": kit.Nest, "oneOf": kit.Say}, strings.Replace(doc, `"oneOf":[{"const":1},true]`, `"description":"(oneOf [{\"const\":1},true])"`, 1)},
	} {
		down := kit.Downgrade{To: c.to, Check: func(*kit.Member) kit.Treatment { return kit.Keep }}
		sent, ok := down.Schema(json.RawMessage(doc))
		assert.Equal(t, c.want != "", ok, name)
		if ok {
			assert.Equal(t, c.want, string(sent), name)
		}
	}
}

func TestEachSchemaIsConvertedOnce(t *testing.T) {
	doc := `{"properties":{"a":{"items":{}},"b":true},"anyOf":[{"not":{}},7],"$defs":{"c":{}},"items":[{"title":"old"}],"enum":[{"properties":{}}]}`
	nested := kit.OpenAI()
	nested[kit.NoObject] = kit.Open
	depth := 0
	mark := func(o kit.Object, convert func(kit.Object) kit.Object) kit.Object {
		at := depth
		depth++
		o = convert(o)
		depth--
		return append(o, kit.Field("depth", kit.List(append(kit.Items(o.Get("depth")), json.RawMessage{byte('0' + at)})...)))
	}
	all := kit.Downgrade{To: nested, Each: mark}
	sent, ok := all.Schema(json.RawMessage(doc))
	assert.True(t, ok)
	assert.JSONEq(t, `{"properties":{"a":{"items":{"depth":[2]},"depth":[1]},"b":{"depth":[1]}},"anyOf":[{"not":{"depth":[2]},"depth":[1]},{"depth":[1]}],
		"$defs":{"c":{"depth":[1]}},"prefixItems":[{"title":"old","depth":[1]}],"enum":[{"properties":{}}],"depth":[0]}`, string(sent))
	deep := strings.Repeat(`{"items":`, 200) + "{}" + strings.Repeat("}", 200)
	sent, _ = kit.Downgrade{To: nested, Each: mark}.Schema(json.RawMessage(deep))
	assert.Equal(t, 101, strings.Count(string(sent), "depth"), "what lies deeper is left as it is")
}

// Servers check a schema against Draft 2020-12, whatever its own is.
func TestOlderDraftsAreSaidInTheWordsOfTheCurrentOne(t *testing.T) {
	for from, want := range map[string]string{
		`{"items":[{"type":"string"},true],"additionalItems":false}`:                             `{"prefixItems":[{"type":"string"},{"description":"Any value."}],"items":{"description":"Any value."}}`,
		`{"items":[{"minimum":0,"exclusiveMinimum":true}]}`:                                      `{"prefixItems":[{"exclusiveMinimum":0}]}`,
		`{"minimum":0,"exclusiveMinimum":false,"maximum":9,"exclusiveMaximum":true,"title":"T"}`: `{"minimum":0,"title":"T","exclusiveMaximum":9}`,
		`{"exclusiveMinimum":true}`:                                                              `{}`,
		`{"items":{"type":"string"}}`:                                                            `{"items":{"type":"string"}}`,
		`{"minimum":1,"exclusiveMinimum":0.5}`:                                                   `{"minimum":1,"exclusiveMinimum":0.5}`,
		`{"unevaluatedProperties":false,"additionalProperties":true}`:                            `{"unevaluatedProperties":false,"additionalProperties":true}`,
	} {
		sent, ok := kit.Downgrade{To: kit.OpenAI()}.Schema(json.RawMessage(from))
		assert.True(t, ok)
		assert.Equal(t, want, string(sent), from)
	}
}

// One pattern that a server does not read has it refuse every request.
func TestPatternsThatSomeServerRefusesAreSaid(t *testing.T) {
	for pattern, isKept := range map[string]bool{
		"^[A-Z]{2}$": true, "^(a|b)+$": true, "^$": true,
		"[0-9]": false, "^R-": false, "x$": false, `^\d{5}$`: false, `^[\p{L}.]+$`: false, "^(?!a)b$": false, "^(?:a)$": false,
	} {
		doc := kit.Object{kit.TextField("pattern", pattern)}.JSON()
		want := doc
		if !isKept {
			want = kit.Object{kit.TextField("description", "(pattern "+string(kit.Quote(pattern))+")")}.JSON()
		}
		for name, to := range map[string]kit.Dialect{"OpenAI": kit.OpenAI(), "OllamaGrammar": kit.OllamaGrammar()} {
			sent, ok := kit.Downgrade{To: to}.Schema(doc)
			assert.True(t, ok)
			assert.Equal(t, string(want), string(sent), name)
		}
	}
}

// Every dialect says what becomes of every keyword, and asks only about keywords that it can be asked about.
func TestTheTableHasNoHoles(t *testing.T) {
	for name, dialect := range map[string]kit.Dialect{
		"OpenAI": kit.OpenAI(), "Strict": kit.Strict(), "StrictBounds": kit.StrictBounds(), "Anthropic": kit.Anthropic(),
		"Gemini": kit.Gemini(), "OllamaTools": kit.OllamaTools(), "OllamaGrammar": kit.OllamaGrammar(),
	} {
		for keyword, treatment := range dialect {
			assert.NotEmpty(t, treatment, "%s: %s", name, keyword)
		}
		assert.Equal(t, kit.Nest, dialect["properties"], name)
		assert.NotContains(t, []kit.Treatment{kit.Say, kit.Check}, dialect[kit.NoObject], name)
	}
}
