package schema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/internal/race"
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

// Secrets are searched in time and memory in proportion to the schema, however its parts refer to each other.
func TestSecretsAreFoundWithLittleWork(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	for name, doc := range map[string]string{
		"none in many references": `{"properties":{` + of(2_000, `"p%":{"$ref":"#"}`) + `}}`,
		"one in many references":  `{"properties":{"pin":{"x-secret":true},` + of(2_000, `"p%":{"$ref":"#"}`) + `}}`,
		"below a long name": `{"$defs":{"a":{"properties":{` + of(2_000, `"p%":{"x-secret":true}`) + `}}},"properties":{"` +
			strings.Repeat("n", 100_000) + `":{"$ref":"#/$defs/a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(doc))
			require.NoError(t, err)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			found := s.Secrets()
			runtime.ReadMemStats(&after)
			assert.Equal(t, strings.Contains(doc, "secret"), len(found) > 0)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10<<20))
		})
	}
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
		"each_other": {`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/b"}}},
			"b":{"properties":{"a":{"$ref":"#/$defs/a"},"pin":{"x-secret":true}}}}}`, []string{"/b/a", "/b/pin"}},
		"three_in_a_ring": {`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/b"},"pin":{"x-secret":true}}},
			"b":{"properties":{"c":{"$ref":"#/$defs/c"}}},
			"c":{"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/$defs/b"}}}}}`, []string{"/b/c/a", "/b/c/b", "/pin"}},
		"not_secret": {`{"properties":{"x-secret":{"const":true}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := schema.Compile([]byte(tt.doc))
			require.NoError(t, err)
			assert.Equal(t, tt.want, s.Secrets())
		})
	}
}
