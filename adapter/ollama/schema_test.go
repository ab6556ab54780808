package ollama

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/adapter/kit"
)

func TestSchemasOfToolsAreSaidAsTheServerReadsThem(t *testing.T) {
	for name, c := range map[string]struct{ from, want string }{
		"empty":        {`{}`, `{"type":"object","properties":{}}`},
		"true":         {`true`, `{"type":"object","properties":{}}`},
		"order":        {`{"type":"object","properties":{"z":{"type":"string"},"a":{}}}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{}}}`},
		"booleans":     {`{"properties":{"a":true,"b":false},"type":"object"}`, `{"properties":{"a":{},"b":{}},"type":"object"}`},
		"one of":       {`{"properties":{"a":{"oneOf":[{"const":1},true]}},"type":"object"}`, `{"properties":{"a":{"anyOf":[{"enum":[1]},{}]}},"type":"object"}`},
		"both":         {`{"properties":{"a":{"const":1,"enum":[1,2]}},"type":"object"}`, `{"properties":{"a":{"enum":[1]}},"type":"object"}`},
		"reference":    {`{"properties":{"a":{"$ref":"#/$defs/n~1m","description":"D"}},"$defs":{"n/m":{"type":"string","description":"E"}}}`, `{"type":"object","properties":{"a":{"description":"D","type":"string"}}}`},
		"percent":      {`{"properties":{"a":{"$ref":"#/$defs/an%20inner%7E1one"}},"$defs":{"an inner/one":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"all percent":  {`{"properties":{"a":{"$ref":"#%2F%24defs%2Fan%20inner"}},"$defs":{"an inner":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"in a list":    {`{"properties":{"a":{"$ref":"#/$defs/n/anyOf/1"}},"$defs":{"n":{"anyOf":[true,{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"an anchor":    {`{"properties":{"a":{"$ref":"#n","description":"D"}},"$defs":{"n":{"$anchor":"n"}}}`, `{"type":"object","properties":{"a":{"description":"D ($ref \"#n\")"}}}`},
		"at the top":   {`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"a":{"items":true}}}}}`, `{"type":"object","properties":{"a":{"items":{}}}}`},
		"nowhere":      {`{"properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"other.json"}}}`, `{"type":"object","properties":{"a":{"description":"($ref \"#/$defs/n\")"},"b":{"description":"($ref \"other.json\")"}}}`},
		"back to self": {`{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}}}`, `{"type":"object","properties":{"a":{"properties":{"next":{"description":"($ref \"#/$defs/n\")"}}}}}`},
	} {
		assert.Equal(t, c.want, string(toolSchema([]byte(c.from))), name)
	}
}

func TestReferencesThatStandForAGreatManyAreBounded(t *testing.T) {
	var defs []string
	for n := range 40 {
		ref := `{"$ref":"#/$defs/n` + string(rune('A'+n+1)) + `"}`
		defs = append(defs, `"n`+string(rune('A'+n))+`":{"properties":{"a":`+ref+`,"b":`+ref+`}}`)
	}
	got := toolSchema([]byte(`{"properties":{"a":{"$ref":"#/$defs/nA"}},"$defs":{` + strings.Join(defs, ",") + `}}`))
	assert.True(t, json.Valid(got))
	assert.Less(t, len(got), 20_000)
}

func TestPatternsThatTheGrammarRefusesAreSaid(t *testing.T) {
	got := formatSchema([]byte(`{"properties":{"a":{"pattern":"^R-"},"b":{"pattern":"^R$"},"c":{"pattern":"^(?!R)(?:S|T)$"},"pattern":{"enum":["x",null,1.50]}},"anyOf":[{"pattern":"x"},true]}`))
	assert.Equal(t, `{"properties":{"a":{"description":"(pattern \"^R-\")"},"b":{"pattern":"^R$"},"c":{"description":"(pattern \"^(?!R)(?:S|T)$\")"},`+
		`"pattern":{"enum":["x",null,1.50]}},"anyOf":[{"description":"(pattern \"x\")"},{"description":"Any value."}]}`, string(got))
}

// The server's grammar reads {} as an object, items and not prefixItems where both stand, and no true and
// false.
func TestTheGrammarHasWordsForWhatMayBeAnything(t *testing.T) {
	for from, want := range map[string]string{
		`{"properties":{"a":{},"b":true}}`:                                        `{"properties":{"a":{"description":"Any value."},"b":{"description":"Any value."}}}`,
		`{"prefixItems":[{"type":"string"}],"items":false}`:                       `{"prefixItems":[{"type":"string"}],"items":{"description":"Any value."}}`,
		`{"items":[{"type":"string"}],"additionalItems":{"type":"boolean"}}`:      `{"prefixItems":[{"type":"string"}],"items":{"description":"Any value."}}`,
		`{"prefixItems":[{"type":"string"}],"minItems":1,"additionalItems":true}`: `{"prefixItems":[{"type":"string"}],"minItems":1,"additionalItems":{"description":"Any value."}}`,
		`{"type":"object","additionalProperties":false}`:                          `{"type":"object","additionalProperties":false}`,
	} {
		assert.Equal(t, want, string(formatSchema([]byte(from))), from)
	}
}

// serverTool is the part of a tool's schema that the server reads. It refuses anything else with status
// 400.
type serverTool struct {
	Type       string                    `json:"type"`
	Required   []string                  `json:"required"`
	Properties map[string]serverProperty `json:"properties"`
}

type serverProperty struct {
	AnyOf       []serverProperty          `json:"anyOf"`
	Type        any                       `json:"type"`
	Description string                    `json:"description"`
	Enum        []any                     `json:"enum"`
	Properties  map[string]serverProperty `json:"properties"`
	Required    []string                  `json:"required"`
}

func FuzzToolSchema(f *testing.F) {
	for _, seed := range []string{
		`{}`, `true`, `{"properties":{"a":true}}`, `{"$ref":"#"}`, `{"$ref":"#/properties/a","properties":{"a":{"$ref":"#/properties/a"}}}`,
		`{"properties":{"a":{"oneOf":[1,{"const":{}}]},"b":{"anyOf":{}}}}`, `{"type":["object","null"],"properties":[]}`, `{"properties":{"a":{"items":[{}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		got := toolSchema(raw)
		require.True(t, json.Valid(got), "%s", got)
		o, ok := kit.ReadObject(got)
		require.True(t, ok)
		require.NotNil(t, o.Get("properties"))
		require.True(t, json.Valid(formatSchema(raw)))
	})
}

func TestTheServerReadsTheSchemasOfTools(t *testing.T) {
	for _, raw := range []string{
		`{"type":"object","properties":{"a":true,"b":{"anyOf":[true,{"$ref":"#/$defs/c"}]},"d":{"properties":{"e":false}}},"required":["a"],"$defs":{"c":{"type":["string","null"]}}}`,
	} {
		var read serverTool
		require.NoError(t, json.Unmarshal(toolSchema([]byte(raw)), &read))
		assert.Len(t, read.Properties, 3)
		assert.Equal(t, []any{"string", "null"}, read.Properties["b"].AnyOf[1].Type)
	}
}
