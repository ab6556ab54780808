package schema_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// Hostile schemas and documents: our verdict is that of the library, and the work stays in proportion to the
// document.
func TestHardSchemasAndDocuments(t *testing.T) {
	refused := `{"b":[` + strings.Repeat(`"x",`, 200) + `1]}`
	for range 60 {
		refused = `{"a":` + refused + `,"c":1}`
	}
	chain := strings.Repeat(`{"a":1,"next":`, 40) + `{"b":2}` + strings.Repeat("}", 40)
	lists := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	ways := `{"$ref":"#/$defs/e","$defs":{"e":{"oneOf":[{"required":["a"],"patternProperties":{"^next$":{"$ref":"#/$defs/e"}}},
		{"required":["b"],"properties":{"next":{"$ref":"#/$defs/e"}}},
		{"items":{"$ref":"#/$defs/e"},"contains":{"$ref":"#/$defs/e"},"type":"array","not":{"const":[7]}}]}}}`
	null := `{"$ref":"#/$defs/a","$defs":{
		"a":{"anyOf":[{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"c":{"$ref":"#/$defs/b"}}},{"type":"null"}]},
		"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`
	places := `{"$defs":{"n":{"type":"integer","minimum":1}},"properties":{"a":{"required":["b"],"properties":{"b":{"$ref":"#/$defs/n"},"c":{"$ref":"#/$defs/n"}}},
		"a/b":{"$ref":"#/$defs/n"},"a~1b":{"$ref":"#/$defs/n"},"":{"$ref":"#/$defs/n"},"list":{"items":{"$ref":"#/$defs/n"}}},"additionalProperties":false}`
	branches := make([]string, 200)
	for n := range branches {
		branches[n] = fmt.Sprintf(`{"required":["m%d"],"properties":{"m%d":{"type":"integer"}}}`, n, n)
	}
	left := `{"type":"integer"}`
	for range 40 {
		left = `{"allOf":[{"properties":{"a":` + left + `}}],"unevaluatedProperties":false}`
	}
	for name, c := range map[string]struct {
		schema string
		docs   []string
	}{
		"refused at every depth":            {`{"type":"object","maxProperties":1,"properties":{"a":{"$ref":"#"},"b":{"items":{"type":"integer"}}}}`, []string{refused}},
		"alternatives of many ways":         {ways, []string{chain, lists, `[[[7]]]`}},
		"references through null":           {null, []string{`null`, `{"v":1,"c":{"v":2,"c":null}}`, `{"v":1,"c":{"v":"x"}}`, `{"v":1,"c":{"c":null}}`, `{"v":1,"c":[]}`}},
		"nothing or null":                   {`{"anyOf":[false,{"type":"null"}]}`, []string{`null`, `1`, `[]`}},
		"one schema at many places":         {places, []string{`{"a":{"b":"x"}}`, `{"a/b":0,"x":1}`, `{"a":{"c":"x"}}`, `{"a~1b":"x"}`, `{"":"x"}`, `{"list":["x",0,"y"]}`, `"x"`}},
		"a name as long as a document":      {`{"additionalProperties":false}`, []string{`{"` + strings.Repeat("n", 1<<16) + `":"x"}`, `{"short":1}`}},
		"two hundred alternatives":          {`{"oneOf":[` + strings.Join(branches, ",") + `]}`, []string{`{"m7":1}`, `{"m7":"x"}`, `{}`, `{"m7":1,"m8":1}`}},
		"what is left, within what is left": {left, []string{strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat("}", 40), strings.Repeat(`{"a":`, 39) + `{"b":1}` + strings.Repeat("}", 39)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			for _, doc := range c.docs {
				sameVerdict(t, []byte(c.schema), []byte(doc))
				assert.Less(t, schema.WorkOf(s, []byte(doc)), 40_000)
			}
		})
	}
}

// Many goroutines may use one schema.
func TestManyAtOnceAreToldTheSame(t *testing.T) {
	typed, err := schema.ForAnew[order]()
	require.NoError(t, err)
	other, err := schema.ForAnew[order]()
	require.NoError(t, err)
	doc := []byte(`{"kind":"ordre","priority":"high","unknown":[1.0],"items":[{"sku":7},{"sku":8,"quantity":-1}]}`)
	want := other.Schema().Check(doc)
	require.NotEmpty(t, want)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				assert.Equal(t, want, typed.Schema().Check(doc))
			}
		})
	}
	all.Wait()
}

// Strings of a large document are copies, and those of a small one share its memory. Both are equal.
func TestStringsOfLargeDocuments(t *testing.T) {
	typed, err := schema.For[map[string]map[string]string]()
	require.NoError(t, err)
	var members []string
	for n := range 300 {
		members = append(members, fmt.Sprintf(`"key %d":{"a\n":"b","c":"value %d"}`, n, n))
	}
	value, issues := typed.Decode([]byte("{" + strings.Join(members, ",") + "}"))
	require.Empty(t, issues)
	require.Len(t, value, 300)
	require.Equal(t, map[string]string{"a\n": "b", "c": "value 7"}, value["key 7"])
}

// A document may be nested deeper than canonical JSON.
func TestDocumentsThatAreVeryDeep(t *testing.T) {
	deep := schema.Limits{MaxBytes: 1 << 20, MaxDepth: 1000, MaxValues: 100_000}
	typed, err := schema.For[struct {
		Left any `json:"left"`
	}]()
	require.NoError(t, err)
	s, err := typed.Schema().WithLimits(deep)
	require.NoError(t, err)
	at := func(depth int) []fault.Issue {
		return s.Check([]byte(strings.Repeat(`{"left":`, depth) + "null" + strings.Repeat("}", depth)))
	}
	assert.Empty(t, at(600))
	assert.Equal(t, fault.RuleDepth, at(1001)[0].Rule)
}
