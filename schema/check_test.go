package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

func compile(t testing.TB, doc string) *schema.Schema {
	s, err := schema.Compile([]byte(doc))
	require.NoError(t, err)
	return s
}

func lines(issues []fault.Issue) []string {
	out := []string{}
	for _, i := range issues {
		out = append(out, fmt.Sprintf("%s [%s %s]", i, i.Rule, i.Source))
	}
	return out
}

// told are issues in words.
func told(issues []fault.Issue) (words []string) {
	for _, i := range issues {
		words = append(words, i.String())
	}
	return words
}

func TestStrict(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	cases := map[string]struct{ doc, rule, pointer string }{
		"good":                {`{"a":[1,null,"x"]}`, "", ""},
		"empty":               {``, fault.RuleSyntax, ""},
		"cut_off":             {`{"a":[1,`, fault.RuleSyntax, "/a"},
		"no_json":             {`{"a":x}`, fault.RuleSyntax, "/a"},
		"trailing_comma":      {`[1,]`, fault.RuleSyntax, ""},
		"duplicate":           {`{"a":{"b/c":1,"b/c":2}}`, fault.RuleDuplicateKey, "/a/b~1c"},
		"duplicate_escaped":   {`{"a":1,"\u0061":2}`, fault.RuleDuplicateKey, "/a"},
		"trailing":            {`{} {}`, fault.RuleTrailingData, ""},
		"trailing_garbage":    {`1 x`, fault.RuleTrailingData, ""},
		"not_utf8":            {"{\"a\":\"\xff\"}", fault.RuleInvalidUTF8, ""},
		"lone_surrogate":      {`"\ud800"`, fault.RuleSyntax, ""},
		"as_deep_as_allowed":  {deep(64), "", ""},
		"too_deep":            {deep(65), fault.RuleDepth, strings.Repeat("/0", 64)},
		"far_too_deep":        {deep(400_000), fault.RuleDepth, strings.Repeat("/0", 64)},
		"too_big":             {`"` + strings.Repeat("a", 1<<20) + `"`, fault.RuleSize, ""},
		"huge_exponent":       {`{"a":[1e999999999]}`, fault.RuleSize, "/a/0"},
		"tiny_exponent":       {`1e-999999999`, fault.RuleSize, ""},
		"endless_number":      {strings.Repeat("9", 2000), fault.RuleSize, ""},
		"overflow":            {`1e309`, fault.RuleSize, ""},
		"large_but_ordinary":  {`1e308`, "", ""},
		"first_of_two":        {`{"a":[1e999],"b":[1,}`, fault.RuleSize, "/a/0"},
		"exponent_is_no_word": {`1e`, fault.RuleSyntax, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			issues := schema.Strict([]byte(c.doc), schema.DefaultLimits())
			if c.rule == "" {
				require.Empty(t, issues)
				return
			}
			require.Len(t, issues, 1)
			assert.Equal(t, c.rule, issues[0].Rule)
			assert.Equal(t, c.pointer, issues[0].Pointer)
			assert.Equal(t, fault.FromJSON, issues[0].Source)
		})
	}
}

func TestLimits(t *testing.T) {
	s, err := compile(t, `{}`).WithLimits(schema.Limits{MaxBytes: 4, MaxDepth: 1, MaxValues: 100})
	require.NoError(t, err)
	assert.Empty(t, s.Check([]byte(`[12]`)))
	assert.Equal(t, []string{"(whole): expected at most 4 bytes [size json]"}, lines(s.Check([]byte(`[123]`))))
	assert.Equal(t, []string{"0: expected at most 1 levels of nesting [depth json]"}, lines(s.Check([]byte(`[[]]`))))
	_, err = s.WithLimits(schema.Limits{})
	require.EqualError(t, err, "schema limits: MaxBytes: 0, want 2 to 1073741824\nMaxDepth: 0, want 1 to 1000\nMaxValues: 0, want 1 to 10000000")
}

func TestCheck(t *testing.T) {
	cases := map[string]struct {
		schema, doc string
		want        []string
	}{
		"good":              {`{"type":"object"}`, `{}`, nil},
		"type":              {`{"type":"integer"}`, `"a"`, []string{"(whole): expected integer, got string [type schema]"}},
		"types":             {`{"type":["string","null","array"]}`, `1`, []string{"(whole): expected string, null or array, got integer [type schema]"}},
		"integer_and_float": {`{"type":"integer"}`, `1.5`, []string{"(whole): expected integer, got number [type schema]"}},
		"float_integer":     {`{"type":"integer"}`, `1.0`, nil},
		"exact_integers":    {`{"const":9007199254740993}`, `9007199254740992`, []string{"(whole): expected 9007199254740993, got integer [const schema]"}},
		"exact_decimals":    {`{"multipleOf":0.1}`, `0.3`, nil},
		"whole_multiples":   {`{"items":{"multipleOf":3}}`, `[9,-3,0,3e2,4]`, []string{"4: expected a multiple of 3, got integer [multipleOf schema]"}},
		"multiple":          {`{"multipleOf":0.1}`, `0.35`, []string{"(whole): expected a multiple of 0.1, got number [multipleOf schema]"}},
		"bounds":            {`{"items":{"minimum":1,"exclusiveMaximum":3}}`, `[0,3]`, []string{"0: expected at least 1, got integer [minimum schema]", "1: expected less than 3, got integer [exclusiveMaximum schema]"}},
		"lengths":           {`{"items":{"minLength":2,"maxLength":3}}`, `["ä","äöüß"]`, []string{"0: expected at least 2 characters, got string [minLength schema]", "1: expected at most 3 characters, got string [maxLength schema]"}},
		"one_character":     {`{"minLength":1}`, `""`, []string{"(whole): expected at least 1 character, got string [minLength schema]"}},
		"enum":              {`{"enum":["single","double",1,null]}`, `"x"`, []string{`(whole): expected one of "single", "double", 1, null, got string [enum schema]`}},
		"pattern":           {`{"pattern":"^[a-z]+$"}`, `"A"`, []string{"(whole): expected a string matching ^[a-z]+$, got string [pattern schema]"}},
		"format_is_a_note":  {`{"format":"email"}`, `"x"`, nil},
		"old_format_too":    {`{"$schema":"http://json-schema.org/draft-07/schema#","format":"ipv4"}`, `"x"`, nil},
		"required": {`{"required":["a/b","c"],"properties":{"c":{"type":"string"}}}`, `{}`,
			[]string{"a~1b: required [required schema]", "c: required, expected string [required schema]"}},
		"unknown_members": {`{"properties":{"b":{},"a":{}},"additionalProperties":false}`, `{"x":1,"y":{}}`, []string{
			"x: expected no member of this name (allowed: a, b), got integer [additionalProperties schema]",
			"y: expected no member of this name (allowed: a, b), got object [additionalProperties schema]"}},
		"unevaluated": {`{"allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`,
			[]string{"b: expected no member of this name (allowed: a), got integer [unevaluatedProperties schema]"}},
		"member_names": {`{"properties":{"in":{"propertyNames":{"maxLength":2,"pattern":"^a"}},"z":{"type":"string"}}}`, `{"z":1,"in":{"ab":1,"bcd":1}}`, []string{
			"in/bcd: expected a member name that is at most 2 characters and a string matching ^a [propertyNames schema]",
			"z: expected string, got integer [type schema]"}},
		"dependent":     {`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []string{"b: expected a value, for a is given [dependentRequired schema]"}},
		"items":         {`{"minItems":2,"uniqueItems":true}`, `[1]`, []string{"(whole): expected at least 2 items, got array [minItems schema]"}},
		"unique":        {`{"uniqueItems":true}`, `[{"a":1},{"a":1.0}]`, []string{"(whole): expected items that all differ, got array [uniqueItems schema]"}},
		"prefix":        {`{"prefixItems":[{}],"items":false}`, `[1,2]`, []string{"1: expected no item here, got integer [items schema]"}},
		"not":           {`{"not":{"const":0}}`, `0`, []string{"(whole): expected anything but 0, got integer [not schema]"}},
		"false":         {`{"properties":{"a":false}}`, `{"a":1}`, []string{"a: expected nothing here, got integer [false schema]"}},
		"ref":           {`{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}`, `"a"`, []string{"(whole): expected integer, got string [type schema]"}},
		"any_of_types":  {`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, []string{"(whole): expected string or null, got integer [type schema]"}},
		"any_of_double": {`{"anyOf":[{"allOf":[{"type":"string"},{"type":"string"}]},{"type":"null"}]}`, `1`, []string{"(whole): expected string or null, got integer [type schema]"}},
		"any_of_values": {`{"anyOf":[{"const":""},{"minLength":3}]}`, `"a"`, []string{`(whole): expected "" or at least 3 characters, got string [minLength schema]`}},
		"any_of_objects": {`{"anyOf":[{"type":"null"},{"type":"object","required":["a","b"]}]}`, `{}`,
			[]string{"a: required [required schema]", "b: required [required schema]"}},
		"tagged_union": {`{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}}},{"properties":{"k":{"const":"b"},"n":{"type":"string"},"m":{"type":"string"}}}]}`, `{"k":"b","n":1,"m":2}`, []string{
			"m: expected string, got integer [type schema]",
			"n: expected string, got integer [type schema]"}},
		"unknown_tag": {`{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"integer"}}},{"properties":{"k":{"const":"b"}},"required":["m"]},{"properties":{},"additionalProperties":false}]}`,
			`{"k":"c","n":""}`, []string{`k: expected "a" or "b", got string [const schema]`}},
		"unknown_tag_of_old": {`{"oneOf":[{"properties":{"k":{"enum":["a"]}}},{"properties":{"k":{"const":"b"}}}]}`, `{"k":"c"}`, []string{`k: expected "a" or "b", got string [enum schema]`}},
		"tag_with_enum": {`{"anyOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"},"e":{"enum":[1,2]},"f":{"enum":[3,4]}}}]}`, `{"k":"b","e":3,"f":1}`, []string{
			"e: expected one of 1, 2, got integer [enum schema]", "f: expected one of 3, 4, got integer [enum schema]"}},
		"no_tag": {`{"anyOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}]}`, `{"a":""}`, []string{
			"a: expected integer, got string [type schema]"}},
		"tag_of_two": {`{"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"},"n":{"type":"integer"},"m":{"minimum":2}}},{"properties":{"k":{"const":"b"},"n":{"type":"integer"},"m":{"maximum":0}}}]}`, `{"k":"b","n":"x","m":1}`, []string{
			"(whole): expected a value that fits one of 3 alternatives, got object [oneOf schema]",
			"m: expected at least 2, got integer [minimum schema]", "n: expected integer, got string [type schema]"}},
		"one_fits_right_here": {`{"anyOf":[{"properties":{"a":{"type":"integer"},"b":{"items":{"type":"string"}}}},{"properties":{"a":{"type":"string"},"b":{"items":{"type":"null"}}}}]}`, `{"a":"x","b":[1,2]}`, []string{
			"b/0: expected null, got integer [type schema]", "b/1: expected null, got integer [type schema]"}},
		"several_fit": {`{"oneOf":[{},{"type":"object"}]}`, `{}`, []string{"(whole): expected a value that fits exactly one of the alternatives, got object [oneOf schema]"}},
		"if_then":     {`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, []string{"b: required [required schema]"}},
		"contains":    {`{"contains":{"type":"string"}}`, `[1]`, []string{"(whole): expected at least 1 item like this: string, got array [contains schema]"}},
		"contains_none_may": {`{"contains":{"type":"null"},"minContains":2,"maxContains":0}`, `[null]`, []string{
			"(whole): expected at most 0 items like this: null, got array [maxContains schema]",
			"(whole): expected at least 2 items like this: null, got array [minContains schema]"}},
		"beside_old_ref": {`{"$schema":"http://json-schema.org/draft-07/schema#","items":{"$ref":"#/definitions/n","const":1},"dependencies":{},"definitions":{"n":{"type":"integer"}}}`, `[2]`, nil},
		"echo":           {`{"properties":{"a":{"type":"integer","x-echo":true},"b":{"type":"integer"}}}`, `{"a":"x<y","b":"z"}`, []string{`a: expected integer, got "x<y" [type schema]`, "b: expected integer, got string [type schema]"}},
		"echo_inside":    {`{"properties":{"a":{"$ref":"#/$defs/a","x-echo":true}},"$defs":{"a":{"items":{"type":"integer"}}}}`, `{"a":[true]}`, []string{`a/0: expected integer, got true [type schema]`}},
		"odd_pointers":   {`{"additionalProperties":{"type":"integer"}}`, `{"a/b~c":"","":""}`, []string{": expected integer, got string [type schema]", "a~1b~0c: expected integer, got string [type schema]"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := lines(compile(t, c.schema).Check([]byte(c.doc)))
			assert.Equal(t, append([]string{}, c.want...), got)
		})
	}
}

func TestCheckBoundsWhatItSays(t *testing.T) {
	values := make([]string, 500)
	for n := range values {
		values[n] = fmt.Sprintf("%q", strings.Repeat("ü", 200)+fmt.Sprint(n))
	}
	issues := compile(t, `{"enum":[`+strings.Join(values, ",")+`]}`).Check([]byte(`1`))
	require.Len(t, issues, 1)
	assert.Less(t, len(issues[0].Expected), 500)
	assert.Regexp(t, ` and \d+ more$`, issues[0].Expected)

	s := compile(t, `{"items":{"type":"string"}}`)
	assert.Len(t, s.Check([]byte("["+strings.Repeat("1,", 20_000)+"1]")), 100)

	s = compile(t, `{"x-echo":true,"type":"integer"}`)
	issues = s.Check([]byte(`"` + strings.Repeat("ü", 200) + `"`))
	assert.LessOrEqual(t, len(issues[0].Value), 100)
}

// The issues do not depend on the order of Go maps.
func TestCheckIsTheSameEveryTime(t *testing.T) {
	s := compile(t, `{"additionalProperties":false,"required":["p","q"],"properties":{
		"a":{"anyOf":[{"type":"object","required":["x","y"]},{"type":"object","required":["y","z"]}]},
		"b":{"type":"object","additionalProperties":{"type":"integer","minimum":3}},
		"c":{"type":"array","items":{"oneOf":[{"required":["k"]},{"required":["l"]}]}},
		"d":{"propertyNames":{"maxLength":1},"dependentRequired":{"aa":["r"],"bb":["s"]}}}}`)
	doc := []byte(`{"a":{},"b":{"k":1,"l":"x","m":2,"n":null},"c":[{},{},{}],"d":{"aa":1,"bb":2,"cc":3},"u":1,"v":2,"w":3}`)
	first := s.Check(doc)
	require.Greater(t, len(first), 12)
	for range 200 {
		require.Equal(t, first, s.Check(doc))
	}
}

func TestCompileRefuses(t *testing.T) {
	cases := map[string]struct{ doc, want string }{
		"no_json":       {`{"type":`, "schema: type: expected JSON that is complete"},
		"duplicate":     {`{"type":"object","type":"object"}`, "schema: type: expected each member name once"},
		"unknown_type":  {`{"properties":{"a":{"type":"strin"}}}`, `schema: properties/a/type: expected one of "array", "boolean"`},
		"bad_keyword":   {`{"properties":{"a":{"minLength":"x"}}}`, "schema: properties/a/minLength: expected integer"},
		"remote":        {`{"$ref":"https://example.com/x.json"}`, `schema: refers to "https://example.com/x.json", which is outside of the document: put it under $defs`},
		"file":          {`{"$ref":"other.json"}`, `schema: refers to "other.json", which is outside of the document`},
		"absolute_file": {`{"$ref":"file:///etc/passwd"}`, `which is outside of the document`},
		"bad_pattern":   {`{"properties":{"a":{"pattern":"("}}}`, "schema: properties/a/pattern: expected a regular expression in Go's syntax"},
		"bad_patterns":  {`{"patternProperties":{"(?=x)":{}}}`, "schema: patternProperties/(?=x): expected a member name that is a regular expression in Go's syntax"},
		"same_anchors":  {`{"$defs":{"a":{"$anchor":"x"},"b":{"$defs":{"c":{"$dynamicAnchor":"x"}}}}}`, `schema: two subschemas are named "x": /$defs/a and /$defs/b/$defs/c`},
		"same_ids":      {`{"$defs":{"a":{"$id":"http://a.test/x"},"b":{"$id":"http://a.test/x"}}}`, `schema: two subschemas are named "http://a.test/x": /$defs/a and /$defs/b`},
		"bad_reference": {`{"$ref":":: x"}`, "schema: $ref: expected a URI reference"},
		"bad_value":     {`{"minLength":-1}`, "schema: minLength: expected at least 0"},
		"absent_member": {`{"$schema":"http://json-schema.org/draft-04/schema#","exclusiveMinimum":true}`, "schema: minimum: expected number, for exclusiveMinimum is given"},
		"dangling":      {`{"$ref":"#/$defs/none"}`, "$defs/none"},
		"not_a_schema":  {`[]`, "expected"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Compile([]byte(c.doc))
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "failing loading", "the library's words")
			for range 20 {
				_, again := schema.Compile([]byte(c.doc))
				require.EqualError(t, again, err.Error())
			}
		})
	}
}

func TestSchemaTextKeepsItsOrder(t *testing.T) {
	s := compile(t, "{ \"type\": \"object\",\n \"properties\": {\"z\": {}, \"a\": {}} }")
	assert.Equal(t, `{"type":"object","properties":{"z":{},"a":{}}}`, string(s.JSON()))
	s.JSON()[0] = 'x'
	assert.Equal(t, byte('{'), s.JSON()[0])
}

func FuzzCheck(f *testing.F) {
	s := compile(f, `{"type":"object","additionalProperties":false,"required":["a"],"properties":{
		"a":{"type":"integer","minimum":1,"multipleOf":0.5},"b":{"enum":["x",1.5]},"c":{"type":"array","uniqueItems":true,"items":{"$ref":"#"}},
		"d":{"anyOf":[{"type":"null"},{"type":"string","maxLength":3}],"x-echo":true}}}`)
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":1e2,"b":"y","c":[{"a":0},{"a":0}],"d":"long"}`, `{"a":1e999}`, `[`, `{"a":1,"a":2}`, "\xff", `"\ud800"`, `1 2`, `"\u00e9\/\b\ud83d\ude00"`, "[-0,0.0e-7,1E+2, -]", `"plain text\tand` + "\x1f"} {
		f.Add([]byte(seed))
	}
	f.Add(bytes.Repeat([]byte{'6'}, 301))
	f.Add([]byte("0E-10000000000000000000"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		issues := s.Check(doc)
		require.Equal(t, issues, s.Check(doc))
		require.Equal(t, issues, orNil(fault.SortIssues(issues)))
		strict := schema.Strict(doc, schema.DefaultLimits())
		require.LessOrEqual(t, len(strict), 1)
		if len(strict) > 0 {
			require.Equal(t, strict, issues)
			return
		}
		require.True(t, json.Valid(doc))
	})
}

func orNil(issues []fault.Issue) []fault.Issue {
	if len(issues) == 0 {
		return nil
	}
	return issues
}

func TestWantsSaysWhatTheWholeIs(t *testing.T) {
	for doc, want := range map[string]string{
		`{"type": "object", "properties": {"nights": {}, "city": {}}}`: "an object with the members city, nights",
		`{"type": "object", "properties": {"river": {}}}`:              "an object with the member river",
		`{"type": "array"}`: "array",
		`{"type": "array", "items": {"type": "object", "properties": {"name": {}, "km": {}}}}`: "array of objects (each with the members km, name)",
		`true`: "",
	} {
		s, err := schema.Compile([]byte(doc))
		require.NoError(t, err)
		assert.Equal(t, want, s.Wants())
	}
}

// Only numbers are read as numbers.
func TestNumbers(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "1", "-1.5", "0.1", "1e5", "1E+5", "1.5e-5", "10", "-", "", "01", "-01", "1.", ".5", "1e", "1e+", "1ee5", "1.2.3", "1-2", "1e5.5", "+1", "--1", "0x1", "1e5-", "00",
		"1.5.", "1e--5", "-.5", "1+1",
	} {
		assert.Equal(t, json.Valid([]byte(text)), schema.Strict([]byte(text), schema.DefaultLimits()) == nil, text)
		assert.Equal(t, json.Valid([]byte("["+text+"]")), schema.Strict([]byte("["+text+"]"), schema.DefaultLimits()) == nil, text)
	}
}

// A schema for names that is referred to from elsewhere, too, is asked about each name.
func TestSharedSchemaOfNames(t *testing.T) {
	s := compile(t, `{"properties":{"a":{"$ref":"#/$defs/n"}},"propertyNames":{"$ref":"#/$defs/n"},"$defs":{"n":{"maxLength":2}}}`)
	want := []string{"abc: expected a member name that is at most 2 characters [propertyNames schema]"}
	assert.Equal(t, want, lines(s.Check([]byte(`{"ab":1,"abc":2}`))))
	assert.Equal(t, want, lines(s.Check([]byte(`{"abc":1,"ab":2}`))))
}

// alternatives are schemas joined by commas.
func alternatives(count int, format string) string {
	var all []string
	for n := range count {
		all = append(all, strings.ReplaceAll(format, "N", strconv.Itoa(n)))
	}
	return strings.Join(all, ",")
}

func TestWordsOfRawSchemas(t *testing.T) {
	for _, test := range []struct{ schema, doc, told string }{
		{`{"anyOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"minLength":3}},"required":["b"]}]}`,
			`{"b":"x"}`, "b: expected at least 3 characters, got string [minLength schema]"},
		{`{"oneOf":[` + alternatives(200, `{"type":"object","properties":{"aN":{"type":"integer"}},"required":["aN"]}`) + `]}`,
			`{"a5":"x"}`, "a5: expected integer, got string [type schema]"},
		{`{"anyOf":[` + alternatives(20, `{"required":["aN"]}`) + `]}`, `{}`, "(whole): expected the member a0, the member a1, the member a2, the member a3, " +
			"the member a4, the member a5, the member a6, the member a7, the member a8, the member a9, the member a10, the member a11 or those of another alternative, got object [anyOf schema]"},
		{`{"anyOf":[` + alternatives(20, `{"properties":{"k":{"const":"a long constant N"}},"required":["k"]}`) + `]}`, `{}`, `k: required, expected ` +
			strings.TrimSuffix(strings.ReplaceAll(alternatives(18, `"a long constant N"`), `","`, `", "`), `, "a long constant 18"`) + " or others [required schema]"},
		{`{"properties":{"a":{"allOf":[{"$ref":"#/$defs/b"}],"description":"words"}},"required":["a"],"$defs":{"b":{"type":"string","format":"date"}}}`,
			`{}`, "a: required, expected string (a date as in 2006-01-02) [required schema]"},
		{`{"enum":[]}`, `1`, "(whole): expected nothing here, got integer [enum schema]"},
	} {
		s, err := schema.Compile([]byte(test.schema))
		require.NoError(t, err)
		assert.Equal(t, []string{test.told}, lines(s.Check([]byte(test.doc))))
	}
	for text, told := range map[string]string{
		`{"properties":{"a":{"type":"STRING"}}}`: "(types are written in lower case)", `{"multipleOf":0}`: "multipleOf: expected more than 0",
		`{"$schema":"http://json-schema.org/draft-04/schema#","required":[]}`: "required: expected at least 1 item",
	} {
		_, err := schema.Compile([]byte(text))
		require.ErrorContains(t, err, told)
	}
}

func TestAnAlternativeThatNothingFitsIsNotOffered(t *testing.T) {
	s, err := schema.Compile([]byte(`{"properties":{"a":{"anyOf":[{"anyOf":[{"not":{}},{"type":"string"}]},{"type":"null"}]},
		"b":{"anyOf":[false,{"type":"object","properties":{"c":{"type":"string"}},"required":["c"]}]},"c":{"anyOf":[false,false]}}}`))
	require.NoError(t, err)
	assert.Equal(t, []string{
		"a: expected string or null, got integer [type schema]", "b/c: required, expected string [required schema]",
		"c: expected nothing here, got integer [false schema]",
	}, lines(s.Check([]byte(`{"a":3,"b":{},"c":1}`))))
}

// What JavaScript writes, as zod and pydantic do.
func TestLookaheadsAtTheStartOfAPatternHold(t *testing.T) {
	for pattern, texts := range map[string][2][]string{
		`^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$`: {
			{"a.b@c.org", "_@x.io"}, {".a@b.co", "a..b@c.de", "a@b", ""}},
		`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`:    {{"1", "-0.5", ".5"}, {"", "-", "+.", "1e5"}},
		`^(?=.*[A-Z])(?=.*\d)[^(|)]{4,}$`:   {{"aB3d", "12Ab"}, {"abcd", "AB1", "ABCD", "A1(|)"}},
		`^(?=[)|]?x)(?![[\])]a).+`:          {{")xb", "|x", "x"}, {"b", ""}},
		`^(?![]^])\\?[\u4e00-\u9FA5\x41]+$`: {{"中文", `\A`, "A"}, {"]A", "B", "u4e00", ""}},
		`^(?!a|b).$`:                        {{"c"}, {"a", "b", "cc"}},
	} {
		text, err := json.Marshal(map[string]any{"patternProperties": map[string]bool{pattern: false}, "pattern": pattern})
		require.NoError(t, err)
		s := compile(t, string(text))
		for n, texts := range texts {
			for _, value := range texts {
				doc, err := json.Marshal(value)
				require.NoError(t, err)
				assert.Equal(t, n == 0, s.Check(doc) == nil, "%s: %s", pattern, doc)
				assert.Equal(t, n == 1, s.Check([]byte("{"+string(doc)+":1}")) == nil, "%s: %s", pattern, doc)
			}
		}
	}
	for _, pattern := range []string{
		`a(?!b)`, `^(?!a)b|c`, `^(?!a)*b`, `(?=a)b`, `^(?=a(?!b))`, `^(?!a`, `^(?!a)(b`, `^(?!(a)\1)`, `^(?<!a)b`, `\ud83d`, `(a)\1`, `a{1,1001}`,
	} {
		text, err := json.Marshal(map[string]any{"pattern": pattern})
		require.NoError(t, err)
		_, err = schema.Compile(text)
		assert.EqualError(t, err, "schema: pattern: expected a regular expression in Go's syntax, which has no lookarounds but lookaheads "+
			"right after ^ at its start, no back-references, and repeats at most 1,000 times", pattern)
	}
}

// Of several alternatives for an object that one is meant which knows the members that were sent. A wrong
// value of one of them does not speak for alternatives that have no such member.
func TestTheAlternativeThatKnowsTheMembersIsMeant(t *testing.T) {
	filters := func(closed string) *schema.Schema {
		return compile(t, `{"$ref":"#/$defs/filter","$defs":{"filter":{"anyOf":[
			{"type":"object","properties":{"and":{"type":"array","items":{"$ref":"#/$defs/filter"}}},"required":["and"]`+closed+`},
			{"type":"object","properties":{"not":{"$ref":"#/$defs/filter"}},"required":["not"]`+closed+`},
			{"type":"object","properties":{"field":{"type":"string"},"op":{"enum":["eq","gt"]},"value":{"type":["string","number"]}},
				"required":["field","op","value"]`+closed+`}]}}}`)
	}
	for _, closed := range []string{"", `,"additionalProperties":false`} {
		check := func(doc string) []string { return told(filters(closed).Check([]byte(doc))) }
		assert.Equal(t, []string{`op: expected one of "eq", "gt", got string`}, check(`{"field":"a","op":"like","value":"x"}`), closed)
		assert.Equal(t, []string{
			`and/0/not/op: required, expected one of "eq", "gt"`, `and/0/not/value: required, expected string or number`,
		}, check(`{"and":[{"not":{"field":"a"}}]}`), closed)
	}
	named := compile(t, `{"anyOf":[{"properties":{"tool":{"type":"string"},"args":{"type":"object"}},"required":["tool"]},
		{"additionalProperties":{"type":"string"}}]}`)
	assert.Equal(t, []string{"tool: required, expected string"}, told(named.Check([]byte(`{"Tool":"x","args":{}}`))), "any member is none that is known")
	mark := compile(t, `{"anyOf":[{"enum":["bar","line"]},{"type":"object","properties":{"type":{"enum":["bar","line"]},"size":{"type":"integer"}},
		"required":["type"]}]}`)
	assert.Equal(t, []string{`size: expected integer, got string`, `type: expected one of "bar", "line", got string`},
		told(mark.Check([]byte(`{"type":"pie","size":"big"}`))), "a list of strings is for no object")
	assert.Equal(t, []string{`(whole): expected one of "bar", "line" or object (members: size, type), got string`}, told(mark.Check([]byte(`"pie"`))))
}

// Of alternatives that each require a member of their own, several fit where several of these were sent.
func TestWhereSeveralAlternativesFitTheMembersThatTellThemApartAreNamed(t *testing.T) {
	parent := compile(t, `{"oneOf":[
		{"type":"object","properties":{"type":{"type":"string"},"page_id":{"type":"string"}},"required":["type","page_id"]},
		{"type":"object","properties":{"type":{"type":"string"},"database_id":{"type":"string"}},"required":["type","database_id"]}]}`)
	assert.Equal(t, []string{"(whole): expected only one of the members page_id, database_id, got object"},
		told(parent.Check([]byte(`{"type":"x","page_id":"a","database_id":"b"}`))))
	shape := compile(t, `{"oneOf":[{"$ref":"#/$defs/circle"},{"$ref":"#/$defs/rect"}],"$defs":{
		"circle":{"type":"object","properties":{"r":{"type":"number"}},"required":["r"]},"rect":{"type":"object","required":["w"]}}}`)
	assert.Equal(t, []string{"(whole): expected only one of the members r, w, got object"}, told(shape.Check([]byte(`{"r":1,"w":2}`))))
	pairs := compile(t, `{"oneOf":[{"required":["line","column"]},{"required":["offset"]},{"required":["file","offset_end","unit"]}]}`)
	assert.Equal(t, []string{"(whole): expected either the members line and column, the member offset or the members file, offset_end and unit, got object"},
		told(pairs.Check([]byte(`{"line":1,"column":2,"offset":3}`))))
	number := compile(t, `{"oneOf":[{"type":"integer"},{"type":"number","required":["a"]},{"required":["b"]}]}`)
	assert.Equal(t, []string{"(whole): expected a value that fits exactly one of the alternatives, got integer"}, told(number.Check([]byte(`1`))))
}

// A condition on a member that is missing holds either way. Where that member is required, nothing is told
// that hangs on what it will be.
func TestWhatHangsOnAMissingMemberIsNotTold(t *testing.T) {
	zip := compile(t, `{"required":["country"],"properties":{"country":{"enum":["US","CA"]},"zip":{"type":"string"}},"allOf":[
		{"if":{"properties":{"country":{"const":"US"}}},"then":{"properties":{"zip":{"pattern":"^[0-9]{5}$"}}}},
		{"if":{"properties":{"country":{"const":"CA"}}},"then":{"properties":{"zip":{"pattern":"^[A-Z]"}},"required":["zip"]}}]}`)
	assert.Equal(t, []string{`country: required, expected one of "US", "CA"`}, told(zip.Check([]byte(`{"zip":"x"}`))))
	assert.Equal(t, []string{`country: required, expected one of "US", "CA"`}, told(zip.Check([]byte(`{}`))))
	assert.Equal(t, []string{"zip: expected a string matching ^[A-Z], got string"}, told(zip.Check([]byte(`{"country":"CA","zip":"1"}`))))
	kind := compile(t, `{"required":["kind"],"properties":{"kind":{"title":"Kind"}},"if":{"properties":{"kind":{"const":"a"}},"required":["kind"]},
		"then":{"required":["x"]},"else":{"required":["y"],"properties":{"x":false}}}`)
	assert.Equal(t, []string{"kind: required"}, told(kind.Check([]byte(`{"x":1}`))))
	closed := compile(t, `{"required":["kind"],"properties":{"kind":{"enum":["a","b"]}},"unevaluatedProperties":false,
		"allOf":[{"if":{"properties":{"kind":{"const":"a"}}},"then":{"properties":{"x":{"type":"integer"}}}}]}`)
	assert.Equal(t, []string{`kind: required, expected one of "a", "b"`, "z: expected no member of this name (allowed: kind, x), got integer"},
		told(closed.Check([]byte(`{"x":1,"z":1}`))))
	optional := compile(t, `{"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"]}}`)
	assert.Equal(t, []string{"x: required"}, told(optional.Check([]byte(`{}`))), "no one asks for kind")
	either := compile(t, `{"anyOf":[{"required":["kind"],"$ref":"#/$defs/c"},{"$ref":"#/$defs/c"}],
		"$defs":{"c":{"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"]}}}}`)
	assert.NotEmpty(t, either.Check([]byte(`{}`)), "the second alternative asks for no kind")
	assert.Empty(t, either.Check([]byte(`{"x":1}`)))
}

// A list of the members that are allowed has none that no value fits, and the patterns of the others.
func TestMembersThatAreAllowed(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"a":{"type":"string"},"b":false,"c":{"not":{}}},"additionalProperties":false}`:             "yelow: expected no member of this name (allowed: a), got integer",
		`{"properties":{"a":{},"yellow":{}},"patternProperties":{"^x-":{},"^d ":{}},"additionalProperties":false}`: "yelow: expected no member of this name (allowed: yellow (the nearest name), a, names matching \"^d \", ^x-), got integer",
		`{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`:                             "yelow: expected no member of this name (allowed: names matching ^x-), got integer",
		`{"properties":{"a":{},"b":false},"unevaluatedProperties":false}`:                                          "yelow: expected no member of this name (allowed: a), got integer",
	} {
		assert.Equal(t, []string{want}, told(compile(t, schema).Check([]byte(`{"yelow":1}`))))
	}
	object := compile(t, `{"type":"object","properties":{"a":{},"b":{"not":{}}}}`)
	assert.Equal(t, []string{"(whole): expected object (member: a), got integer"}, told(object.Check([]byte(`1`))))
}

// A missing member is described by the schemas of the whole object, too, if they agree.
func TestAMissingMemberIsDescribedByTheSchemasAround(t *testing.T) {
	for schema, want := range map[string]string{
		`{"properties":{"x":{"type":"integer"}},"allOf":[{"$ref":"#/$defs/c"}]}`:                                        "x: required, expected integer",
		`{"allOf":[{"properties":{"x":{"type":"integer"}}},{"$ref":"#/$defs/c"}]}`:                                      "x: required, expected integer",
		`{"anyOf":[{"properties":{"x":{"type":"integer"}}},{"properties":{"x":{"type":"string"}}}],"$ref":"#/$defs/c"}`: "x: required",
	} {
		s := compile(t, strings.TrimSuffix(schema, "}")+`,"$defs":{"c":{"required":["x"]}}}`)
		assert.Equal(t, []string{want}, told(s.Check([]byte(`{}`))))
	}
}

// What an item is to be like says the values of its members.
func TestAnItemThatIsWantedIsDescribed(t *testing.T) {
	for contains, want := range map[string]string{
		`{"type":"object","properties":{"kind":{"const":"primary"},"n":{}},"required":["kind"]}`: `at least 1 item like this: object (members: kind, n) with kind "primary"`,
		`{"properties":{"kind":{"enum":["a","b"]},"role":{"const":1}}}`:                          `at least 1 item like this: object (members: kind, role) with kind one of "a", "b", role 1`,
		`{"const":"admin"}`: `at least 1 item like this: "admin"`,
		`{"not":{}}`:        "an item as the schema's contains describes it",
	} {
		assert.Equal(t, []string{"(whole): expected " + want + ", got array"}, told(compile(t, `{"contains":`+contains+`}`).Check([]byte(`[{"kind":"x","role":2}]`))))
	}
}
