package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/internal/canon"
	"github.com/retake-go/retake/schema"
)

// sameAsSlowly holds the fast path of a type to its slow one: the same value, the same issues, and no verdict that the
// slow path takes back. It returns what the schema alone finds, and what is found in all.
func sameAsSlowly(t require.TestingT, b bridged, doc []byte) (bySchema, all []fault.Issue) {
	value, issues := b.quickly(doc)
	want, wanted := b.slowly(doc)
	require.Equal(t, wanted, issues, "%s: issues\n%s", b.name, doc)
	require.Equal(t, want, value, "%s: value\n%s", b.name, doc)
	require.Equal(t, wanted, b.checked.Check(doc), "%s: Check\n%s", b.name, doc)
	sameWhenRead(t, b, doc, wanted)
	return schema.CheckBySchema(b.checked, doc), issues
}

// sameWhenRead holds what is read of a text to what its canonical form decodes into.
func sameWhenRead(t require.TestingT, b bridged, doc []byte, wanted []fault.Issue) {
	value, form, issues := b.read(string(doc))
	canonical, err := canon.JSON(doc)
	require.Equal(t, canonical, form, "%s: form\n%s", b.name, doc)
	require.Equal(t, wanted, issues, "%s: issues when read\n%s", b.name, doc)
	if err == nil && len(issues) == 0 {
		want, _ := b.slowly(canonical)
		require.Equal(t, want, value, "%s: value when read\n%s", b.name, doc)
	}
}

// sameVerdict holds the program of a schema to the library.
func sameVerdict(t require.TestingT, s *schema.Schema, doc []byte) []fault.Issue {
	want := schema.CheckSlowly(s, doc)
	if len(want) == 1 && want[0].Expected == schema.TooManyWays || len(want) == 1000 {
		return want // nobody has asked the library, or it has found more than is told
	}
	told := schema.Told(s, doc)
	if told != "unsure" {
		require.Equal(t, len(want) == 0, told == "good", "the program says %s, the library %v\n%s\n%s", told, want, s.JSON(), doc)
	}
	require.Equal(t, want, schema.CheckBySchema(s, doc), "%s\n%s", s.JSON(), doc)
	require.Equal(t, want, schema.CheckBySchema(s, doc), "once more, by what was kept: %s\n%s", s.JSON(), doc)
	form, issues := s.Read(string(doc))
	canonical, _ := canon.JSON(doc)
	require.Equal(t, s.Check(doc), issues, "read: %s\n%s", s.JSON(), doc)
	require.Equal(t, canonical, form, "form: %s\n%s", s.JSON(), doc)
	return want
}

func TestProgramsKnowTheTypes(t *testing.T) {
	for name, known := range map[string]func() bool{
		"strings": bound[stringsType], "patterns": bound[patternsType], "formats": bound[formatsType], "numbers": bound[numbersType],
		"lists": bound[listsType], "foreign": bound[foreignType], "order": bound[order], "signup": bound[signup],
		"any": bound[map[string]any], "maps": bound[map[string]map[string]float64], "recursive": bound[treeish], "pointer": bound[*order], "list": bound[[]order], "map": bound[map[string]order],
	} {
		assert.True(t, known(), name)
	}
}

func bound[T any]() bool {
	typed, err := schema.For[T]()
	return err == nil && schema.HasBound(typed) && schema.HasProgram(typed.Schema())
}

// What the fast path cannot be sure of it leaves to the slow one; of these it must be sure, or it is not worth having.
func TestProgramsAreSure(t *testing.T) {
	typed, err := schema.For[order]()
	require.NoError(t, err)
	doc := string(orderDocument(t))
	assert.Equal(t, "good", schema.Told(typed.Schema(), []byte(doc)))
	for from, to := range map[string]string{
		`"order",`: `"ordre",`, `"priority":3`: `"priority":"high"`, `11000`: `1100`, `"count":2`: `"count":0`, `239.4`: `-1`,
		`"kind":"order",`: ``, `"id"`: `"ID"`, `jo.doe@example.com`: `jo.doe`, `"source":"chat"`: `"source":""`, `A1B2`: `A-1`,
	} {
		broken := []byte(strings.Replace(doc, from, to, 1))
		assert.Equal(t, "bad", schema.Told(typed.Schema(), broken), to)
		assert.True(t, schema.Explained(typed.Schema(), broken), to)
	}
}

func TestProgramsAndTheLibraryAgree(t *testing.T) {
	sure, unknown := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		draft := rapid.SampledFrom(drafts).Draw(t, "draft")
		root := drawSchema(t, draft, 3)
		root["$defs"] = map[string]any{"x": drawSchema(t, draft, 2)}
		root["$schema"] = draft
		text, err := json.Marshal(root)
		require.NoError(t, err)
		s, err := schema.Compile(text)
		if err != nil {
			return // a loop of references, say
		}
		if !schema.HasProgram(s) {
			unknown++
		}
		for range 5 {
			doc := []byte(drawDocument(t, 3))
			if schema.Told(s, doc) != "unsure" {
				sure++
			}
			sameVerdict(t, s, doc)
		}
	})
	t.Logf("sure of %d documents; %d schemas without a program", sure, unknown)
}

// What is refused at every depth is not read again at every depth.
func TestRefusedAtEveryDepth(t *testing.T) {
	s := compile(t, `{"type":"object","maxProperties":1,"properties":{"a":{"$ref":"#"},"b":{"items":{"type":"integer"}}}}`)
	doc := `{"b":[` + strings.Repeat(`"x",`, 200) + `1]}`
	for range 60 {
		doc = `{"a":` + doc + `,"c":1}`
	}
	assert.True(t, schema.Explained(s, []byte(doc)))
	sameVerdict(t, s, []byte(doc))
	shallow := []byte(`{"a":{"a":{"b":["x"]},"c":1}}`)
	assert.True(t, schema.Explained(s, shallow))
	sameVerdict(t, s, shallow)
}

// References may lead round through members and null.
func TestReferencesThroughNull(t *testing.T) {
	s := compile(t, `{"$ref":"#/$defs/a","$defs":{
		"a":{"anyOf":[{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"c":{"$ref":"#/$defs/b"}}},{"type":"null"}]},
		"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`)
	require.True(t, schema.HasProgram(s))
	for doc, told := range map[string]string{
		`null`: "good", `{"v":1,"c":{"v":2,"c":null}}`: "good", `{"v":1,"c":{"v":"x"}}`: "bad", `{"v":1,"c":{"c":null}}`: "bad", `{"v":1,"c":[]}`: "bad",
	} {
		assert.Equal(t, told, schema.Told(s, []byte(doc)), doc)
		sameVerdict(t, s, []byte(doc))
	}
	loop := compile(t, `{"anyOf":[{"$ref":"#"},{"type":"null"}]}`)
	assert.False(t, schema.HasProgram(loop))
	sameVerdict(t, loop, []byte(`1`))
}

func TestNothingOrNull(t *testing.T) {
	s := compile(t, `{"anyOf":[false,{"type":"null"}]}`)
	for doc, told := range map[string]string{`null`: "good", `1`: "bad", `[]`: "bad"} {
		assert.Equal(t, told, schema.Told(s, []byte(doc)), doc)
		sameVerdict(t, s, []byte(doc))
	}
}

// Strings of a large document do not keep all of it alive; either way they say the same.
func TestLargeDocuments(t *testing.T) {
	typed, err := schema.For[map[string]map[string]string]()
	require.NoError(t, err)
	var members []string
	for n := range 300 {
		members = append(members, fmt.Sprintf(`"key %d":{"a\n":"b","c":"value %d"}`, n, n))
	}
	doc := []byte("{" + strings.Join(members, ",") + "}")
	value, issues := typed.Decode(doc)
	require.Empty(t, issues)
	slowly, _ := schema.DecodeSlowly(typed, doc)
	require.Equal(t, slowly, value)
	require.Equal(t, "b", value["key 7"]["a\n"])
}

// Where references lead round in many ways, whether a place is safe to echo is asked so often and no more.
func TestEchoAmidLoops(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"$ref":"#/$defs/y"},"b":{"x-echo":true,"type":"integer"}},
		"$defs":{"y":{"anyOf":[{"$ref":"#/$defs/y"},{"$ref":"#/$defs/y"},{"type":"integer"}]}}}`)
	assert.NotEmpty(t, s.Check([]byte(`{"a":"x"}`)))
	assert.Equal(t, []string{`b: expected integer, got "x" [type schema]`}, lines(s.Check([]byte(`{"b":"x"}`))))
}

// References by anchors and by ids lead to what is marked, and to nothing else that is.
func TestEchoByReferences(t *testing.T) {
	s := compile(t, `{"$id":"https://a.test/root","properties":{"a":{"$ref":"#here"},"b":{"$ref":"part"},"c":{"$ref":"#there"}},
		"$defs":{"x":{"$anchor":"here","type":"integer","x-echo":true},"y":{"$id":"part","type":"integer","x-echo":true},"z":{"$anchor":"there","type":"integer"}}}`)
	assert.Equal(t, []string{`a: expected integer, got "x" [type schema]`, `b: expected integer, got "y" [type schema]`,
		"c: expected integer, got string [type schema]"}, lines(s.Check([]byte(`{"a":"x","b":"y","c":"z"}`))))
}

// What the library says is kept with the nodes of a schema, which many may use at once.
func TestManyAtOnceAreToldTheSame(t *testing.T) {
	typed, err := schema.ForAnew[order]()
	require.NoError(t, err)
	doc := []byte(`{"kind":"ordre","priority":"high","unknown":[1.0],"items":[{"sku":7},{"sku":8,"quantity":-1}]}`)
	_, want := schema.DecodeSlowly(typed, doc)
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

// rawed keeps a member as it is written.
type rawed struct {
	Name string          `json:"name"`
	Raw  json.RawMessage `json:"raw"`
}

func TestReadGivesTheValueOfTheCanonicalForm(t *testing.T) {
	typed, err := schema.For[rawed]()
	require.NoError(t, err)
	var v rawed
	form, issues := typed.Read(`{"raw": {"b" :1, "a":"\u0061"}, "name":"x"}`, &v)
	require.Empty(t, issues)
	assert.Equal(t, `{"name":"x","raw":{"a":"a","b":1}}`, string(form))
	assert.Equal(t, rawed{Name: "x", Raw: json.RawMessage(`{"a":"a","b":1}`)}, v)
}

func TestReadTellsWhatIsWrongWithTheText(t *testing.T) {
	typed, err := schema.For[order]()
	require.NoError(t, err)
	small, err := typed.WithLimits(schema.Limits{MaxBytes: 8, MaxDepth: 2})
	require.NoError(t, err)
	raw, err := compile(t, `{"type":"object"}`).WithLimits(schema.Limits{MaxBytes: 8, MaxDepth: 2})
	require.NoError(t, err)
	for text, rule := range map[string]string{`{"id":`: fault.RuleSyntax, `{"a":[[]]}`: fault.RuleSize, `{"a": 1, "a": 2}`: fault.RuleSize, "{\"\xff\"": fault.RuleInvalidUTF8} {
		var v order
		form, issues := small.Read(text, &v)
		require.Equal(t, small.Schema().Check([]byte(text)), issues, text)
		assert.Equal(t, rule, issues[0].Rule, text)
		want, _ := canon.JSON([]byte(text))
		assert.Equal(t, want, form, text)
		form, issues = raw.Read(text)
		assert.Equal(t, raw.Check([]byte(text)), issues, text)
		assert.Equal(t, want, form, text)
	}
}

// A text may be deeper than canonical JSON.
func TestReadOfTextTooDeepForAForm(t *testing.T) {
	deep := schema.Limits{MaxBytes: 1 << 20, MaxDepth: 1000}
	typed, err := schema.For[treeish]()
	require.NoError(t, err)
	typed, err = typed.WithLimits(deep)
	require.NoError(t, err)
	raw, err := compile(t, `{}`).WithLimits(deep)
	require.NoError(t, err)
	text := strings.Repeat(`{"value":1,"left":`, 600) + "null" + strings.Repeat("}", 600)
	var v treeish
	form, issues := typed.Read(text, &v)
	assert.Nil(t, form)
	assert.Equal(t, typed.Schema().Check([]byte(text)), issues)
	form, issues = raw.Read(text)
	assert.Nil(t, form)
	assert.Empty(t, issues)
}

// A fault may stand deeper than most documents are.
func TestFaultsOfDeepPlaces(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"$ref":"#"},"n":{"type":"integer"}},"additionalProperties":false,"required":["n"]}`)
	for depth := range 20 {
		for _, leaf := range []string{`{"n":"x"}`, `{"n":1,"m":1}`, `{}`, `{"n":1,"a":{"n":0,"m":[]}}`} {
			doc := []byte(strings.Repeat(`{"n":1,"a":`, depth) + leaf + strings.Repeat("}", depth))
			require.NotEmpty(t, sameVerdict(t, s, doc), depth)
			require.True(t, schema.Explained(s, doc), "%d %s", depth, leaf)
		}
	}
}

// Of the keywords that raw schemas have besides those that types make, programs know these, and say what is wrong by them.
func TestProgramsKnowTheseKeywords(t *testing.T) {
	for text, docs := range map[string][2]string{
		`{"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`:                                                         {`["a",1]`, `["a","b",2]`},
		`{"contains":{"type":"integer"}}`:                                                                                              {`["a",1]`, `["a"]`},
		`{"contains":{"type":"integer"},"minContains":2,"maxContains":3}`:                                                              {`[1,"a",2]`, `[1,2,3,4]`},
		`{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false,"required":["x-a"]}`:                              {`{"x-a":"a"}`, `{"x-a":1,"y":2}`},
		`{"dependentRequired":{"card":["name","code"]},"properties":{"card":{"type":"string"}}}`:                                       {`{"name":"a"}`, `{"card":"1","code":1}`},
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`: {`["a"]`, `["a",1,2]`},
		`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":{"type":"integer"}}`:       {`["a",1,2]`, `["a",1,"b"]`},
		`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"],"c":{"required":["a"]}}}`:                      {`{"a":1,"b":1,"c":1}`, `{"a":1}`},
		`{"dependentSchemas":{"a":{"properties":{"b":{"type":"string"}}}}}`:                                                            {`{"b":1}`, `{"a":1,"b":1}`},
		`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`:                                    {`{"a":1,"b":1}`, `{"a":1,"c":1}`},
		`{"anyOf":[{"required":["a"],"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":{"type":"null"}}`:         {`{"b":1,"c":null}`, `{"a":1,"c":1}`},
		`{"if":{"properties":{"k":{"const":1}}},"then":{"properties":{"a":{}}},"else":{"properties":{"b":{}}},"unevaluatedProperties":false}`: {
			`{"k":1,"a":1}`, `{"k":2,"b":1}`,
		},
		`{"oneOf":[{"prefixItems":[{"const":1}]},{"prefixItems":[{},{"const":1}],"minItems":2}],"contains":{"const":3},"unevaluatedItems":false}`: {`[2,1,3]`, `[1,3,4]`},
		`{"const":"a","enum":["a","b"]}`:                                                                     {`"a"`, `"b"`},
		`{"enum":[0.5,1,18446744073709551615]}`:                                                              {`18446744073709551615`, `18446744073709551614`},
		`{"patternProperties":{"a":{"type":"string"}},"properties":{"a":{"minLength":2}}}`:                   {`{"a":"xy"}`, `{"a":"x"}`},
		`{"anyOf":[{"contains":{"const":1},"prefixItems":[{"type":"array"}]},{"type":"null"}],"maxItems":2}`: {`[[],1]`, `[1,1,1]`},
	} {
		s := compile(t, text)
		require.True(t, schema.HasProgram(s), text)
		assert.Equal(t, "good", schema.Told(s, []byte(docs[0])), text)
		assert.True(t, schema.Explained(s, []byte(docs[1])), text)
		for _, doc := range docs {
			sameVerdict(t, s, []byte(doc))
		}
	}
}

func TestWhatProgramsDoNotKnow(t *testing.T) {
	for _, text := range []string{
		`{"$dynamicRef":"#a","$dynamicAnchor":"a"}`, `{"enum":[{"a":1},2]}`, `{"const":1,"enum":[1.0]}`, `{"dependentSchemas":{"a":{"$ref":"#"}}}`,
	} {
		require.False(t, schema.HasProgram(compile(t, text)), text)
	}
}

// What stands in many branches is read once for each: from so many on, the library alone judges.
func TestTooManyBranchesForAProgram(t *testing.T) {
	branches := func(n int, form string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(form, i)
		}
		return strings.Join(list, ",")
	}
	for _, text := range []string{
		`{"dependentSchemas": {%s}}`, `{"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {%s}}`,
	} {
		assert.True(t, schema.HasProgram(compile(t, fmt.Sprintf(text, branches(64, `"m%d": {"minProperties": 2}`)))))
		assert.False(t, schema.HasProgram(compile(t, fmt.Sprintf(text, branches(65, `"m%d": {"minProperties": 2}`)))))
	}
	for _, left := range []string{"unevaluatedProperties", "unevaluatedItems"} {
		for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
			text := `{"` + left + `": false, "` + keyword + `": [%s]}`
			assert.True(t, schema.HasProgram(compile(t, fmt.Sprintf(text, branches(64, `{"minItems": %d}`)))))
			assert.False(t, schema.HasProgram(compile(t, fmt.Sprintf(text, branches(65, `{"minItems": %d}`)))))
		}
	}
	assert.True(t, schema.HasProgram(compile(t, `{"allOf": [`+branches(65, `{"minItems": %d}`)+`]}`)))
}

// What is left of a value is looked for at each node that speaks of it: so many in one another are the library's.
func TestWhatIsLeftTooDeepForAProgram(t *testing.T) {
	nested := func(depth int) string {
		text := `{"minProperties": 1}`
		for range depth {
			text = `{"allOf": [` + text + `], "unevaluatedProperties": {"type": "integer"}}`
		}
		return text
	}
	assert.True(t, schema.HasProgram(compile(t, nested(16))))
	assert.False(t, schema.HasProgram(compile(t, nested(100))))
	beside := strings.Repeat(nested(2)+",", 40)
	assert.True(t, schema.HasProgram(compile(t, `{"allOf": [`+beside[:len(beside)-1]+`]}`)))
}
