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

// of repeats a form with numbers.
func of(n int, form string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(form, "%", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

// A schema that would take long to compile is refused before it is compiled, with a count and the bound.
func TestASchemaIsCompiledWithinBounds(t *testing.T) {
	for name, c := range map[string]struct{ schema, says string }{
		"properties":          {`{"properties":{` + of(100_000, `"p%":{}`) + `}}`, "schema: counts as 100001 subschemas, at most 10000 are compiled"},
		"booleans":            {`{"prefixItems":[` + of(20_000, `true`) + `]}`, "counts as 20001 subschemas"},
		"ids":                 {`{"$defs":{` + of(6_000, `"p%":{"$id":"p%"}`) + `}}`, "counts as 12001 subschemas"},
		"references":          {`{"$defs":{` + of(200, `"p%":{"$ref":"#/x/p%"}`) + `},"x":{` + of(200, `"p%":{}`) + `}}`, "counts as 20403 subschemas, at most 10000 are compiled: a reference to a place that is no subschema counts as 100, so put what it leads to under $defs"},
		"long names":          {`{"properties":{"` + strings.Repeat("n", 20_000) + `":{"properties":{` + of(1000, `"p%":{}`) + `}}}}`, "the JSON Pointers of its subschemas have 20047902 bytes, at most 1000000 are compiled: use shorter names or less nesting"},
		"a long pattern":      {`{"pattern":"` + strings.Repeat("a", 960<<10) + `"}`, "its patterns have 983040 bytes, at most 65536 are compiled"},
		"many patterns":       {`{"patternProperties":{` + of(100, `"`+strings.Repeat("a", 1000)+`%":{}`) + `}}`, "its patterns have 100190 bytes"},
		"repeated patterns":   {`{"pattern":"` + strings.Repeat("(a{100}){9}", 300) + `"}`, "steps, at most 262144 are compiled: repeat less"},
		"classes in a class":  {`{"pattern":"[` + strings.Repeat(`\\PL`, 10_000) + `]"}`, "steps, at most 262144 are compiled"},
		"folded ranges":       {`{"pattern":"(?i)[` + strings.Repeat(`B-\\x{1e942}`, 40) + `]"}`, "steps, at most 262144 are compiled"},
		"classes of patterns": {`{"pattern":"` + strings.Repeat(`\\pL`, 1000) + `"}`, "steps, at most 262144 are compiled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Compile([]byte(c.schema))
			require.ErrorContains(t, err, c.says)
			assert.Equal(t, name == "references", strings.Contains(err.Error(), "$defs"), "%s", err)
		})
	}
}

// Within the bounds a schema is compiled, and takes memory in proportion to the number of its subschemas.
func TestCompilingTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates for itself")
	}
	for name, doc := range map[string]string{
		"properties":          `{"properties":{` + of(4_000, `"p%":{"type":"string"}`) + `}}`,
		"references":          `{"$defs":{` + of(2_000, `"p%":{"$ref":"#/$defs/p0"}`) + `}}`,
		"definitions":         `{"definitions":{` + of(2_000, `"p%":{"$ref":"#/definitions/p0"}`) + `}}`,
		"anchors":             `{"$defs":{` + of(2_000, `"p%":{"$dynamicAnchor":"p%","$dynamicRef":"#p%"}`) + `}}`,
		"elsewhere":           `{"$defs":{` + of(40, `"p%":{"$ref":"#/x/p%"}`) + `},"x":{` + of(1_000, `"p%":{}`) + `}}`,
		"unions of one tag":   `{"$defs":{"a":{"properties":{` + of(500, `"p%":{"const":"x"}`) + `}},"b":{"$ref":"#/$defs/a"},` + of(1_000, `"p%":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}`) + `}}`,
		"an ordinary pattern": `{"pattern":"^[\\p{L}\\p{N}]{1,200}$"}`,
		"a long enum":         `{"enum":[` + of(20_000, `"v%"`) + `]}`,
		"many constants":      `{"anyOf":[` + of(9_000, `{"const":"v%"}`) + `]}`,
		"deep":                strings.Repeat(`{"items":`, 250) + `{}` + strings.Repeat("}", 250),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := schema.Compile([]byte(doc))
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
		})
	}
}

// BenchmarkCompileAtTheBounds compiles schemas at the default bounds.
func BenchmarkCompileAtTheBounds(b *testing.B) {
	for name, doc := range map[string]string{
		"properties": `{"properties":{` + of(9_998, `"p%":{"type":"string"}`) + `}}`,
		"ids":        `{"$defs":{` + of(4_998, `"p%":{"$id":"p%"}`) + `}}`,
		"pattern":    `{"pattern":"` + strings.Repeat("a", 64<<10) + `"}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := schema.Compile([]byte(doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
