package schema_test

import (
	"testing"

	"github.com/retake-go/retake/schema"
)

// FuzzProgram holds what the fast path says of any document under any schema to what the library says: the same verdict
// wherever it gives one, the same issues.
func FuzzProgram(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"minimum":0.1},"b":{"items":{"$ref":"#"}}}}`, `{"a":0.1,"b":[{"a":1}]}`},
		{`{"anyOf":[{"type":"object","required":["x"]},{"type":"null"}]}`, `{"y":[]}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","definitions":{"a":{"enum":["a",1,null]}}}`, `1.0`},
		{`{"propertyNames":{"pattern":"^[a-z]+$"},"minProperties":1,"additionalProperties":{"type":"integer"}}`, `{"a":1e2,"B":2}`},
		{`{"properties":{"a":{"x-echo":true,"items":{"type":"integer"}}},"required":["b"],"propertyNames":{"maxLength":1}}`, `{"a":["é",{}],"cc":1}`},
		{`{"uniqueItems":true,"items":{"maxLength":2}}`, `["a","\u0061","😀"]`},
		{`{"if":{"type":"array"},"then":{"maxItems":1},"else":{"not":{"const":true}}}`, "[1,\t-0]"},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`},
		{`{"items":{"multipleOf":0.1,"minimum":-1e3}}`, `[0.3,1e-1,-0,12345678901234567890.1,0.35,-2.05]`},
		{`{"items":{"multipleOf":3},"maxItems":9}`, `[9,-3,0,-0.0,4,3e2,999999999999999999999]`},
		{`{"oneOf":[{"exclusiveMaximum":9007199254740993},{"type":"integer"}]}`, `9007199254740992.5`},
		{`{"prefixItems":[{"type":"string"},{"required":["a"]}],"items":false,"contains":{"const":1},"minContains":2,"maxContains":3}`, `["a",{},1,1.0]`},
		{`{"contains":{"items":{"$ref":"#"}},"anyOf":[{"maxItems":2},{"prefixItems":[false]}]}`, `[[[]],[1],{},[[[[]]]]]`},
		{`{"patternProperties":{"^a":{"type":"integer"},"b$":{"minLength":2}},"additionalProperties":false}`, `{"a":1,"\u0061c":"x","cb":"","d":1,"ab":1}`},
		{`{"dependentRequired":{"a":["b","c"],"c":["a"]},"required":["d"],"patternProperties":{"c":{"type":"null"}}}`, `{"a":1,"c":2}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{"minimum":2}],"additionalItems":false}`, `["a",1,{}]`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":[true],"additionalItems":{"items":[{}]},"unevaluatedItems":false}`, `[1,[2,3]]`},
		{`{"allOf":[{"properties":{"a":{"type":"integer"}}},{"patternProperties":{"^b":true}}],"unevaluatedProperties":false}`, `{"a":1,"bc":2,"d":3}`},
		{`{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":{}}}],"unevaluatedProperties":{"type":"null"}}`, `{"a":1,"b":2,"c":null}`},
		{`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{}}},"else":{"properties":{"b":{}}},"unevaluatedProperties":false}`, `{"k":1,"a":1,"b":2}`},
		{`{"oneOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[{},{}]}],"contains":{"const":3},"unevaluatedItems":false}`, `[2,3,3,4]`},
		{`{"dependentSchemas":{"a":{"required":["b"],"properties":{"b":{}}}},"unevaluatedProperties":false,"properties":{"a":{}}}`, `{"a":1,"c":1}`},
		{`{"dependencies":{"a":["b"],"c":{"minProperties":3}},"properties":{"ab":{"type":"string"}},"patternProperties":{"^a":{"minLength":2}}}`, `{"a":1,"c":1,"ab":"x"}`},
		{`{"const":"a","enum":["a","b"],"$defs":{"x":{"enum":[0.5,9223372036854775808]}}}`, `"b"`},
		{`{"items":{"enum":[0.5,9223372036854775808,1]}}`, `[5e-1,9223372036854775808.0,1.0,2.5,1]`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","contains":{"type":"string"},"items":{"maxLength":1}}`, `["ab",1]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		if len(text)+len(doc) > 2000 {
			return
		}
		s, err := schema.Compile(text)
		if err != nil {
			return
		}
		sameVerdict(t, s, doc)
	})
}

// mixed has every kind of field that programs put values into.
type mixed struct {
	base
	Text   string             `json:"text,omitempty" validate:"omitempty,email"`
	Word   named              `json:"word" validate:"alpha|numeric"`
	Small  uint8              `json:"small" validate:"lt=200"`
	Long   int64              `json:"long"`
	Real   float64            `json:"real" validate:"omitempty,gt=0.1"`
	Short  float32            `json:"short"`
	Flag   *bool              `json:"flag"`
	Deep   **int              `json:"deep"`
	List   [][]string         `json:"list" validate:"dive,max=2,dive,min=1"`
	Set    []string           `json:"set" validate:"unique"`
	Texts  map[string]string  `json:"texts" validate:"dive,keys,lowercase,endkeys,required"`
	Reals  map[named]*float64 `json:"reals"`
	Any    any                `json:"any"`
	Bytes  []byte             `json:"bytes"`
	Pair   [2]int             `json:"pair"`
	Self   *mixed             `json:"self"`
	Kids   []mixed            `json:"kids" validate:"max=2,dive"`
	Named  map[string]inner   `json:"named" validate:"dive" retake:"echo"`
	Before int                `json:"before" validate:"ltefield=Long"`
}

var mixedTypes = []bridged{
	bridgedOf[mixed]("mixed", ""), bridgedOf[order]("order", ""), bridgedOf[*treeish]("pointer", ""),
	bridgedOf[[]inner]("list", ""), bridgedOf[map[string]*inner]("map", ""), bridgedOf[withIssues]("issues", ""),
}

// FuzzDecode holds the fast path of Go types to the decoder, the validator and the library: the same value, the same issues.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(1), orderDocument(f))
	for _, seed := range []string{
		`{"id":"a","text":"a@b.co","word":"ab","small":3,"long":-7,"real":0.5,"short":0.1,"flag":null,"deep":1,"list":[["a"],[]],"set":["a","b"],
			"texts":{"a":"b","\u00e9":"\n"},"reals":{"x":1.5,"y":null},"any":[{"a":1}],"bytes":"YQ==","pair":[1,2]}`,
		`{"id":"a","word":"1","self":{"id":"b","word":"x","kids":[{"id":"c","word":"x"}]},"named":{"n":{"name":"x"}},"before":1,"long":2.0}`,
		`{"id":"a","word":"-","before":3,"small":200,"real":0.1,"set":["a","a"],"texts":{"A":""}}`,
	} {
		f.Add(uint8(0), []byte(seed))
	}
	f.Add(uint8(2), []byte(`{"value":1,"kids":[{"value":1}],"left":null}`))
	f.Add(uint8(3), []byte(`[{"name":"a"},{"name":""}]`))
	f.Add(uint8(4), []byte(`{"a":{"name":"b"},"c":null,"a":null}`))
	f.Add(uint8(5), []byte(`{"from":3,"to":2}`))
	f.Fuzz(func(t *testing.T, kind uint8, doc []byte) {
		if len(doc) > 4000 {
			return
		}
		b := mixedTypes[int(kind)%len(mixedTypes)]
		sameAsSlowly(t, b, doc)
		sameVerdict(t, b.checked, doc)
	})
}
