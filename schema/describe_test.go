package schema_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/retake-go/retake/fault"
	"github.com/retake-go/retake/schema"
)

// The issue of a wrong type says the plain constraints of its schema, and so does that of a missing member.
func TestDescriptions(t *testing.T) {
	long := strings.Repeat("x", 100)
	cases := map[string]struct{ node, want string }{
		"values_hide_the_type":   {`{"type":"string","enum":["a","b"]}`, `one of "a", "b"`},
		"constant":               {`{"type":"string","const":"a"}`, `"a"`},
		"bounds":                 {`{"type":"integer","minimum":1,"maximum":30}`, "integer (at least 1, at most 30)"},
		"wide_bounds":            {`{"type":"integer","minimum":-9223372036854775808,"maximum":9}`, "integer (at most 9)"},
		"format":                 {`{"type":"string","format":"date"}`, "string (a date as in 2006-01-02)"},
		"pattern":                {`{"type":"string","pattern":"^[A-Z]{2}$"}`, "string (matching ^[A-Z]{2}$)"},
		"long_pattern_of_a_name": {`{"type":"string","pattern":"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"}`, "string (a UUID)"},
		"long_pattern":           {`{"type":"string","pattern":"` + long + `"}`, "string"},
		"constraint_of_no_type":  {`{"type":"string","minimum":1}`, "string"},
		"several_types":          {`{"type":["integer","null"],"minimum":1}`, "integer or null (at least 1)"},
		"list":                   {`{"type":"array","items":{"type":"string"}}`, "array of strings"},
		"list_of_lists":          {`{"type":"array","items":{"type":"array","items":{"type":["number","null"]}}}`, "array of arrays of numbers or nulls"},
		"counts_from_none":       {`{"type":["string","array"],"minLength":0,"maxLength":9,"minItems":0}`, "string or array (at most 9 characters)"},
		"exactly_none":           {`{"type":"string","minLength":0,"maxLength":0}`, "string (exactly 0 characters)"},
		"list_of_values":         {`{"type":"array","minItems":1,"items":{"type":"string","enum":["a","b"]}}`, `array of strings (at least 1 item, each one of "a", "b")`},
		"list_of_objects":        {`{"type":"array","items":{"type":"object","properties":{"b":{},"a":{}}}}`, "array of objects (each with the members a, b)"},
		"list_of_anything":       {`{"type":"array","items":{}}`, "array"},
		"tuple":                  {`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, "array"},
		"list_by_reference":      {`{"type":"array","items":{"$ref":"#/$defs/n"}}`, "array of integers"},
		"list_of_itself":         {`{"$ref":"#/$defs/self"}`, "array of arrays of arrays of arrays"},
		"object":                 {`{"type":"object","properties":{"b":{},"a":{}}}`, "object (members: a, b)"},
		"object_of_one":          {`{"type":"object","properties":{"a":{}}}`, "object (member: a)"},
		"object_of_long_names":   {`{"type":"object","properties":{"` + long + `":{},"` + long + `y":{}}}`, "object"},
		"map":                    {`{"type":"object","additionalProperties":{"type":"string"}}`, "object"},
		"either":                 {`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}`, "array of strings or null"},
		"by_reference":           {`{"$ref":"#/$defs/n"}`, "integer (at least 1)"},
		"constraints_in_all_of":  {`{"type":"string","allOf":[{"minLength":2}]}`, "string (at least 2 characters)"},
		"by_anchor":              {`{"$ref":"#whole"}`, "integer (at least 1)"},
		"reference_in_no_circle": {`{"type":"array","items":{"$ref":"#/$defs/loop"}}`, "array"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			defs := `"$defs":{"n":{"$anchor":"whole","type":"integer","minimum":1},"self":{"type":"array","items":{"$ref":"#/$defs/self"}},"loop":{"anyOf":[{"type":"string"},{"$ref":"#/$defs/n"}]}}`
			s := compile(t, `{"required":["v"],"properties":{"v":`+c.node+`},`+defs+`}`)
			assert.Equal(t, []fault.Issue{{Pointer: "/v", Rule: "required", Expected: c.want, Source: fault.FromSchema}}, s.Check([]byte(`{}`)))
			assert.Equal(t, []fault.Issue{{Pointer: "/v", Rule: "type", Expected: c.want, Got: fault.Boolean, Source: fault.FromSchema}}, s.Check([]byte(`{"v":true}`)))
		})
	}
}

func TestDescriptionsOfGoTypes(t *testing.T) {
	type guest struct {
		Born time.Time `json:"born,omitzero"`
		Size float32   `json:"size"`
		Seat uint8     `json:"seat"`
		Logo []byte    `json:"logo,omitempty"`
		Page int       `json:"page" validate:"omitempty,min=1"`
	}
	typed, err := schema.For[guest]()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"born: expected string (a date and time as in 2006-01-02T15:04:05Z), or leave it out, got null [type schema]",
		"logo: expected string (a base64 string), got integer [type schema]",
		"page: expected integer, or leave it out, got null [type schema]",
		"seat: expected integer (at least 0, at most 255), got boolean [type schema]",
		"size: expected number, got boolean [type schema]",
	}, lines(typed.Schema().Check([]byte(`{"born":null,"size":true,"seat":true,"logo":1,"page":null}`))))
	assert.Equal(t, []string{"size: expected a number from -3.4e38 to 3.4e38, got integer [format schema]"},
		lines(typed.Schema().Check([]byte(`{"born":"2006-01-02T15:04:05Z","size":1e39,"seat":1}`))))
}

// An issue says that a member may be left out, if nothing requires it and it may not be null.
func TestMembersThatMayBeLeftOut(t *testing.T) {
	cases := map[string]struct {
		schema, doc string
		may         bool
	}{
		"optional":               {`{"properties":{"a":{"type":"string"}}}`, `{"a":null}`, true},
		"whatever_was_received":  {`{"properties":{"a":{"type":"string"}}}`, `{"a":1}`, true},
		"required":               {`{"required":["a"],"properties":{"a":{"type":"string"}}}`, `{"a":null}`, false},
		"required_elsewhere":     {`{"allOf":[{"required":["a"]}],"properties":{"a":{"type":"string"}}}`, `{"a":null}`, false},
		"required_at_times":      {`{"if":{"required":["b"]},"then":{"required":["a"]},"properties":{"a":{"type":"string"}}}`, `{"a":null}`, false},
		"required_by_another":    {`{"dependentRequired":{"b":["a"]},"properties":{"a":{"type":"string"}}}`, `{"a":null}`, false},
		"counted":                {`{"minProperties":1,"properties":{"a":{"type":"string"}}}`, `{"a":null}`, false},
		"null_is_allowed":        {`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, false},
		"values":                 {`{"properties":{"a":{"enum":["x","y"]}}}`, `{"a":null}`, true},
		"alternatives":           {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"array","items":{}}]}}}`, `{"a":null}`, true},
		"alternatives_with_null": {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":1}`, false},
		"by_reference":           {`{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"a":{"$ref":"#/$defs/s"}}},"s":{"type":"string"}}}`, `{"a":null}`, true},
		"in_a_list":              {`{"items":{"properties":{"a":{"type":"string"}}}}`, `[{"a":null}]`, true},
		"item":                   {`{"items":{"type":"string"}}`, `[null]`, false},
		"whole":                  {`{"type":"string"}`, `null`, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			issues := compile(t, c.schema).Check([]byte(c.doc))
			require.Len(t, issues, 1)
			assert.Equal(t, c.may, issues[0].Optional, issues[0].Expected)
		})
	}
}

// A member that is left out as the issue says has no issue any more. Expected does not depend on the received
// value.
func TestLeavingOutHelps(t *testing.T) {
	node := rapid.SampledFrom([]string{`{"type":"string"}`, `{"type":["string","null"]}`, `{"enum":["x",1]}`, `{"$ref":"#/$defs/n"}`,
		`{"anyOf":[{"type":"string"},{"type":"integer","minimum":3}]}`, `{"oneOf":[{"const":"x"},{"type":"null"}]}`})
	extra := rapid.SampledFrom([]string{`"required":["a"]`, `"required":["b"]`, `"allOf":[{"required":["c"]}]`, `"dependentRequired":{"b":["a"]}`,
		`"minProperties":2`, `"anyOf":[{"required":["a"]},{"required":["b"]}]`, `"if":{"required":["b"]},"then":{"required":["c"]}`,
		`"dependentSchemas":{"a":{"required":["b"]}}`, `"additionalProperties":false`})
	value := rapid.SampledFrom([]string{"null", "1", `"x"`, "true", "[]"})
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]json.RawMessage{}
		var members []string
		for _, name := range []string{"a", "b", "c"} {
			members = append(members, `"`+name+`":`+node.Draw(t, name))
			if rapid.Bool().Draw(t, "given") {
				doc[name] = json.RawMessage(value.Draw(t, "value"))
			}
		}
		s, err := schema.Compile([]byte(`{"properties":{` + strings.Join(members, ",") + `},"$defs":{"n":{"type":"integer"}},` + extra.Draw(t, "extra") + `}`))
		if err != nil {
			t.Fatal(err)
		}
		issues := s.Check(marshal(t, doc))
		for _, i := range issues {
			if !i.Optional {
				continue
			}
			less := map[string]json.RawMessage{}
			for name, v := range doc {
				if "/"+name != i.Pointer {
					less[name] = v
				}
			}
			for _, left := range s.Check(marshal(t, less)) {
				if left.Pointer == i.Pointer || left.Pointer == "" && !slices.Contains(issues, left) {
					t.Fatalf("%s: without %s: %v", s.JSON(), i.Pointer, left)
				}
			}
		}
	})
}

func marshal(t *rapid.T, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The issue of a text that is not JSON names the mistake.
func TestSyntaxNamesTheSlip(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a":{"b":'x'}}`: "a/b: expected double quotes around strings and names [syntax json]",
		`{"a":True}`:      "a: expected true, false or null instead of Python's words [syntax json]",
		`{"a":1,}`:        "(whole): expected no comma after the last member or item [syntax json]",
		`{"a":[1,`:        "a: expected JSON that is complete [syntax json]",
		`{{"a":1,}}`:      "(whole): expected a name in double quotes before each value of an object [syntax json]",
		``:                "(whole): expected JSON that is complete [syntax json]",
		"```\n{}\n```":    "(whole): expected the JSON alone, without text before or after it [syntax json]",
	} {
		assert.Equal(t, []string{want}, lines(schema.Strict([]byte(doc), schema.DefaultLimits())))
	}
}
