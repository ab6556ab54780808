package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/schema"
)

type payer struct {
	Name string            `json:"name"`
	Card string            `json:"card" retake:"secret"`
	Keys map[string]string `json:"keys/all" retake:"secret"`
	Kin  []payer           `json:"kin"`
}

func TestSecrets(t *testing.T) {
	typed, err := schema.For[struct {
		Payer payer   `json:"payer"`
		Pins  [][]int `json:"pins" retake:"secret"`
		City  string  `json:"city" retake:"echo"`
	}]()
	require.NoError(t, err)
	assert.Equal(t, []string{"/payer/card", "/payer/keys~1all", "/payer/kin/*", "/pins"}, typed.Schema().Secrets(),
		"a type that holds itself is secret as a whole where it does")
}

func TestSecretsOfASchemaThatNamesItselfInManyWaysAreBounded(t *testing.T) {
	doc := `{"$defs":{"z":{"properties":{"pin":{"x-secret":true}}}`
	for n := range 40 {
		next := "z"
		if n < 39 {
			next = fmt.Sprint("d", n+1)
		}
		doc += fmt.Sprintf(`,"d%d":{"properties":{"a":{"$ref":"#/$defs/%s"},"b":{"$ref":"#/$defs/%s"}}}`, n, next, next)
	}
	s, err := schema.Compile([]byte(doc + `},"$ref":"#/$defs/d0"}`))
	require.NoError(t, err)
	assert.NotEmpty(t, s.Secrets(), "where there are too many places, those above them are secret")
}

func TestSecretsOfARawSchema(t *testing.T) {
	for name, tt := range map[string]struct {
		doc  string
		want []string
	}{
		"none":        {`{"type":"object"}`, nil},
		"whole":       {`{"type":"object","x-secret":true}`, []string{""}},
		"items":       {`{"properties":{"a":{"items":{"properties":{"b":{"x-secret":true}}}}}}`, []string{"/a/*/b"}},
		"alternative": {`{"anyOf":[{"properties":{"a":{"x-secret":true}}},{"properties":{"a":{}}}]}`, []string{"/a"}},
		"any_member":  {`{"additionalProperties":{"x-secret":true}}`, []string{"/*"}},
		"by_name":     {`{"$defs":{"s":{"x-secret":true}},"properties":{"a":{"$ref":"#/$defs/s"}}}`, []string{"/a"}},
		"by_anchor":   {`{"$defs":{"s":{"$anchor":"pin","x-secret":true}},"properties":{"a":{"$ref":"#pin"}}}`, []string{"/a"}},
		"by_id":       {`{"$id":"https://a.test/b","$defs":{"s":{"$id":"pin","x-secret":true}},"properties":{"a":{"$ref":"pin"}}}`, []string{"/a"}},
		"in_a_list":   {`{"properties":{"a":{"$ref":"#/allOf/0"}},"allOf":[{"x-secret":true}]}`, []string{"", "/a"}},
		"escaped":     {`{"$defs":{"A<B>":{"x-secret":true}},"properties":{"a":{"$ref":"#/$defs/A%3CB%3E"}}}`, []string{"/a"}},
		"at_run_time": {`{"$defs":{"s":{"$dynamicAnchor":"pin","x-secret":true}},"properties":{"a":{"$dynamicRef":"#pin"}}}`, []string{"/a"}},
		"by_the_way_to_it": {`{"$id":"https://e.x/ext","$dynamicAnchor":"n","$ref":"tree","properties":{"pin":{"x-secret":true}},
			"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"n","properties":{"kids":{"items":{"$dynamicRef":"#n"}}}}}}`, []string{"/kids/*", "/pin"}},
		"beside_another": {`{"properties":{"p":{"$ref":"#/$defs/x","$dynamicRef":"#y"}},"$defs":{"x":{},"y":{"$dynamicAnchor":"y","x-secret":true}}}`, []string{"/p"}},
		"dependent":      {`{"dependentSchemas":{"b":{"properties":{"a":{"x-secret":true}}}}}`, []string{"/a"}},
		"itself":         {`{"properties":{"next":{"$ref":"#"},"pin":{"x-secret":true}}}`, []string{"/next/next", "/next/pin", "/pin"}},
		"not_secret":     {`{"properties":{"x-secret":{"const":true}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.doc))
			require.NoError(t, err)
			assert.Equal(t, tt.want, s.Secrets())
		})
	}
}
